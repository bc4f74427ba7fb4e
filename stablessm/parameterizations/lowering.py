"""SymPy expression -> JAX function, safe for every finite weight.

Three rules make the lowered functions safe where a literal translation is not:

1. The symbolic derivative is installed as `jax.custom_jvp`, with respect to every argument, and is itself lowered, so
   that derivatives of any order are expressions and never a chain of overflowing factors.
2. A rational function of the weight is evaluated in the weight where that cannot overflow and in its reciprocal beyond:
   p(w)/q(w) = w^(deg p - deg q) p~(1/w)/q~(1/w).
3. A product with a factor that is exactly zero is zero. A zero next to an infinity arises from the underflow of an
   exponential next to the overflow of what it beats, as in e^w e^(-e^w).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce

import jax
import jax.numpy as jnp
import sympy
from jax import Array
from jax.custom_derivatives import SymbolicZero
from sympy import S

from stablessm.parameterizations import primitives
from stablessm.parameterizations.grammar import WEIGHT
from stablessm.parameterizations.moments import exponential_moment, real_exponential_moment

_WEIGHT = sympy.Symbol(WEIGHT, real=True)


def _product(factors: list[Array]) -> Array:
    result = reduce(jnp.multiply, factors)
    if len(factors) == 1:
        return result
    vanishes = reduce(jnp.logical_or, [factor == 0 for factor in factors])
    return jnp.where(vanishes, jnp.zeros_like(result), result)


def _expm1_log(x: Array) -> Array:
    return x + jnp.log(-jnp.expm1(-x))


_NUMERIC: Mapping[type, Callable[..., Array]] = {
    sympy.exp: jnp.exp,
    sympy.log: jnp.log,
    sympy.sinh: jnp.sinh,
    sympy.cosh: jnp.cosh,
    sympy.tanh: jnp.tanh,
    sympy.erf: jax.scipy.special.erf,
    sympy.Abs: jnp.abs,
    sympy.sign: jnp.sign,
    sympy.Max: lambda *x: reduce(jnp.maximum, x),
    sympy.Min: lambda *x: reduce(jnp.minimum, x),
    sympy.Heaviside: lambda x, at_zero: jnp.heaviside(x, at_zero),
    primitives.softplus: jax.nn.softplus,
    primitives.sigmoid: jax.nn.sigmoid,
    primitives.expm1: jnp.expm1,
    primitives.log_expm1: _expm1_log,
    primitives.log_modulus: lambda s, rest: jnp.where(
        jnp.abs(s) < 0.5, jnp.log1p(-jnp.clip(s, -0.5, 0.5)), jnp.log(jnp.abs(rest))
    ),
}


class _Evaluator:
    """Evaluates one expression at given values, each subexpression once."""

    def __init__(self, values: Mapping[sympy.Symbol, Array]) -> None:
        self.values = values
        self.seen: dict[sympy.Expr, Array] = dict(values)
        self.dtype = jnp.result_type(*values.values())

    def __call__(self, expression: sympy.Expr) -> Array:
        if expression not in self.seen:
            self.seen[expression] = self._evaluate(expression)
        return self.seen[expression]

    def _evaluate(self, expression: sympy.Expr) -> Array:
        if expression.is_number:
            return jnp.asarray(float(expression), self.dtype)
        if _WEIGHT in self.values and expression.has(_WEIGHT) and (split := _polynomials(expression)) is not None:
            return self._rational(*split)
        match expression:
            case sympy.Add():
                return reduce(jnp.add, map(self, expression.args))
            case sympy.Mul():
                return _product([self(part) for part in _factors(expression)])
            case sympy.exp():  # before Pow: SymPy counts exp(x) as a power of e
                return jnp.exp(self(expression.args[0]))
            case sympy.Pow(base=base, exp=exponent):
                return self._power(base, exponent)
            case primitives.exprel_real() | primitives.exprel_imag():
                order, x, y = expression.args
                if y.is_zero:
                    return real_exponential_moment(int(order), self(x))
                real, imaginary = exponential_moment(int(order), self(x), self(y))
                return real if isinstance(expression, primitives.exprel_real) else imaginary
        return _NUMERIC[expression.func](*map(self, expression.args))

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> Array:
        value = self(base)
        if exponent.is_Integer:
            size = _product([value] * abs(int(exponent))) if exponent > 0 else None
            return size if size is not None else _product([1 / value] * -int(exponent))
        if exponent.is_Rational and exponent.q == 2:
            root = jnp.sqrt(value) if exponent > 0 else jax.lax.rsqrt(value)
            return _product([root] * abs(int(exponent.p)))
        return jnp.power(value, self(exponent))

    def _rational(self, numerator: sympy.Poly, denominator: sympy.Poly) -> Array:
        weight = self.values[_WEIGHT]
        degrees = numerator.degree(), denominator.degree()
        above, below = ([self(c) for c in poly.all_coeffs()] for poly in (numerator, denominator))
        direct = _horner(above, weight) / _horner(below, weight) if degrees[1] else _horner(above, weight) / below[0]
        if max(degrees) <= 1 and not degrees[1]:
            return direct  # a straight line overflows only where its value does
        far = jnp.abs(weight) > 2.0 ** (0.7 * jnp.finfo(self.dtype).maxexp / (max(degrees) + 1))
        safe = jnp.where(far, weight, jnp.ones_like(weight))
        inverse = 1 / safe
        reversed_ratio = _horner(above[::-1], inverse) / _horner(below[::-1], inverse)
        power = degrees[0] - degrees[1]
        scale = [inverse if power < 0 else safe] * abs(power)
        return jnp.where(far, reduce(jnp.multiply, scale, reversed_ratio), direct)


def _horner(coefficients: list[Array], x: Array) -> Array:
    return reduce(lambda total, c: total * x + c, coefficients[1:], jnp.broadcast_to(coefficients[0], jnp.shape(x)))


@lru_cache(maxsize=4096)
def _polynomials(expression: sympy.Expr) -> tuple[sympy.Poly, sympy.Poly] | None:
    """Numerator and denominator of a rational function of the weight, without common factor; None where it is not."""
    if not expression.is_rational_function(_WEIGHT):
        return None
    pair = sympy.fraction(sympy.cancel(sympy.together(expression), _WEIGHT))
    numerator, denominator = (sympy.Poly(part, _WEIGHT) for part in pair)
    return numerator, denominator


def _factors(product: sympy.Mul) -> list[sympy.Expr]:
    """Return the factors of a product, those rational in the weight gathered into one."""
    rational = [part for part in product.args if part.has(_WEIGHT) and part.is_rational_function(_WEIGHT)]
    rest = [part for part in product.args if part not in rational]
    return ([sympy.Mul(*rational)] if rational else []) + rest


@lru_cache(maxsize=4096)
def derivative(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Return the derivative almost everywhere: at a kink the mean of both sides, as SymPy's Heaviside(0) = 1/2."""
    result = primitives.canonical(expression).diff(symbol)
    result = result.replace(sympy.DiracDelta, lambda *_: S.Zero)
    result = result.replace(
        lambda part: isinstance(part, sympy.Derivative) and isinstance(part.expr, sympy.sign), lambda _: S.Zero
    )
    return sympy.together(result) if isinstance(result, sympy.Add) and _has_pole(result) else result


def _has_pole(expression: sympy.Expr) -> bool:
    """Whether a term divides by a function that is not rational: near its zero, poles of several terms would cancel."""
    powers = expression.atoms(sympy.Pow)
    return any(one.exp.is_negative and one.base.has(_WEIGHT) and _polynomials(one.base) is None for one in powers)


@lru_cache(maxsize=1024)
def lower(expression: sympy.Expr, arguments: tuple[sympy.Symbol, ...]) -> Callable[..., Array]:
    """Return the JAX function of an expression, with its symbolic derivatives.

    Args:
        expression: an expression over `arguments` and the primitives.
        arguments: the symbols, in the order of the function's arguments.

    Returns:
        f(*arrays) -> array of the broadcast shape, elementwise, jittable, differentiable to any order, vmappable.
    """
    body = primitives.canonical(expression)

    @jax.custom_jvp
    def function(*values: Array) -> Array:
        shape = jnp.broadcast_shapes(*map(jnp.shape, values))
        return jnp.broadcast_to(_Evaluator(dict(zip(arguments, values, strict=True)))(body), shape)

    def tangent(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
        value = function(*primals)
        total = jnp.zeros_like(value)
        for symbol, direction in zip(arguments, tangents, strict=True):
            if not isinstance(direction, SymbolicZero):
                total = total + lower(derivative(body, symbol), arguments)(*primals) * direction
        return value, total

    function.defjvp(tangent, symbolic_zeros=True)
    return jax.jit(function)
