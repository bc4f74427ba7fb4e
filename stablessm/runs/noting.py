"""The scores of a run, added to its dataset: test rows are looked at once the run is over, and not before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stablessm.datasets import load, save
from stablessm.runs.declaration import RunError
from stablessm.runs.evaluation import Evaluation

if TYPE_CHECKING:
    import xarray as xr


def noted(found: Evaluation, checkpoint: str | Path) -> xr.Dataset:
    """Add SPLIT_METRIC, its standard error and the baseline to the dataset beside a checkpoint, and return it.

    Args:
        found: what `evaluate` returned; what is not finite is infinite.
        checkpoint: that was evaluated.

    Raises:
        RunError: there is no dataset beside it, or it is of another run.
        DatasetError: the file there is damaged or foreign.
        DatasetWriteError: the disk refuses.
    """
    path = Path(checkpoint).with_suffix(".nc")
    if not path.is_file():
        raise RunError(f"there is no dataset '{path}' beside the checkpoint to add the scores to: finish the run first")
    dataset = load(path)
    if dataset.attrs.get("spec") != found.declaration.document():
        raise RunError(f"'{path}' is of another run than the checkpoint beside it")
    name, shown = f"{found.split}_{found.metric}", found.metric.replace("_", " ")
    units = {"units": "bit" if found.metric.startswith("bits") else "1"}
    where = f"on the {found.split} rows, of the weights of the best look"
    values = {
        name: (found.scores.metric, f"{shown} {where}"),
        f"{name}_error": (found.scores.metric_error, f"standard error of the {shown} {where}"),
    }
    if found.baseline is not None:
        values[f"{name}_of_counts"] = (found.baseline.metric, f"{shown} of counts of {found.counts}")
    dataset = dataset.assign(
        {key: ((), np.float32(value), {**units, "long_name": words}) for key, (value, words) in values.items()}
    )
    if found.by_length:
        scores = list(found.by_length.values())
        dataset = dataset.drop_dims("length", errors="ignore").assign_coords(
            length=(
                "length",
                np.array(list(found.by_length), np.int32),
                {"units": "step", "long_name": "length"},
            )
        )
        for key, values_, words in (
            (f"{name}_by_length", [one.metric for one in scores], shown),
            (f"{name}_error_by_length", [one.metric_error for one in scores], f"standard error of the {shown}"),
        ):
            long_name = f"{words} on {found.split} rows of another length"
            dataset[key] = ("length", np.array(values_, np.float32), {**units, "long_name": long_name})
    save(dataset, path)
    return dataset
