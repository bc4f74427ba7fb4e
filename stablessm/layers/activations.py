"""Activations sigma of the state-space model, each with its Lipschitz constant. Importing this imports no JAX.

Theorem 3.1 asks for a strictly increasing, Lipschitz sigma; the record says which are. A Lipschitz constant L is the
least one, sup |sigma'|, and enters every bound as L^layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True)
class Activation:
    """An elementwise function.

    Attributes:
        name: its key.
        formula: sigma(h).
        lipschitz: sup |sigma'|.
        strictly_increasing: whether sigma' > 0 but for isolated points, as Theorem 3.1 asks.
        home: "module:function" that computes it.

    Example:
        >>> float(ACTIVATIONS["relu"](-2.0))
        0.0
    """

    name: str
    formula: str
    lipschitz: float
    strictly_increasing: bool
    home: str

    @property
    def is_linear(self) -> bool:
        """Whether sigma(h) = h."""
        return self.name == "identity"

    def __call__(self, h: Array) -> Array:
        """Return sigma(h), elementwise, of the dtype of h."""
        module, function = self.home.split(":")
        return getattr(import_module(module), function)(h)


def exact_gelu(h: Array) -> Array:
    """Return h Phi(h), Phi the normal distribution function, and not its approximation by tanh."""
    import jax

    return jax.nn.gelu(h, approximate=False)


def identity(h: Array) -> Array:
    """Return h."""
    return h


_ALL = (
    Activation("identity", "h", 1.0, True, f"{__name__}:identity"),
    Activation("tanh", "tanh(h)", 1.0, True, "jax.numpy:tanh"),
    Activation("sigmoid", "1/(1 + exp(-h))", 0.25, True, "jax.nn:sigmoid"),
    Activation("softplus", "log(1 + exp(h))", 1.0, True, "jax.nn:softplus"),
    Activation("softsign", "h/(1 + |h|)", 1.0, True, "jax.nn:soft_sign"),
    Activation("elu", "h, exp(h) - 1 where h < 0", 1.0, True, "jax.nn:elu"),
    Activation("leaky_relu", "max(h, 0.01 h)", 1.0, True, "jax.nn:leaky_relu"),
    Activation("relu", "max(h, 0)", 1.0, False, "jax.nn:relu"),
    Activation("hardtanh", "min(max(h, -1), 1)", 1.0, False, "jax.nn:hard_tanh"),
    # sup sigma' = Phi(h) + h phi(h) at h = sqrt(2)
    Activation("gelu", "h Phi(h)", 1.1289041451851548, False, f"{__name__}:exact_gelu"),
    # sup sigma' at the root h = 2.39935728 of h tanh(h/2) = 2, where sigma'' = 0
    Activation("silu", "h/(1 + exp(-h))", 1.0998393201288669, False, "jax.nn:silu"),
)

ACTIVATIONS: Mapping[str, Activation] = MappingProxyType({one.name: one for one in _ALL})


def activation_of(name: str | Activation) -> Activation:
    """Return the activation of a name; an `Activation` is returned as it is.

    Raises:
        ValueError: an unknown name.
    """
    if isinstance(name, Activation):
        return name
    if name not in ACTIVATIONS:
        raise ValueError(f"`activation` must be one of {', '.join(ACTIVATIONS)}, but got {name!r}")
    return ACTIVATIONS[name]
