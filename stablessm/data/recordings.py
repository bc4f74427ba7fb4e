"""Labelled recordings: wav files named {digit}_{speaker}_{index}.wav, in a folder or an archive."""

from __future__ import annotations

import io
import re
import wave
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, contents
from stablessm.data.images import check_classes
from stablessm.data.mu_law import LEVELS, mu_law
from stablessm.data.places import find
from stablessm.data.played import played
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.data.splits import held_out

RATE = 8000  # samples a second
_TEST_INDICES = range(5)  # the official split: of each digit and speaker the first five recordings
_NAME = re.compile(r"(\d)_([a-z]+)_(\d+)\.wav")

Form = Literal["values", "mu_law"]


def load_recordings(
    name: str,
    folder: str | Path | None = None,
    *,
    form: Form = "values",
    longest: int = RATE,
    trim: float = 0.0,
    scaled: bool = False,
    shift: int = 0,
    speed: float = 0.0,
    validation: float = 0.1,
    seed: int = 0,
) -> Classification:
    """Load recordings with their official split: the first five of each digit and speaker are test rows.

    They are trimmed first, then cut, then scaled. Training rows alone are shifted and played at other speeds.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        form: "values" in [-1, 1), one feature a step; or "mu_law", tokens of 256 levels. Silence is 0 or its level.
        longest: samples of a row; a longer recording is cut there.
        trim: level as a share of the loudest sample: what is quieter before the first and behind the last sample above
            it is silence, and cut; 0 for none.
        scaled: whether each recording is divided by its loudest sample, so that its values reach 1.
        shift: samples by which a training recording begins later at most, anew each time it is seen.
        speed: by how much a training recording is played faster or slower at most, likewise (see `played`).
        validation: share of the other rows that is held out.
        seed: of the validation split.

    Raises:
        DataError: missing, damaged or foreign files, another rate or width, names without a digit, a digit without
            training rows, or an option out of range.
    """
    if form not in get_args(Form):
        raise DataError(f"`form` must be one of {', '.join(get_args(Form))}, but got {form!r}")
    if not 1 <= longest <= 2**20:
        raise DataError(f"`longest` must lie from 1 to {2**20}, but got {longest}")
    if not isinstance(trim, Real) or not 0 <= trim < 1:
        raise DataError(f"`trim` must be a share of the loudest sample, in [0, 1), but got {trim!r}")
    if not isinstance(scaled, bool):
        raise DataError(f"`scaled` must be true or false, but got {scaled!r}")
    if not isinstance(shift, int) or not 0 <= shift < longest:
        raise DataError(f"`shift` must be a number of samples below {longest}, but got {shift!r}")
    if not isinstance(speed, Real) or not 0 <= speed <= 1:
        raise DataError(f"`speed` must lie in [0, 1], but got {speed!r}")
    if (shift or speed) and form != "values":
        raise DataError(f"`shift` and `speed` change values, and not the levels of form={form}")
    known = DATA_SETS[name]
    (files,), source = contents(known, find(known, folder))
    sounds = [trimmed(read_wav(*file), trim)[:longest] for file in files]
    if scaled:
        sounds = [sound / (np.abs(sound).max() or 1) for sound in sounds]
    names = [_named(file) for file in files]
    labels = np.array([digit for digit, _ in names], np.int32)
    tested = np.flatnonzero([index in _TEST_INDICES for _, index in names])
    rest = np.flatnonzero([index not in _TEST_INDICES for _, index in names])
    check_classes(known, labels[rest])
    lengths = np.array(list(map(len, sounds)), np.int32)
    inputs = np.zeros((len(sounds), int(lengths.max())), np.float32)
    for row, sound in enumerate(sounds):
        inputs[row, : len(sound)] = sound
    shaped = mu_law(inputs).astype(np.int32) if form == "mu_law" else inputs[..., None]
    kept, held = held_out(labels[rest], validation, seed)
    splits = (Examples(shaped[rows], labels[rows], lengths[rows]) for rows in (rest[kept], rest[held], tested))
    return Classification(
        name,
        *splits,
        known.labels,
        source,
        tokens=LEVELS if form == "mu_law" else 0,
        change=partial(played, latest=shift, speed=speed) if shift or speed else None,
    )


def trimmed(sound: np.ndarray, level: float) -> np.ndarray:
    """Return a recording from its first to its last sample above a level; all of it where no sample is.

    Args:
        sound: shape (time,).
        level: share of the loudest sample; 0 leaves everything.

    Example:
        >>> trimmed(np.array([0.0, 0.01, -1.0, 0.0, 0.5, 0.02]), 0.05).tolist()
        [-1.0, 0.0, 0.5]
    """
    loud = np.flatnonzero(np.abs(sound) > level * np.abs(sound).max())
    return sound[loud[0] : loud[-1] + 1] if level and loud.size else sound


def read_wav(path: Path, content: bytes, rate: int = RATE) -> np.ndarray:
    """Return the samples of a recording, float32 in [-1, 1), shape (time,).

    Args:
        path: for sentences.
        content: of the file: one channel of 16 bits.
        rate: samples a second that it must have.

    Raises:
        DataError: not such a file, or shorter than it says.
    """
    try:
        with wave.open(io.BytesIO(content)) as file:
            form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            count, raw = file.getnframes(), file.readframes(file.getnframes())
    except (wave.Error, EOFError, RuntimeError) as error:  # RuntimeError: a chunk is longer than the file
        raise DataError(f"'{path}' is not a wav file: {str(error) or 'it ends too early'}") from None
    if form != (1, 2, rate):
        raise DataError(
            f"'{path}' should be one channel of 16 bits at {rate} Hz, but is {form[0]} of {8 * form[1]} bits at "
            f"{form[2]} Hz"
        )
    if not count or len(raw) != 2 * count:
        raise DataError(f"'{path}' should hold {count} samples, but holds {len(raw) // 2}: it is empty or damaged")
    return np.frombuffer(raw, "<i2").astype(np.float32) / 2**15


def wav_bytes(sound: np.ndarray) -> bytes:
    """Return the content of a wav file, one channel of 16 bits at 8 kHz, as `read_wav` takes it.

    Args:
        sound: values in [-1, 1], shape (time,); what is beyond is cut.

    Example:
        >>> read_wav(Path("one.wav"), wav_bytes(np.array([0.5, -1.0]))).tolist()
        [0.5, -1.0]
    """
    samples = np.clip(np.rint(np.asarray(sound, np.float64) * 2**15), -(2**15), 2**15 - 1).astype("<i2")
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return content.getvalue()


def _named(file: File) -> tuple[int, int]:
    """Return the digit and the index that a name tells."""
    match = _NAME.fullmatch(file.path.name)
    if match is None:
        raise DataError(f"'{file.path}' should be named DIGIT_SPEAKER_INDEX.wav")
    return int(match[1]), int(match[3])
