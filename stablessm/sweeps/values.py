"""From what a declaration gives for an axis (a list, a logarithmic or linear grid, a range) to its exact values."""

from __future__ import annotations

from typing import Any

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.axes import Axis
from stablessm.sweeps.errors import Where
from stablessm.sweeps.targets import resolve_targets

LONGEST = 10**6
_FORMS = "a list, {log = [lo, hi, n]}, {linear = [lo, hi, n]} or {range = n}"


def axis_values(axis: Axis, raw: Any, where: Where) -> tuple[Any, ...]:
    """Return the values of a number, name or target axis, in the order given.

    Numbers in a list are kept exactly. Points of a grid are rounded to 12 significant digits, so that
    `{log = [1e-3, 1, 4]}` is 0.001, 0.01, 0.1, 1 on every machine; its ends are exact.

    Args:
        axis: which axis.
        raw: a list, a single value, or one of the tables `log`, `linear`, `range`.
        where: its place, for the error.

    Returns:
        At least one value, no two equal.

    Raises:
        SpecError: an illegal value, an empty axis, or a value given twice.
    """
    if axis.kind == "target":
        return resolve_targets(raw, where)
    if isinstance(raw, dict):
        values = _table(axis, raw, where)
    else:
        values = list(raw) if isinstance(raw, list | tuple) else [raw]
    if not values:
        raise where.error(f"an axis needs at least one value: {_FORMS}")
    if len(values) > LONGEST:
        raise where.error(f"an axis holds at most {LONGEST} values, but got {len(values)}")
    checked = tuple(axis.check(value, where) for value in values)
    refuse_duplicates(checked, where)
    return checked


def refuse_duplicates(values: tuple[Any, ...], where: Where) -> None:
    """Raise a `SpecError` where a value occurs twice on an axis."""
    seen = set()
    for value in values:
        if value in seen:
            raise where.error(f"each value may occur once on an axis, but got {quoted(value)} twice")
        seen.add(value)


def _table(axis: Axis, raw: dict[str, Any], where: Where) -> list[Any]:
    if len(raw) != 1 or next(iter(raw)) not in ("log", "linear", "range"):
        raise where.error(f"an axis must be {_FORMS}, but got {quoted(raw)}")
    form, argument = next(iter(raw.items()))
    if form == "range":
        if axis.kind != "integer" or not _whole(argument) or not 1 <= argument <= LONGEST:
            raise where.error(
                f"{{range = n}} counts 0 to n - 1 on an integer axis with n an integer from 1 to {LONGEST}, "
                f"but got {quoted(argument)}"
            )
        return list(range(argument))
    if axis.kind != "float":
        raise where.error(f"{{{form} = ...}} makes real numbers, but the {axis.long_name} must be {axis.allowed}")
    if not isinstance(argument, list | tuple) or len(argument) != 3:
        raise where.error(f"{{{form} = [lo, hi, n]}} takes three numbers, but got {quoted(argument)}")
    low, high = (axis.check(end, where) for end in argument[:2])
    count = argument[2]
    if not _whole(count) or not 2 <= count <= LONGEST:
        raise where.error(
            f"the n of {{{form} = [lo, hi, n]}} must be an integer from 2 to {LONGEST}, but got {quoted(count)}"
        )
    if form == "log" and not low > 0:
        raise where.error(f"the ends of {{log = [lo, hi, n]}} must lie above 0, but got {low!r}")
    return [low, *(_point(form, low, high, k / (count - 1)) for k in range(1, count - 1)), high]


def _point(form: str, low: float, high: float, part: float) -> float:
    # Neither end is multiplied by more than 1: high / low can overflow where no point does.
    value = low ** (1 - part) * high**part if form == "log" else low * (1 - part) + high * part
    return float(f"{value:.12g}")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
