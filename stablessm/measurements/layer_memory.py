"""Memory functions of layers of every kind, as they start."""

from __future__ import annotations

from pydantic import Field, field_validator

from stablessm.layers.registry import LAYERS
from stablessm.measurements.base import Measurement, Settings, Variable, distinct

_CAUSAL = tuple(name for name, kind in LAYERS.items() if not kind.looks_ahead)


class LayerMemorySettings(Settings):
    """Sizes of the layers, and the inputs.

    Attributes:
        layers: their kinds.
        width: features.
        states: order of the real system of each layer, or channel; even.
        length: steps of the memory functions.
        signs: inputs of entries -1 and 1 that are tried.
    """

    layers: tuple[str, ...] = _CAUSAL
    width: int = Field(8, ge=2, le=4096)
    states: int = Field(64, ge=2, le=4096, multiple_of=2)
    length: int = Field(784, ge=2, le=10**6)
    signs: int = Field(8, ge=1, le=10**4)

    @field_validator("layers")
    @classmethod
    def _causal(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in distinct(value):
            if name not in _CAUSAL:
                raise ValueError(f"{name!r} is no layer without a look ahead; these are {', '.join(_CAUSAL)}")
        return value


LAYER_MEMORY = Measurement(
    name="layer_memory",
    summary="how strongly the outputs of a layer of each kind still feel the onset of an input, as it starts",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 2.1",
    axes={"parameterization": None, "link": ("continuous",), "seed": (0,)},
    settings=LayerMemorySettings,
    variables=lambda _: {
        "memory_function": Variable("memory function", dims=("kind", "time")),
    },
    program="stablessm.measurements.layer_memory_program:layer_memory",
)
