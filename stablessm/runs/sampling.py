"""What a trained network makes of a beginning: rows that are drawn beside the true ones, as a dataset and as sound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.mu_law import from_mu_law
from stablessm.data.recordings import RATE, wav_bytes
from stablessm.data.spectrum import average_spectrum, spectral_distance
from stablessm.data.splits import shuffled
from stablessm.datasets import refuse_foreign, save
from stablessm.models.sampling import continuation
from stablessm.runs.declaration import Declaration, RunError
from stablessm.runs.restoring import Restored, restored
from stablessm.runs.setup import files_of
from stablessm.tasks.task import Task
from stablessm.writing import write_whole

if TYPE_CHECKING:
    import xarray as xr

_MOST_ROWS, _MOST_STEPS = 4096, 2**20


@dataclass(frozen=True)
class Samples:
    """What was drawn.

    Attributes:
        declaration: of the run.
        dataset: variables `sampled` and `true`, tokens of dimensions row and time, and `length` of each true row; of
            recordings their average spectra behind the prefix, too, and how far these are apart.
        path: file of the dataset.
        sounds: wav files, of sampled and true recordings; none of other data.
        texts: (given, sampled) of each row of a text; none of other data.
    """

    declaration: Declaration
    dataset: xr.Dataset
    path: Path
    sounds: tuple[Path, ...]
    texts: tuple[tuple[str, str], ...]


def sample(
    checkpoint: str | Path,
    *,
    prefix: int = 0,
    count: int = 8,
    temperature: float = 1.0,
    top_k: int = 0,
    seed: int = 0,
    length: int | None = None,
    split: Literal["test", "validation"] = "test",
    data: str | Path | None = None,
    out: str | Path | None = None,
    device: str = "auto",
) -> Samples:
    """Draw the rest of some rows: the first values are the true ones, all others are drawn; reproducible by the seed.

    Args:
        checkpoint: file of a run on texts, or on images or recordings with the option ask=next.
        prefix: n, true values that are given behind the start, which has none; the steps n, n + 1, ... are drawn.
        count: rows; which ones is drawn by the seed, too.
        temperature: logits are divided by it.
        top_k: draw among so many of the likeliest tokens only; 0 for all.
        seed: of the rows and of what is drawn.
        length: steps of a row in all, as many as the rows of the data have by default.
        split: where the rows are taken from.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        out: folder of the results.
        device: "auto", "cpu" or "gpu".

    Raises:
        RunError: an option out of range, or a network that is not asked what comes next, in tokens.
        CheckpointError, DataError: as `evaluate` raises.
        DatasetWriteError: the disk refuses.
    """
    _refuse(split in ("test", "validation"), "split", "test or validation", split)
    _whole("count", count, 1, _MOST_ROWS)
    _whole("seed", seed, 0, 2**32 - 1)
    _whole("top-k", top_k, 0, 2**31 - 1)
    _refuse(_finite(temperature) and 0 < temperature <= 1e3, "temperature", "a number in (0, 1e3]", temperature)
    found = restored(checkpoint, data=data, device=device)
    task, rows = found.run.task, found.run.task.splits[split]
    if task.purpose != "language":
        hint = (
            "; images and recordings are asked for them with --set ask=next" if task.purpose == "classification" else ""
        )
        raise RunError(
            f"'{checkpoint}' is of a network for {task.purpose.replace('_', ' ')}, which draws no tokens{hint}"
        )
    there = rows.inputs.shape[1]
    length = there if length is None else length
    _whole("length", length, 1, there if task.shape else _MOST_STEPS)
    _whole("prefix", prefix, 0, min(there, length) - 1)
    _whole("count", count, 1, len(rows.inputs))
    _whole("top-k", top_k, 0, task.tokens)
    chosen = np.sort(shuffled(len(rows.inputs), seed)[:count])
    true = np.asarray(rows.inputs)[chosen].astype(np.int32)
    with found.run.on_device():
        drawn, _ = continuation(
            found.model, jnp.asarray(true[:, :prefix]), length - prefix, jnp.float32(temperature), top=top_k,
            key=jax.random.key(seed),
        )  # fmt: skip
    sampled = np.concatenate([true[:, :prefix], np.asarray(drawn)], axis=1)
    lengths = np.full(count, there, np.int32) if rows.lengths is None else np.asarray(rows.lengths)[chosen]
    told = {"prefix": prefix, "temperature": temperature, "top_k": top_k, "seed": seed, "split": split}
    dataset = _dataset(found, sampled, true[:, :length], np.minimum(lengths, length), chosen, told)
    if dataset.attrs["kind"] == "sound":
        dataset = _with_spectra(dataset)
    path = files_of(found.run.declaration, out).dataset.with_suffix(".samples.nc")
    refuse_foreign(path)
    save(dataset, path)
    sounds = _written(dataset, path.with_suffix("")) if dataset.attrs["kind"] == "sound" else ()
    return Samples(found.run.declaration, dataset, path, sounds, _texts(task, sampled, prefix))


def _dataset(
    found: Restored, sampled: np.ndarray, true: np.ndarray, lengths: np.ndarray, rows: np.ndarray, told: dict
) -> xr.Dataset:
    import xarray as xr

    task, declaration = found.run.task, found.run.declaration
    audio = declaration.data in DATA_SETS and DATA_SETS[declaration.data].kind == "audio"
    steps = min(true.shape[1], sampled.shape[1])
    shown = np.zeros_like(sampled)  # a longer sample has nothing true beside its end
    shown[:, :steps] = true[:, :steps]

    def variable(dims: tuple[str, ...], values: np.ndarray, long_name: str) -> tuple:
        return dims, values, {"units": "1", "long_name": long_name}

    return xr.Dataset(
        {
            "sampled": variable(("row", "time"), sampled, "token, drawn behind the prefix"),
            "true": variable(("row", "time"), shown, "token of the data, 0 behind its end"),
            "length": variable(("row",), lengths.astype(np.int32), "steps of the data that count"),
        },
        {
            "row": variable(("row",), rows, "row of the split"),
            "time": variable(("time",), np.arange(sampled.shape[1]), "step"),
        },
        {
            "experiment": declaration.name,
            "kind": "image" if task.shape else "sound" if audio else "text",
            "shape": list(task.shape),
            "tokens": task.tokens,
            "trained_steps": found.step,
            **told,
        },
    )


def _with_spectra(dataset: xr.Dataset) -> xr.Dataset:
    """Add the spectra of what was drawn and of what is true, behind the prefix and up to the end of the true row.

    Rows that end within the prefix have no part in them; where all do, there is nothing to add. How far white noise is
    from the true spectrum stands beside the distance of what was drawn.
    """
    prefix, ends = int(dataset.attrs["prefix"]), dataset["length"].values
    spectra = {}
    for name in ("sampled", "true"):
        rows = zip(dataset[name].values, ends, strict=True)
        sounds = [from_mu_law(levels[prefix:end], dataset.attrs["tokens"]) for levels, end in rows if end > prefix]
        if not sounds:
            return dataset
        frequency, spectra[name] = average_spectrum(sounds, RATE)
    found = dataset.assign_coords(frequency=("frequency", frequency, {"units": "Hz", "long_name": "frequency"}))
    for name, power in spectra.items():
        told = {"units": "1/Hz", "long_name": f"average power spectrum of what is {name}"}
        found[f"{name}_spectrum"] = ("frequency", power, told)
    for name, other in (("sampled", spectra["sampled"]), ("noise", np.ones_like(frequency))):
        found[f"spectral_distance_of_{name}"] = (
            (), spectral_distance(frequency, other, spectra["true"]),
            {"units": "dB", "long_name": f"distance of the spectrum of what is {name} from the true one"},
        )  # fmt: skip
    return found


def _written(dataset: xr.Dataset, folder: Path) -> tuple[Path, ...]:
    """Write each row as wav files, the true one as long as it is."""
    paths = []
    for place, row in enumerate(dataset["row"].values):
        true = dataset["true"].values[place, : int(dataset["length"][place])]
        for name, levels in (("sampled", dataset["sampled"].values[place]), ("true", true)):
            path = folder / f"{row}.{name}.wav"
            write_whole(path, wav_bytes(from_mu_law(levels, dataset.attrs["tokens"])))
            paths.append(path)
    return tuple(paths)


def _texts(task: Task, sampled: np.ndarray, prefix: int) -> tuple[tuple[str, str], ...]:
    if not task.vocabulary:
        return ()

    def text(tokens: np.ndarray) -> str:
        return b"".join(task.vocabulary[token] for token in tokens.tolist()).decode(errors="replace")

    return tuple((text(row[:prefix]), text(row[prefix:])) for row in sampled)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(option: str, value: object, least: int, most: int) -> None:
    fine = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    _refuse(fine, option, f"an integer from {least} to {most}", value)


def _refuse(fine: bool, option: str, allowed: str, value: object) -> None:
    if not fine:
        raise RunError(f"--{option} must be {allowed}, but got {value!r}")
