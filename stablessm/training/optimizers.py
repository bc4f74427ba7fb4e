r"""Optimisers by name. The recurrent weights carry no weight decay, as in the published runs.

Near an optimum each steps by w -> w - lr P (momentum of g). Along a direction of curvature k of the preconditioned loss
it is stable where lr k stays below a number of its own, its edge: 2 without momentum, 2 (1 + b) for heavy-ball momentum
(g + b m), and 2 (1 + b)/(1 - b) where the momentum is an average ((1 - b) g + b m), as in Adam.

References: Cohen et al., Gradient descent on neural networks typically occurs at the edge of stability (ICLR 2021), and
Adaptive gradient methods at the edge of stability (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import optax

WEIGHT_DECAY = 0.01  # StableSSM, image classification
MOMENTUM = 0.9
CLIP = 1.0  # largest global norm of a gradient, as in published language-model runs
ADAM = {"b1": 0.9, "b2": 0.999, "eps": 1e-8}  # the defaults of Optax, which builds it
PLATEAU = {"factor": 0.1, "patience": 10, "accumulation_size": 250}  # StableSSM, Fig. 1: epochs of 250 batches


def _plain(gradient: Any, state: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree.map(jnp.ones_like, gradient)


@dataclass(frozen=True)
class Optimizer:
    """A named optimiser.

    Attributes:
        name: key in `OPTIMIZERS`.
        summary: one line.
        build: (optax, learning rate, mask) -> gradient transformation; the mask (params -> pytree of bool) says where
            weight decay applies. The learning rate may be traced.
        edge: learning rate times largest curvature of the preconditioned loss at which a quadratic loses stability;
            None where the learning rate changes by itself.
        preconditioner: (gradient, state after the step) -> what each weight's learning rate is multiplied by, a pytree
            like the gradient.
    """

    name: str
    summary: str
    build: Callable[[Any, Any, Callable[[Any], Any]], Any]
    edge: float | None = None
    preconditioner: Callable[[Any, Any], Any] = _plain

    @property
    def follows_curvature(self) -> bool:
        """Whether the edge is one of the loss itself near an optimum, where nothing rescales the gradient any more."""
        return self.edge is not None and self.preconditioner is not _adaptive

    def transformation(
        self,
        learning_rate: Any,
        decayed: Callable[[Any], Any],
        *,
        multiplier: Any = None,
        multiplied: Callable[[Any], Any] | None = None,
    ) -> optax.GradientTransformation:
        """Return the Optax transformation.

        Args:
            learning_rate: of every weight, possibly traced.
            decayed: mask of the weights that decay.
            multiplier: what the learning rate of one group of weights is multiplied by, possibly traced; None for one
                group.
            multiplied: mask of that group.
        """
        import optax

        whole = self.build(optax, learning_rate, decayed)
        if multiplier is None:
            return whole
        return optax.chain(whole, optax.masked(optax.scale(multiplier), multiplied))


def _clipped(gradient: Any, state: Any) -> Any:
    import jax
    import jax.numpy as jnp
    import optax

    factor = jnp.minimum(1, CLIP / optax.tree.norm(gradient))
    return jax.tree.map(lambda leaf: jnp.broadcast_to(factor, leaf.shape), gradient)


def _adaptive(gradient: Any, state: Any) -> Any:
    import jax
    import jax.numpy as jnp
    import optax

    squares, count = optax.tree.get(state, "nu"), optax.tree.get(state, "count")
    known = 1 - ADAM["b2"] ** count
    return jax.tree.map(lambda square: 1 / (jnp.sqrt(square / known) + ADAM["eps"]), squares)


_AVERAGED = 2 * (1 + ADAM["b1"]) / (1 - ADAM["b1"])

_ALL = (
    Optimizer("gradient_descent", "w - lr g", lambda optax, rate, _: optax.sgd(rate), 2.0),
    Optimizer(
        "momentum",
        f"gradient descent with heavy-ball momentum {MOMENTUM}",
        lambda optax, rate, _: optax.sgd(rate, momentum=MOMENTUM),
        2 * (1 + MOMENTUM),
    ),
    Optimizer(
        "clipped_gradient_descent",
        f"gradient descent, the gradient's global norm at most {CLIP:g}",
        lambda optax, rate, _: optax.chain(optax.clip_by_global_norm(CLIP), optax.sgd(rate)),
        2.0,
        _clipped,
    ),
    Optimizer(
        "adam", "Adam, b1 = 0.9, b2 = 0.999", lambda optax, rate, _: optax.adam(rate, **ADAM), _AVERAGED, _adaptive
    ),
    Optimizer(
        "adamw",
        f"Adam with weight decay {WEIGHT_DECAY} on all but the recurrent weights",
        lambda optax, rate, decayed: optax.adamw(rate, **ADAM, weight_decay=WEIGHT_DECAY, mask=decayed),
        _AVERAGED,
        _adaptive,
    ),
    Optimizer(
        "adam_plateau",
        "Adam, its rate cut tenfold where the mean loss of 250 steps has not fallen for ten such means",
        lambda optax, rate, _: optax.chain(optax.adam(rate, **ADAM), optax.contrib.reduce_on_plateau(**PLATEAU)),
    ),
)

OPTIMIZERS: Mapping[str, Optimizer] = MappingProxyType({one.name: one for one in _ALL})
