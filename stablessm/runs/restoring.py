"""The network of a checkpoint: the weights that the validation rows chose, with its data made ready."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import jax

from stablessm.models import Network
from stablessm.runs.declaration import Declaration, RunError
from stablessm.runs.record import empty
from stablessm.runs.setup import Ready, ready
from stablessm.training import checkpoints


class Restored(NamedTuple):
    """A run whose weights are there.

    Attributes:
        run: made ready.
        model: with the weights of the best look at the validation rows.
        step: steps before those.
        steps: steps that were taken in all.
    """

    run: Ready
    model: Network
    step: int
    steps: int


def declared_in(path: Path) -> Declaration:
    """Return the declaration that a checkpoint is of.

    Raises:
        CheckpointError: the file is damaged or foreign.
        RunError: it cannot be read.
    """
    try:
        made_of = checkpoints.made_of(path)
    except OSError as error:
        raise RunError(f"the checkpoint '{path}' cannot be read: {error.strerror or error}") from None
    try:
        return Declaration(**made_of["declaration"])
    except (KeyError, TypeError, ValueError):
        raise checkpoints.CheckpointError(f"the checkpoint {path} is of no training run that is known here") from None


def restored(checkpoint: str | Path, *, data: str | Path | None = None, device: str = "auto") -> Restored:
    """Load the data and the best weights of a run.

    Args:
        checkpoint: file of the run.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        device: "auto", "cpu" or "gpu".

    Raises:
        CheckpointError: the file is damaged or foreign, or of an architecture or precision that this is not.
        RunError: it cannot be read, or the data are not those it was trained on.
    """
    path = Path(checkpoint)
    declaration = declared_in(path)
    run = ready(declaration, data=data, device=device)
    if checkpoints.made_of(path).get("data") != run.made_of["data"]:
        raise RunError(
            f"the checkpoint '{path}' was trained on other files of {declaration.data!r} than those in "
            f"'{run.task.source.place}'"
        )
    with run.on_device():
        record = checkpoints.load(path, empty(run.training.start, declaration, run.layers), run.made_of)
        model = run.training.model(record.state._replace(parameters=jax.tree.map(jax.numpy.asarray, record.best)))
    return Restored(run, model, int(record.best_step), int(record.state.step))
