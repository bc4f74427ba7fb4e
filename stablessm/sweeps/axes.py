"""The one vocabulary of axes: what may be swept, over which range, and whether it is looped or vmapped.

Static axes change shapes or the program itself and cost one compilation each (maps share one where they can); traced
axes are arguments of a compiled program. The order below is the order of the dimensions of every dataset: static axes
first, then the traced ones from the seed (outermost, so that a work item holds few distinct starts) to the learning
rate (innermost).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from stablessm.parameterizations.numbers import finite, quoted
from stablessm.sweeps.errors import Where

LINKS = ("continuous", "one-minus", "exponential")
PRECISIONS = ("float32", "float64")
DISCRETISATIONS = ("zero_order_hold", "euler")
PERTURBED = ("recurrent", "input", "readout", "bias", "all")
BALLS = ("inf", "block_l2", "l2")


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes:
        name: its key in declarations and its dimension in datasets.
        kind: "map" (a parameterization), "target", "name" (one of `choices`, or of a registry), "integer" or "float".
        static: True where it is looped, False where it is vmapped.
        long_name: what it is, as an axis label would say it.
        units: units, "1" where dimensionless.
        low: smallest legal number.
        high: largest legal number.
        open_low: True where `low` itself is not legal.
        choices: the legal names, where they are fixed.
        registry: "module:attribute" of a mapping whose keys are the legal names.
    """

    name: str
    kind: Literal["map", "target", "name", "integer", "float"]
    static: bool
    long_name: str
    units: str = "1"
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    registry: str = ""

    @property
    def allowed(self) -> str:
        """What is legal, as a phrase: "an integer from 1 to 4096"."""
        if self.kind == "integer":
            return f"an integer from {self.low:.0f} to {self.high:.0f}"
        if self.kind == "float" and math.isinf(self.high):
            return f"a finite number {'above' if self.open_low else 'of at least'} {self.low:g}"
        if self.kind == "float":
            return f"a finite number in {'(' if self.open_low else '['}{self.low:g}, {self.high:g}]"
        return "a name"

    def names(self) -> tuple[str, ...] | None:
        """Return the legal names of a "name" axis, or None where any name goes."""
        if self.choices or not self.registry:
            return self.choices or None
        module, attribute = self.registry.split(":")
        return tuple(getattr(import_module(module), attribute))

    def check(self, value: Any, where: Where) -> Any:
        """Return `value` as this axis holds it: an exact `int`, a `float` or a `str`.

        Args:
            value: what the declaration gave.
            where: its place, for the error.

        Raises:
            SpecError: not a number or a name of this axis, or out of its range.
        """
        if self.kind == "name":
            legal = self.names()
            if not isinstance(value, str) or (legal is not None and value not in legal):
                raise where.unknown(self.name, value, legal or ())
            return value
        number = finite(value)
        whole = isinstance(value, int) or self.kind != "integer"
        if number is None or not whole or not self.low <= number <= self.high or (self.open_low and number == self.low):
            raise where.error(f"the {self.long_name} must be {self.allowed}, but got {quoted(value)}")
        return value if self.kind == "integer" else number


def _axis(name: str, kind: Any, static: bool, long_name: str, **rest: Any) -> tuple[str, Axis]:
    return name, Axis(name, kind, static, long_name, **rest)


AXES: dict[str, Axis] = dict(
    [
        _axis("parameterization", "map", True, "parameterization"),
        _axis("link", "name", True, "link", choices=LINKS),
        _axis("discretisation", "name", True, "discretisation", choices=DISCRETISATIONS),
        _axis("target", "target", True, "target"),
        _axis(
            "initialization",
            "name",
            True,
            "initialization",
            registry="stablessm.measurements.initializations:INITIALIZATIONS",
        ),
        _axis("optimizer", "name", True, "optimizer", registry="stablessm.training:OPTIMIZERS"),
        _axis("activation", "name", True, "activation", registry="stablessm.layers:ACTIVATIONS"),
        _axis(
            "ablation",
            "name",
            True,
            "part that is left out",
            registry="stablessm.measurements.layer_by_layer:ABLATIONS",
        ),
        _axis("task", "name", True, "task"),
        _axis("model", "name", True, "model"),
        _axis("length", "integer", True, "length of the series", units="step", low=1, high=2**20),
        _axis("width", "integer", True, "width", low=1, high=4096),
        _axis("length", "integer", True, "length of the series", units="step", low=2, high=2**20),
        _axis("precision", "name", True, "precision", choices=PRECISIONS),
        _axis("seed", "integer", False, "seed", low=0, high=2**32 - 1),
        _axis("repeat", "integer", False, "direction of the perturbation", low=0, high=2**32 - 1),
        _axis("perturbed", "name", True, "perturbed weights", choices=PERTURBED),
        _axis("ball", "name", True, "norm of the perturbation", choices=BALLS),
        _axis("error_horizon", "integer", True, "horizon of the error", units="step", low=1, high=10**6),
        _axis("beta", "float", False, "size of the perturbation", low=0.0, high=1e3),
        _axis("constant_a", "float", False, "constant a", low=0.0, open_low=True),
        _axis("constant_b", "float", False, "constant b", low=0.0, open_low=True),
        _axis("recurrent_rate", "float", False, "recurrent rate over the others' rate", low=0.0, high=1e3),
        _axis("learning_rate", "float", False, "learning rate", low=0.0, high=1e3, open_low=True),
    ]
)

# Axes that every measurement understands; absent unless a declaration gives them (float32 then).
UNIVERSAL: dict[str, tuple[str, ...]] = {"precision": ()}

# Settings that carry one of these names are held to the same range as the axis of that name.
NUMBERS: dict[str, Axis] = {
    **{name: axis for name, axis in AXES.items() if axis.kind in ("integer", "float")},
    "steps": Axis("steps", "integer", True, "number of steps", low=1, high=10**7),
}

# What the inner dimensions of results mean: long_name and units.
DIMENSIONS: dict[str, tuple[str, str]] = {
    "step": ("optimisation step", "1"),
    "progress": ("share of the training", "1"),
    "time": ("time", "1"),
    "lag": ("lag", "1"),
    "dtype": ("number format", "1"),
    "batch": ("member of the batch", "1"),
    "layer": ("layer", "1"),
    "state": ("state", "1"),
    "feature": ("feature", "1"),
    "quantile": ("quantile", "1"),
    "weight": ("raw weight", "1"),
    "decay": ("decay", "1"),
    "power": ("power of the target", "1"),
    "potential": ("potential", "1"),
    "start": ("starting point", "distance that decides"),
    "start_ratio": ("starting decay over target decay", "1"),
    "step_ratio": ("step over the largest stable one", "1"),
    "memory_length": ("memory length", "1"),
    "fit": ("fit", "1"),
    "domain": ("domain of time", "1"),
    "norm": ("norm of the error", "1"),
    "stop": ("end of the training", "1"),
    "extent": ("extent of time", "1"),
    "statement": ("statement about the map", "1"),
    "system": ("system", "1"),
    "kind": ("kind of layer", "1"),
    "moment": ("steps so far", "1"),
    **{name: (axis.long_name, axis.units) for name, axis in AXES.items()},  # of axes taken inside of a cell
}
