"""A declaration made ready: data, network, loop and where its files are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.data.loading import load
from stablessm.measurements.ratios import ratios_by_layer
from stablessm.models import Network
from stablessm.parameterizations import Parameterization
from stablessm.runs.declaration import Declaration, RunError
from stablessm.sweeps.device import choose_device, computing, enable_compilation_cache
from stablessm.sweeps.errors import Where
from stablessm.sweeps.maps import resolve_maps
from stablessm.sweeps.places import places
from stablessm.tasks.architecture import network
from stablessm.tasks.maps import mapped_blocks
from stablessm.tasks.scores import loss_of, scorer
from stablessm.tasks.task import Split, Task, task_of
from stablessm.training.batches import Drawing, Examples
from stablessm.training.loop import Training, training


@dataclass(frozen=True)
class Files:
    """The files of a run.

    Attributes:
        dataset: NAME.nc; its provenance stands beside it.
        checkpoint: NAME.checkpoint.
    """

    dataset: Path
    checkpoint: Path


def files_of(declaration: Declaration, out: str | Path | None) -> Files:
    """Return where the files of a run are.

    Args:
        declaration: its name is theirs.
        out: folder of the results; None for the default.
    """
    dataset = places(out).dataset(declaration.name)
    return Files(dataset, dataset.with_suffix(".checkpoint"))


@dataclass(frozen=True)
class Ready:
    """A run made ready on a device; use it under `on_device()`.

    Attributes:
        declaration: of the run.
        task: data and question.
        device: where it computes.
        precision: "float32", or "float64" where JAX was told so.
    """

    declaration: Declaration
    task: Task
    device: jax.Device
    precision: str

    def on_device(self) -> AbstractContextManager[None]:
        """Compute on the device, at the precision."""
        return computing(self.device, self.precision)

    @property
    def made_of(self) -> dict[str, Any]:
        """What decides the run: declaration, content of the data, precision."""
        return {
            "declaration": self.declaration.document(),
            "data": self.task.source.sha256 or self.task.source.place,
            "precision": self.precision,
        }

    @cached_property
    def model(self) -> Network:
        """The network at its start."""
        return network(self.declaration.model, self._map, self.task, key=jax.random.key(self.declaration.seed))

    @cached_property
    def training(self) -> Training:
        """The loop, with the training rows on the device."""
        return training(
            self.model,
            loss_of(self.task, self.declaration.activations),
            self.rows("train"),
            self.declaration.recipe,
            observe=ratios_by_layer,
            drawing=Drawing(self.task.draw, self.task.change),
            key=jax.random.fold_in(jax.random.key(self.declaration.seed), 1),
        )

    @cached_property
    def score(self) -> Callable[[Network, Examples], tuple[np.ndarray, np.ndarray]]:
        """(model, rows) -> (loss of each row, whether each is right)."""
        return scorer(self.task, self.declaration.activations, self.declaration.recipe.batch)

    @property
    def layers(self) -> int:
        """How many layers have eigenvalues of a map."""
        return len(mapped_blocks(self.model))

    def rows(self, split: Split) -> Examples:
        """Return the rows of a split on the device; tokens and labels as int32."""
        return jax.tree.map(
            lambda part: jnp.asarray(part, jnp.int32 if np.asarray(part).dtype.kind == "i" else None),
            self.task.splits[split],
        )

    @property
    def _map(self) -> Parameterization:
        return resolve_maps([self.declaration.parameterization], Where("declaration"))[0].record()


def ready(declaration: Declaration, *, data: str | Path | None = None, device: str = "auto") -> Ready:
    """Load the data of a run, and choose the device.

    Args:
        declaration: of the run.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        device: "auto", "cpu" or "gpu".

    Raises:
        DataError: the data are missing, damaged, or refuse an option.
        TaskError: their rows do not fit one another.
        RunError: there are fewer training rows than a batch takes.
        SweepError: no such device.
    """
    chosen = choose_device(device)
    enable_compilation_cache()
    task = task_of(load(declaration.data, data, **declaration.options), context=declaration.context)
    rows, batch = len(task.splits["train"].inputs), declaration.recipe.batch
    if batch > rows and task.draw is None:
        raise RunError(f"`batch` must be at most the number of training rows, {rows}, but got {batch}")
    return Ready(declaration, task, chosen, "float64" if jax.config.jax_enable_x64 else "float32")
