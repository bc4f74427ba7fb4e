"""The built-in maps, each by the formula of its decay s(w) under its legal links; other packages may bring more."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.parameterizations.links import LINKS
from stablessm.parameterizations.plugins import Catalogue
from stablessm.parameterizations.record import Parameterization

_STABLESSM = "Wang and Li, StableSSM (ICML 2024)"
_POSITIVE = ("0", "inf", "()")


def _map(
    name: str,
    formula: str,
    inverse: str,
    image: tuple[str, str, str],
    reference: str,
    *,
    link: str = "continuous",
    links: tuple[str, ...] = LINKS,
    constants: Mapping[str, float] | None = None,
) -> Parameterization:
    """One formula for every legal link."""
    return Parameterization(
        name=name,
        link=link,
        formulas=tuple((one, formula) for one in links),
        reference=reference,
        values=tuple(sorted((constants or {}).items())),
        inverses=tuple((one, inverse) for one in links),
        images=tuple((one, image) for one in links),
    )


_ALL = (
    # The weight is the eigenvalue itself, so the decay differs by link; under the exponential link the modulus of a
    # negative weight counts, so that the decay is real for every weight but 0.
    Parameterization(
        name="direct",
        link="continuous",
        formulas=(("continuous", "-w"), ("one-minus", "1 - w"), ("exponential", "-log(abs(w))")),
        reference="no reparameterization; " + _STABLESSM,
        inverses=(("continuous", "-s"), ("one-minus", "1 - s"), ("exponential", "exp(-s)")),
        images=tuple((one, ("-inf", "inf", "()")) for one in LINKS),
    ),
    _map("exp", "exp(w)", "log(s)", _POSITIVE, "S4, S4D; LRU under the exponential link"),
    _map("softplus", "softplus(w)", "s + log(1 - exp(-s))", _POSITIVE, "Mamba and " + _STABLESSM),
    _map(
        "best",
        "1/(a*w**2 + b)",
        "sqrt(max((1 - b*s)/(a*s), 0))",
        ("0", "1/b", "(]"),
        _STABLESSM + ", section 3.3",
        constants={"a": 1.0, "b": 0.5},
    ),
    _map("tanh", "1 - tanh(w)", "log((2 - s)/s)/2", ("0", "2", "()"), "bounded recurrences", link="one-minus",
         links=("one-minus",)),
    _map("sigmoid", "sigmoid(w)", "log(s/(1 - s))", ("0", "1", "()"), "gated recurrences"),
    _map("square", "w**2", "sqrt(s)", ("0", "inf", "[)"), "Gupta, Mehta and Berant, DLR (2022)", link="exponential"),
    _map("relu", "relu(w)", "s", ("0", "inf", "[)"), _STABLESSM + ", Fig. 3"),
    _map("clip", "max(-w, floor)", "-s", ("floor", "inf", "[)"), "Gu, Goel and Re, S4 (ICLR 2022), Annotated S4",
         constants={"floor": 1e-4}),
)  # fmt: skip

PARAMETERIZATIONS = Catalogue(MappingProxyType({one.name: one for one in _ALL}))
