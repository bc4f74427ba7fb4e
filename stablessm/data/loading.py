"""One way to every data set: by its name, or the path of a file of one's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.continued import asks_next, continued
from stablessm.data.generated import ATOMIC
from stablessm.data.records import Answers, Classification, Language, Sequences, Series
from stablessm.data.registry import DataError

_LOADERS = {  # format of the files -> where its loader is
    "idx": "images:load_image_sequences",
    "cifar_binary": "images:load_image_sequences",
    "cifar_parquet": "images:load_image_sequences",
    "cifar100_binary": "images:load_image_sequences",
    "quickdraw": "drawings:load_drawings",
    "imdb": "reviews:load_reviews",
    "listops": "list_operations:load_list_operations",
    "speech_commands": "spoken_words:load_spoken_words",
    "text": "text:load_text",
    "brown": "text:load_text",
    "mails": "mails:load_mails",
    "ts": "series_ts:load_ts",
    "wav": "recordings:load_recordings",
}
_OF_FILES = {".txt": "text:load_text", ".csv": "series_csv:load_csv", ".ts": "series_ts:load_ts"}
_WITHOUT_FILES = {"digits": "images:load_image_sequences", "recall": "recall:load_recall"} | dict.fromkeys(
    ATOMIC, "atomic:load_atomic"
)


def load(
    name: str | Path, folder: str | Path | None = None, **options: Any
) -> Classification | Sequences | Answers | Language | Series:
    """Load a data set, ready to take batches of.

    Args:
        name: key of `DATA_SETS`, or the path of a .txt, .csv or .ts file.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        options: those of the loader: `sequence`, `pool` of images, `tokenizer` of texts, `length` of what is generated,
            `form` of recordings, `validation` and `seed` of what has classes, and so on; and `ask` of images and
            recordings: "class", or "next" for rows of tokens that are asked what comes next.

    Raises:
        DataError: an unknown set or option, missing, damaged or foreign files, or an option out of range.
    """
    name = str(name)
    loader = _loader(name)
    continues = name in DATA_SETS and DATA_SETS[name].kind in ("images", "audio")
    parameters = inspect.signature(loader).parameters
    legal = [one for one in parameters if one not in ("name", "folder")]
    legal += ["ask"] * continues
    for option, value in options.items():
        if option not in legal:
            raise DataError(f"{name!r} has no option {option!r}; its options are: {', '.join(legal) or 'none'}")
        if option in parameters:
            _refuse_no_number(option, value, set(str(parameters[option].annotation).split(" | ")))
    next_ = continues and asks_next(options.pop("ask", "class"))
    record = loader(**options) if name == "recall" else loader(name, folder, **options)
    return continued(record, _shape(name, options.get("pool", 1))) if next_ else record


def _refuse_no_number(option: str, value: object, kinds: set[str]) -> None:
    """Refuse what is no number, or no integer, where the loader's annotation says numbers or integers alone."""
    if not kinds <= {"int", "float", "None"} or (value is None and "None" in kinds):
        return
    numbers = int | np.integer | float | np.floating if "float" in kinds else int | np.integer
    if not isinstance(value, numbers) or isinstance(value, bool):
        raise DataError(f"`{option}` must be {'a number' if 'float' in kinds else 'an integer'}, but got {value!r}")


def _shape(name: str, pool: int) -> tuple[int, ...]:
    """Rows, columns and channels of the images of a set; of recordings nothing."""
    known = DATA_SETS[name]
    if known.kind == "audio":
        return ()
    rows, columns, *rest = known.shape or (8, 8)
    return rows // pool, columns // pool, *rest


def _loader(name: str) -> Callable[..., Any]:
    known = DATA_SETS.get(name)
    if known is not None:
        home = _LOADERS[known.layouts[0].format] if known.layouts else _WITHOUT_FILES[name]
    elif Path(name).suffix.lower() in _OF_FILES:
        home = _OF_FILES[Path(name).suffix.lower()]
    else:
        from difflib import get_close_matches

        near = get_close_matches(name, DATA_SETS, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise DataError(
            f"there is no data set {name!r}{hint}; give one of {', '.join(DATA_SETS)}, or the path of a "
            f"{', '.join(_OF_FILES)} file"
        )
    module, function = home.split(":")
    return getattr(import_module(f"stablessm.data.{module}"), function)
