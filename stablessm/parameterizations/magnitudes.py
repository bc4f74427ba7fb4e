"""The numbers of a formula, bounded before SymPy computes them exactly.

Without a bound, ((2^64)^64)^64 has 79000 digits and exp(1e30) more than any machine holds. Every part of a formula that
holds no name is a number: it must lie within a float's range, and its exact form must stay short.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import NamedTuple

LARGEST = 1e300
MOST_DIGITS = 2000

_SIGMOID: Callable[[float], float] = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
_VALUES: dict[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "sigmoid": _SIGMOID, "softplus": lambda x: math.log1p(math.exp(x)), "relu": lambda x: max(x, 0.0), "abs": abs,
    "min": min, "max": max, "erf": math.erf, "sin": math.sin, "cos": math.cos,
}  # fmt: skip


class _Number(NamedTuple):
    value: float  # NaN where it is not real or not computed here
    digits: float


def unbounded_number(tree: ast.expr, text: str) -> str | None:
    """Return why a number of a formula is out of bounds, as a clause; None where all are within.

    Args:
        tree: its syntax tree, made of the grammar's nodes.
        text: the text the tree was read from.
    """
    if "#" in text:
        return "'#' is not part of a formula"

    def number(node: ast.AST) -> _Number | None:
        """The number a part without names is; None for a part with names. Raises for one out of bounds."""
        match node:
            case ast.Constant(value=value):
                if value == 0 and any(digit in "123456789" for digit in _mantissa(node, text)):
                    raise _Unbounded("a number in it is too small")
                return _Number(float(value), len(repr(value)))
            case ast.Name():
                return None
            case ast.UnaryOp(op=op, operand=operand):
                inner = number(operand)
                return inner and (inner._replace(value=-inner.value) if isinstance(op, ast.USub) else inner)
            case ast.BinOp(left=left, op=op, right=right):
                parts = [number(left), number(right)]
                return None if None in parts else _within(*_combined(op, *parts))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                parts = [number(argument) for argument in arguments]
                if None in parts:
                    return None
                value = _guarded(_VALUES.get(name, lambda *_: math.nan), *(part.value for part in parts))
                if name == "exp" and value == 0:
                    raise _Unbounded("a number in it is too small")
                return _within(value, max(part.digits for part in parts))
        return None

    try:
        number(tree)
    except _Unbounded as error:
        return str(error)
    return None


class _Unbounded(Exception):
    """A number out of bounds, with the clause that says so."""


def _combined(op: ast.operator, left: _Number, right: _Number) -> tuple[float, float]:
    x, y = left.value, right.value
    match op:
        case ast.Pow():
            power = _guarded(lambda: x**y)
            value = math.nan if isinstance(power, complex) else power
            return value, left.digits * max(1.0, abs(y)) if y == y else left.digits
        case ast.Add():
            value = x + y
        case ast.Sub():
            value = x - y
        case ast.Mult():
            value = x * y
        case _:
            value = _guarded(lambda: x / y)
    if isinstance(op, ast.Mult | ast.Div) and value == 0 and x != 0:
        raise _Unbounded("a number in it is too small")
    return value, left.digits + right.digits


def _guarded(function: Callable[..., float], *arguments: float) -> float:
    """The value; NaN where it is not defined, which the parser says itself."""
    try:
        return function(*arguments)
    except OverflowError:
        raise _Unbounded("a number in it is too large") from None
    except (ValueError, ZeroDivisionError):
        return math.nan


def _within(value: float, digits: float) -> _Number:
    if abs(value) >= LARGEST:
        raise _Unbounded("a number in it is too large")
    if digits > MOST_DIGITS:
        raise _Unbounded(f"a number in it has more than {MOST_DIGITS} digits")
    return _Number(value, digits)


def _mantissa(node: ast.Constant, text: str) -> str:
    return (ast.get_source_segment(text, node) or "").lower().partition("e")[0]
