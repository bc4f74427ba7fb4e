"""Several maps behind one face, so that one compiled program serves them all.

XLA takes seconds for a program that trains and a map is a few lines of it. A family leaves the choice of its map open
until the program runs: each view is a conditional over the maps, each branch the map's own arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.grammar import CHOICE
from stablessm.parameterizations.record import Parameterization
from stablessm.parameterizations.views import Views

if TYPE_CHECKING:
    from jax import Array
    from jax.typing import ArrayLike


@dataclass(frozen=True)
class Family(Views):
    """Maps under one link, of which the constant `CHOICE` picks one: an integer scalar, traced or not.

    The choice must be the same for all that is vmapped: then one branch runs. Other constants go to the maps that have
    them.

    Attributes:
        maps: the maps, all of whose links are one.

    Example:
        >>> import jax.numpy as jnp
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> family = Family((PARAMETERIZATIONS["exp"], PARAMETERIZATIONS["square"]))
        >>> family.decay(3.0, **{CHOICE: jnp.int32(1)})
        Array(9., dtype=float32)
    """

    maps: tuple[Parameterization, ...]

    def __post_init__(self) -> None:
        """Refuse an empty family and maps under several links."""
        links = dict.fromkeys(one.link for one in self.maps)
        if len(links) != 1:
            raise ParameterizationError(f"a family needs maps under one link, but got {', '.join(links) or 'none'}")

    @property
    def name(self) -> str:
        """The names of its maps."""
        return " | ".join(one.name for one in self.maps)

    @property
    def link(self) -> str:
        """The one link of its maps."""
        return self.maps[0].link

    def weight(self, decay: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the weight of a decay under the chosen map; see `Parameterization.weight`. Nothing is checked."""
        return self._chosen(decay, constants, lambda one, decay, own: one.weight(decay, **own))

    def _view(self, view: str, weight: ArrayLike, constants: Mapping[str, ArrayLike], **extra: ArrayLike) -> Array:
        return self._chosen(weight, constants, lambda one, weight, own: one._view(view, weight, own, **extra))

    def _chosen(
        self,
        at: ArrayLike,
        constants: Mapping[str, ArrayLike],
        evaluate: Callable[[Parameterization, Array, Any], Array],
    ) -> Array:
        from jax.lax import switch

        def branch(one: Parameterization) -> Callable[[Array], Array]:
            own = {name: value for name, value in constants.items() if name in one.constant_names}
            return lambda at: evaluate(one, at, own)

        return switch(constants[CHOICE], [branch(one) for one in self.maps], at)
