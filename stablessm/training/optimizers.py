"""Optimisers by name. The recurrent weights carry no weight decay, as in the published runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import optax

WEIGHT_DECAY = 0.01  # StableSSM, image classification
PLATEAU = {"factor": 0.1, "patience": 10, "accumulation_size": 250}  # StableSSM, Fig. 1: epochs of 250 batches


@dataclass(frozen=True)
class Optimizer:
    """A named optimiser.

    Attributes:
        name: key in `OPTIMIZERS`.
        summary: one line.
        build: (optax, learning rate, mask) -> gradient transformation; the mask (params -> pytree of bool) says where
            weight decay applies. The learning rate may be traced.
    """

    name: str
    summary: str
    build: Callable[[Any, Any, Callable[[Any], Any]], Any]

    def transformation(self, learning_rate: Any, decayed: Callable[[Any], Any]) -> optax.GradientTransformation:
        """Return the Optax transformation."""
        import optax

        return self.build(optax, learning_rate, decayed)


_ALL = (
    Optimizer("gradient_descent", "w - lr g", lambda optax, rate, _: optax.sgd(rate)),
    Optimizer("adam", "Adam, b1 = 0.9, b2 = 0.999", lambda optax, rate, _: optax.adam(rate)),
    Optimizer(
        "adamw",
        f"Adam with weight decay {WEIGHT_DECAY} on all but the recurrent weights",
        lambda optax, rate, decayed: optax.adamw(rate, weight_decay=WEIGHT_DECAY, mask=decayed),
    ),
    Optimizer(
        "adam_plateau",
        "Adam, its rate cut tenfold where the mean loss of 250 steps has not fallen for ten such means",
        lambda optax, rate, _: optax.chain(optax.adam(rate), optax.contrib.reduce_on_plateau(**PLATEAU)),
    ),
)

OPTIMIZERS: Mapping[str, Optimizer] = MappingProxyType({one.name: one for one in _ALL})
