"""The built-in targets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.targets.errors import TargetError
from stablessm.targets.record import Target
from stablessm.targets.sampled import SUNSPOTS, SampledTarget

_STABLESSM = "Wang and Li, StableSSM (ICML 2024), section 4"
_POLYNOMIAL = "(1 + c*t)^-p"


def _target(name: str, formula: str, span: float = 0.0, **constants: float) -> Target:
    return Target(name, formula, tuple(sorted(constants.items())), span=span, reference=_STABLESSM)


TARGETS: Mapping[str, Target | SampledTarget] = MappingProxyType(
    {
        one.name: one
        for one in (
            _target("exponential", "exp(-r*t)", r=1.0),
            _target("polynomial", _POLYNOMIAL, c=1.0, p=1.1),
            _target("slow_polynomial", _POLYNOMIAL, c=0.1, p=1.1),
            _target("sine", "sin(t)"),
            _target("shift", "step(t - 9)*step(11 - t)", span=20.0),
            _target("two_part", "exp(-t) + exp(-(t - 9)^2)"),
            _target("airy", "airy(t - 6)", span=20.0),
            SampledTarget(
                "autocorrelation",
                str(SUNSPOTS),
                column="SUNACTIVITY",
                correlated=True,
                horizon=100,
                description="autocorrelation of a series: by default yearly sunspot numbers, 1700 to 2008",
                reference="NOAA National Geophysical Data Center (public domain)",
            ),
        )
    }
)


def target_of(value: Target | SampledTarget | str) -> Target | SampledTarget:
    """Return the built-in target of a name; a record stands for itself.

    Raises:
        TargetError: no built-in has this name.
    """
    if not isinstance(value, str):
        return value
    if value not in TARGETS:
        raise TargetError(f"there is no target {value!r}; the built-in ones are {', '.join(TARGETS)}")
    return TARGETS[value]
