"""One way to every data set: by its name, or the path of a file of one's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.records import Classification, Language, Series
from stablessm.data.registry import DataError

_LOADERS = {  # format of the files -> where its loader is
    "idx": "images:load_image_sequences",
    "cifar_binary": "images:load_image_sequences",
    "cifar_parquet": "images:load_image_sequences",
    "text": "text:load_text",
    "brown": "text:load_text",
    "mails": "mails:load_mails",
    "ts": "series_ts:load_ts",
    "wav": "recordings:load_recordings",
}
_OF_FILES = {".txt": "text:load_text", ".csv": "series_csv:load_csv", ".ts": "series_ts:load_ts"}
_WITHOUT_FILES = {"digits": "images:load_image_sequences", "recall": "recall:load_recall"}


def load(name: str | Path, folder: str | Path | None = None, **options: Any) -> Classification | Language | Series:
    """Load a data set, ready to take batches of.

    Args:
        name: key of `DATA_SETS`, or the path of a .txt, .csv or .ts file.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        options: those of the loader: `sequence`, `pool` of images, `tokenizer` of texts, `length` of recall, `form` of
            recordings, `validation` and `seed` of what has classes, and so on.

    Raises:
        DataError: an unknown set or option, missing, damaged or foreign files, or an option out of range.
    """
    name = str(name)
    loader = _loader(name)
    legal = inspect.signature(loader).parameters
    for option in options:
        if option not in legal or option in ("name", "folder"):
            names = ", ".join(one for one in legal if one not in ("name", "folder")) or "none"
            raise DataError(f"{name!r} has no option {option!r}; its options are: {names}")
    return loader(**options) if name == "recall" else loader(name, folder, **options)


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
