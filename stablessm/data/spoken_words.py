"""The ten digits of Speech Commands: a folder of wav files for each word, and lists that say which are held out."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, contents
from stablessm.data.images import check_classes
from stablessm.data.mu_law import LEVELS, mu_law
from stablessm.data.places import find
from stablessm.data.recordings import Form, read_wav
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError

RATE = 16_000  # samples a second


def load_spoken_words(
    name: str, folder: str | Path | None = None, *, form: Form = "values", longest: int = RATE, every: int = 1
) -> Classification:
    """Load the spoken digits with their official splits, which the two lists name.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        form: "values" in [-1, 1), one feature a step; or "mu_law", tokens of 256 levels.
        longest: samples of a recording; a longer one is cut there.
        every: take the mean of so many samples for one step.

    Raises:
        DataError: missing, damaged or foreign files, another rate or width, a list that names nothing that is there, a
            digit without training rows, or an option out of range.
    """
    if form not in get_args(Form):
        raise DataError(f"`form` must be one of {', '.join(get_args(Form))}, but got {form!r}")
    if not 1 <= longest <= 2**20 or not 1 <= every <= longest:
        raise DataError(f"`longest` must lie from 1 to {2**20} and `every` from 1 to it, but got {longest} and {every}")
    known = DATA_SETS[name]
    (*words, validation, test), source = contents(known, find(known, folder))
    files = [(digit, file) for digit, part in enumerate(words) for file in part]
    sounds = [_steps(read_wav(*file, RATE)[:longest], every) for _, file in files]
    labels = np.array([digit for digit, _ in files], np.int32)
    named = np.array([f"{file.path.parent.name}/{file.path.name}" for _, file in files])
    held, tested = (np.isin(named, _listed(part[0])) for part in (validation, test))
    for rows, part in ((held, validation), (tested, test)):
        if not rows.any():
            raise DataError(f"'{part[0].path}' names none of the recordings in '{source.place}'")
    check_classes(known, labels[~held & ~tested])
    lengths = np.array(list(map(len, sounds)), np.int32)
    inputs = np.zeros((len(sounds), int(lengths.max())), np.float32)
    for row, sound in enumerate(sounds):
        inputs[row, : len(sound)] = sound
    shaped = mu_law(inputs).astype(np.int32) if form == "mu_law" else inputs[..., None]
    splits = (Examples(shaped[rows], labels[rows], lengths[rows]) for rows in (~held & ~tested, held & ~tested, tested))
    return Classification(name, *splits, known.labels, source, tokens=LEVELS if form == "mu_law" else 0)


def _listed(file: File) -> list[str]:
    """The recordings that a list names, WORD/NAME.wav each."""
    return file.content.decode(errors="replace").split()


def _steps(sound: np.ndarray, every: int) -> np.ndarray:
    """Means of some samples each, the last of what is left."""
    if every == 1:
        return sound
    starts = np.arange(0, len(sound), every)
    return (np.add.reduceat(sound, starts) / np.diff(np.append(starts, len(sound)))).astype(np.float32)
