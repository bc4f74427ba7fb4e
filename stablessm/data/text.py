"""Texts as characters or trained tokens, split in the order they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, Source, contents, read
from stablessm.data.places import find
from stablessm.data.records import Language
from stablessm.data.registry import DataError
from stablessm.data.splits import in_order

UNKNOWN = "\ufffd".encode()
HELD_OUT = ("end", "each")


def load_text(
    name: str | Path,
    folder: str | Path | None = None,
    *,
    tokenizer: int = 0,
    validation: float = 0.05,
    test: float = 0.1,
    held_out: str = "end",
) -> Language:
    """Load a text; the files of a set follow each other in the order of their names.

    Held out at the "end" are the last files, so that a model is asked about texts it has seen nothing of; of "each"
    file its end, so that it knows their names and subjects: an easier question.

    The vocabulary, of characters or of trained tokens, is that of the training part. A character that only later parts
    hold is token 0.

    Args:
        name: key of `DATA_SETS` that is a text, or the path of a .txt file in UTF-8.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        tokenizer: size of the vocabulary of a tokenizer trained on the training part; 0 for characters.
        validation: share of the text, before the test part.
        test: share of the text, its end.
        held_out: "end" of all, or of "each" file.

    Raises:
        DataError: an unknown set, missing or damaged files, a text that is empty or not UTF-8, shares or a size out of
            range, or tokenizers is not installed.
    """
    if held_out not in HELD_OUT:
        raise DataError(f"`held_out` must be one of {', '.join(HELD_OUT)}, but got {held_out!r}")
    texts, source = _texts(name, folder)
    texts = texts if held_out == "each" else ["".join(texts)]
    split = [[text[part] for part in in_order(len(text), validation=validation, test=test)] for text in texts]
    parts = ["".join(part) for part in zip(*split, strict=True)]
    characters = tuple(map(len, parts))
    if tokenizer:
        from stablessm.data.tokens import encoded, trained

        made = trained(parts[0], tokenizer)
        numbers = [encoded(made.json, part) for part in parts]
        return Language(str(name), *numbers, made.vocabulary, characters, source, made.json)
    vocabulary = sorted(set(parts[0]))
    return Language(
        str(name),
        *(_numbers(part, vocabulary) for part in parts),
        (UNKNOWN, *(one.encode() for one in vocabulary)),
        characters,
        source,
    )


def _texts(name: str | Path, folder: str | Path | None) -> tuple[list[str], Source]:
    if str(name) in DATA_SETS and (known := DATA_SETS[str(name)]).layouts and known.layouts[0].format in _FORMATS:
        found = find(known, folder)
        parts, source = contents(known, found)
        return texts_of(parts[0], _FORMATS[found.layout.format]), source
    path = Path(name)
    if path.suffix.lower() != ".txt":
        texts = [one.name for one in DATA_SETS.values() if one.layouts and one.layouts[0].format in _FORMATS]
        raise DataError(f"there is no text {str(name)!r}; give the path of a .txt file, or one of {', '.join(texts)}")
    content = read(path)
    source = Source(str(path), hashlib.sha256(content).hexdigest(), None)
    return texts_of([File(path, content)], _plain), source


def texts_of(files: Sequence[File], words: Callable[[str], str]) -> list[str]:
    """Return the texts of files, their lines ended by newline characters alone.

    Args:
        files: in UTF-8.
        words: content of a file -> its text.

    Raises:
        DataError: a file that is empty or not UTF-8.
    """
    texts = []
    for path, content in files:
        try:
            text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            raise DataError(f"'{path}' should be text in UTF-8, but byte {error.start} is not") from None
        if not text.strip():
            raise DataError(f"the text '{path}' is empty")
        if "\0" in text:
            raise DataError(f"'{path}' should be text, but holds bytes of zero")
        texts.append(words(text))
    return [one if one.endswith("\n") else one + "\n" for one in texts]


def _plain(text: str) -> str:
    return text


def _untagged(text: str) -> str:
    """Take the tags off: words stand as word/tag, a sentence a line."""
    lines = (" ".join(one.rpartition("/")[0] or one for one in line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


_FORMATS: dict[str, Callable[[str], str]] = {"text": _plain, "brown": _untagged}


def _numbers(text: str, vocabulary: Sequence[str]) -> np.ndarray:
    """Return 1 + the place of each character in the vocabulary, 0 for what is not in it."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    known = np.array([ord(one) for one in vocabulary], np.uint32)
    place = np.minimum(np.searchsorted(known, points), len(known) - 1)
    return np.where(known[place] == points, place + 1, 0).astype(np.int32)
