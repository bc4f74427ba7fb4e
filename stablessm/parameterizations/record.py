"""The parameterization: one formula for the decay s(w), from which numbers, gradients, proofs and labels all come."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from stablessm.parameterizations import links
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.grammar import CHOICE, WEIGHT, constant_names
from stablessm.parameterizations.image import Interval
from stablessm.parameterizations.numbers import finite, quoted
from stablessm.parameterizations.views import Views

if TYPE_CHECKING:
    import sympy
    from jax import Array
    from jax.typing import ArrayLike

_RESERVED = (WEIGHT, "s", links.STEP, links.FREQUENCY, CHOICE)


@dataclass(frozen=True)
class Parameterization(Views):
    """A map w -> lambda from a trainable weight to an eigenvalue, through a decay s(w) and a link.

    Frozen and hashable by content. Nothing heavy is imported until an expression or a number is asked for.

    Attributes:
        name: key in the registry, or the label of a user's map.
        link: "continuous" (lambda = -s), "one-minus" (lambda = 1 - s) or "exponential" (lambda = exp(-s)).
        formulas: formula of the decay s(w) for each link that is legal.
        reference: where the map comes from.
        values: constants as sorted (name, value) pairs; read them as `.constants`.
        inverses: formula of the inverse w(s) for each link, where one is known in closed form.
        images: for each link (lower, upper, brackets), ends as formulas in the constants; absent for a user's map.

    References: Wang and Li, StableSSM (ICML 2024), section 3.
    """

    name: str
    link: str
    formulas: tuple[tuple[str, str], ...]
    reference: str = "user"
    values: tuple[tuple[str, float], ...] = ()
    inverses: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    images: tuple[tuple[str, tuple[str, str, str]], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse an unknown link or constant, and a constant that is not positive and finite."""
        if self.link not in links.LINKS:
            near = get_close_matches(str(self.link), links.LINKS, 1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise ParameterizationError(f"a link must be one of {', '.join(links.LINKS)}, but got {self.link!r}{hint}")
        if self.link not in self.links:
            raise ParameterizationError(f"{self.name!r} has the links {', '.join(self.links)}, but not {self.link!r}")
        for name, value in self.values:
            if name not in self.constant_names:
                known = ", ".join(self.constant_names) or "none"
                raise ParameterizationError(f"{self.name!r} has no constant {name!r}; its constants are: {known}")
            number = finite(value)
            if number is None or number <= 0:
                raise ParameterizationError(
                    f"the constant {name!r} of {self.name!r} must be a positive finite number, but got {quoted(value)}"
                )

    @staticmethod
    def from_formula(
        formula: str,
        *,
        constants: Mapping[str, float] | None = None,
        link: str = "continuous",
        name: str | None = None,
    ) -> Parameterization:
        """Make a map from the formula of its decay s(w).

        Args:
            formula: text in the grammar of `grammar.py`: `w`, numbers, constants, + - * / ** ^ and
                exp log sqrt sinh cosh tanh sigmoid softplus relu abs min max erf.
            constants: values of the constants; those left out stay symbols, good for proofs but not for numbers.
            link: how the decay becomes an eigenvalue.
            name: label; the formula itself by default.

        Raises:
            ParameterizationError: the formula does not parse, a constant does not occur in it or is not positive, the
                link is unknown, or an argument is of another kind.

        Example:
            >>> Parameterization.from_formula("1/(w^2 + c)", constants={"c": 0.7}).constants
            {'c': 0.7}
        """
        names = constant_names(formula)
        if name is not None and not isinstance(name, str):
            raise ParameterizationError(f"the name of a map must be a text, but got {quoted(name)}")
        for reserved in _RESERVED:
            if reserved in names:
                raise ParameterizationError(
                    f"the formula {formula!r} uses {reserved!r}, which has a fixed meaning here"
                )
        return Parameterization(
            name=name or formula,
            link=link,
            formulas=tuple((one, formula) for one in links.LINKS),
            values=_sorted({} if constants is None else constants),
        )

    def _repr_html_(self) -> str:
        """Show the map in a notebook: its formula under each link, its constants, where it comes from."""
        from stablessm.notebook import table

        constants = ", ".join(f"{name} = {value:g}" for name, value in self.values) or "none"
        rows = [(link, formula, constants, self.reference) for link, formula in self.formulas]
        return table(f"{self.name}, link {self.link}", ("link", "decay s(w)", "constants", "reference"), rows)

    @property
    def links(self) -> tuple[str, ...]:
        """The links under which the map is defined."""
        return tuple(link for link, _ in self.formulas)

    @property
    def formula(self) -> str:
        """Text of the decay s(w) under the present link."""
        return dict(self.formulas)[self.link]

    @property
    def constants(self) -> dict[str, float]:
        """Values of the constants, by name."""
        return dict(self.values)

    @property
    def constant_names(self) -> tuple[str, ...]:
        """Names of the constants of the formula, with or without a value."""
        return constant_names(self.formula)

    @property
    def missing_constants(self) -> tuple[str, ...]:
        """Names of the constants that have no value yet."""
        return tuple(name for name in self.constant_names if name not in self.constants)

    @property
    def expression(self) -> sympy.Expr:
        """The decay s(w) in elementary functions: w a real symbol, every constant a positive one."""
        from stablessm.parameterizations.grammar import parse
        from stablessm.parameterizations.primitives import elementary

        return elementary(parse(self.formula))

    @property
    def restrictions(self) -> tuple[tuple[sympy.Expr, sympy.Expr | None], ...]:
        """What the formula as written demands of the weight: (base, exponent) pairs, (argument, None) for a log."""
        from stablessm.parameterizations.grammar import restrictions
        from stablessm.parameterizations.primitives import elementary

        return tuple(
            (elementary(base), None if exponent is None else elementary(exponent))
            for base, exponent in restrictions(self.formula)
        )

    @property
    def image(self) -> Interval:
        """The decays the map can reach over all finite weights.

        Raises:
            ParameterizationError: a constant has no value, or the formula has no finite value anywhere.
        """
        from stablessm.parameterizations.hull import image

        return image(self)

    def replace(self, *, link: str | None = None, constants: Mapping[str, float] | None = None) -> Parameterization:
        """Return the map under another link or with other values of some constants.

        Raises:
            ParameterizationError: the link is not legal for the map, or a constant is unknown or not positive.
        """
        link = self.link if link is None else link
        return dataclasses.replace(self, link=link, values=_sorted(constants or {}, self.constants))

    def weight(self, decay: ArrayLike, **constants: ArrayLike) -> Array:
        """Return the weight of a decay: the inverse of `decay` on its image, non-negative where the map is even.

        Args:
            decay: decays inside `.image`, any shape; not checked where traced.
            **constants: values overriding the record's.

        Raises:
            ParameterizationError: a decay lies outside the image; the message names the image.
        """
        from stablessm.parameterizations.inverse import weight

        return weight(self, decay, constants)

    def _view(self, view: str, weight: ArrayLike, constants: Mapping[str, ArrayLike], **extra: ArrayLike) -> Array:
        from stablessm.parameterizations.evaluate import evaluate

        return evaluate(self, view, weight, constants, extra)


def _sorted(constants: Mapping[str, Any], base: Mapping[str, float] | None = None) -> tuple[tuple[str, float], ...]:
    """Return constants over those of `base`, as floats where they are numbers, so that equal content hashes equal."""
    if not isinstance(constants, Mapping) or not all(isinstance(name, str) for name in constants):
        raise ParameterizationError(f"constants must be a mapping from names to numbers, but got {quoted(constants)}")
    plain = {name: value if finite(value) is None else finite(value) for name, value in constants.items()}
    return tuple(sorted({**(base or {}), **plain}.items()))
