"""The numbers a map gives: its decay and all that follows from it by the link, each a view of one formula."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stablessm.parameterizations import links
from stablessm.parameterizations.errors import ParameterizationError

if TYPE_CHECKING:
    from jax import Array
    from jax.typing import ArrayLike


class Views(ABC):
    """What a layer or a measurement asks of a map; one map, or several behind one face, gives it.

    Attributes:
        name: what errors call it.
        link: "continuous", "one-minus" or "exponential".
    """

    name: str
    link: str

    def decay(self, weight: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the decay s(w); elementwise, same shape and dtype as the weight.

        Args:
            weight: raw trainable weight, any shape.
            **constants: values overriding the record's, numbers or (traced) arrays.
        """
        return self._view("decay", weight, constants)

    def eigenvalue(self, weight: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the real eigenvalue: -s, 1 - s or exp(-s) by the link."""
        return self._view("eigenvalue", weight, constants)

    def log_eigenvalue(self, weight: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the log of the eigenvalue's modulus per unit time: -s, log|1 - s| or -s by the link."""
        return self._view("log_eigenvalue", weight, constants)

    def log_multiplier(self, weight: ArrayLike, step_size: ArrayLike = 1.0, **constants: ArrayLike) -> Array:
        """Return log|lambda_bar| = -s dt, the log of what one step multiplies the state by, for tables of powers.

        The largest float stands for an infinity, in the derivatives too: k log|lambda_bar| is then never 0 * inf, and
        lambda_bar^k is 1, 0, 0, ... with derivative 0 where s(w) overflows.

        Args:
            weight: raw weight, any shape.
            step_size: dt > 0, broadcast against the weight; 1 in discrete time.
            **constants: values overriding the record's, numbers or (traced) arrays.

        Raises:
            ParameterizationError: the link is one-minus, whose eigenvalue may be negative or 0.
        """
        if self.link == "one-minus":
            raise ParameterizationError(
                f"{self.name!r} is under the link 'one-minus', where lambda = 1 - s has no log for every weight"
            )
        return self._view("log_multiplier", weight, constants, **{links.STEP: step_size})

    def margin(self, weight: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the distance to instability, without subtraction where the eigenvalue is close to the boundary."""
        return self._view("margin", weight, constants)

    def zero_order_hold(
        self,
        weight: ArrayLike,
        step_size: ArrayLike,
        *,
        frequency: ArrayLike | None = None,
        **constants: ArrayLike,
    ) -> tuple[Array, Array]:
        """Discretise lambda = -s + i frequency exactly for an input held constant over each step.

        Args:
            weight: raw weight, any shape.
            step_size: dt > 0, broadcast against the weight.
            frequency: imaginary part of the eigenvalue in radians per unit time; None for a real eigenvalue.

        Returns:
            (lambda_bar, b_bar): e^(lambda dt) and (e^(lambda dt) - 1)/lambda, real without a frequency, else complex.
            Both are exact as lambda dt -> 0, and neither they nor their derivatives are NaN where s(w) overflows.

        Raises:
            ParameterizationError: the link is not the continuous one.
        """
        import jax.numpy as jnp

        if self.link != "continuous":
            raise ParameterizationError(
                f"zero-order hold needs the link 'continuous', but {self.name!r} is under {self.link!r}"
            )
        extra = {links.STEP: step_size}
        modulus = self._view("held_eigenvalue", weight, constants, **extra)
        if frequency is None:
            return modulus, self._view("held_input", weight, constants, **extra)
        angle = jnp.asarray(frequency) * step_size
        extra[links.FREQUENCY] = frequency
        held = [self._view(f"held_input_{part}", weight, constants, **extra) for part in ("real", "imag")]
        turned = jnp.cos(angle) * modulus, jnp.sin(angle) * modulus
        return _complex(*turned), _complex(*held)

    @abstractmethod
    def weight(self, decay: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the weight of a decay: the inverse of `decay` on its image."""

    @abstractmethod
    def _view(self, view: str, weight: ArrayLike, constants: Mapping[str, ArrayLike], **extra: ArrayLike) -> Array:
        """Return a view, a key of `links.views`, at a weight."""


def _complex(real: Array, imaginary: Array) -> Array:
    import jax.lax

    return jax.lax.complex(real, imaginary)
