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

import math
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


_NEAR_ONE = 0.3
"""|x| below which log(1 + x) needs log1p. XLA's log1p on a CPU is off by up to 120 float64 ulp for x in (-0.5, -0.36)
and by 4 in (-0.36, -0.3); within 0.3 of 0 it is correct to an ulp, and beyond it the logarithm of the sum to two.
"""


def _log_one_plus(x: Array) -> Array:
    """Return log(1 + x), near 0 and far from it."""
    small = jnp.abs(x) < _NEAR_ONE
    return jnp.where(small, jnp.log1p(jnp.where(small, x, jnp.zeros_like(x))), jnp.log(1 + x))


def _log_one_minus_exp(x: Array) -> Array:
    """Return log(1 - e^-x) for x > 0, NaN below."""
    return jnp.where(x > -math.log(_NEAR_ONE), jnp.log1p(-jnp.exp(-x)), jnp.log(-jnp.expm1(-x)))


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
    primitives.log_expm1: lambda x: x + _log_one_minus_exp(x),
    primitives.bose: lambda x: 1 / jnp.expm1(x),
    primitives.log_abs_expm1: lambda x: jnp.maximum(x, 0) + _log_one_minus_exp(jnp.abs(x)),
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
            case sympy.log():
                return self._logarithm(expression.args[0])
            case primitives.log_modulus():
                return self._log_modulus(*expression.args)
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
        """Evaluate p/q = w^k p~/q~, where w^k is taken out factor by factor so that no power of it over- or underflows.

        Near, k is the common power of w; far out, it is the difference of degrees and p~, q~ are polynomials in 1/w.
        """
        weight = self.values[_WEIGHT]
        above, below = ([self(c) for c in poly.all_coeffs()] for poly in (numerator, denominator))
        orders = [poly.monoms()[-1][0] for poly in (numerator, denominator)]  # the multiplicity of the zero at w = 0
        above, below = above[: len(above) - orders[0]], below[: len(below) - orders[1]]
        near = _times_power(_ratio(above, below, weight), weight, orders[0] - orders[1])
        if len(above) == len(below) == 1:
            return near
        power = numerator.degree() - denominator.degree()
        if max(numerator.degree(), denominator.degree()) == 1 and power >= 0 and len(below) == 1:
            return near  # a straight line overflows only where its value does
        far, safe = self._far(numerator, denominator)
        return jnp.where(far, _times_power(_ratio(above[::-1], below[::-1], 1 / safe), safe, power), near)

    def _far(self, *polynomials: sympy.Poly) -> tuple[Array, Array]:
        """Return where the highest power of the weight would near overflow, and the weight there, 1 elsewhere."""
        weight = self.values[_WEIGHT]
        degree = max(poly.degree() for poly in polynomials)
        far = jnp.abs(weight) > 2.0 ** (0.7 * jnp.finfo(self.dtype).maxexp / (degree + 1))
        return far, jnp.where(far, weight, jnp.ones_like(weight))

    def _logarithm(self, inside: sympy.Expr) -> Array:
        """Evaluate log(1 + g) as log1p(g) where g is small, and log|w^k r| as k log|w| + log|r| where w^k overflows."""
        body = inside.args[0] if isinstance(inside, sympy.Abs) else inside
        split = _polynomials(body) if body.has(_WEIGHT) else None
        if split is None:
            rest = inside - 1
            return _log_one_plus(self(rest)) if inside.is_Add and S.One in inside.args else jnp.log(self(inside))
        excess = self(sympy.cancel(sympy.together(body - 1), _WEIGHT))
        small = jnp.abs(excess) < _NEAR_ONE
        numerator, denominator = split
        far, safe = self._far(numerator, denominator)
        above, below = ([self(c) for c in poly.all_coeffs()] for poly in split)
        power = numerator.degree() - denominator.degree()
        ratio = _ratio(above[::-1], below[::-1], 1 / safe) * (jnp.sign(safe) if power % 2 else 1)
        near = self(body)
        if isinstance(inside, sympy.Abs):
            ratio, near = jnp.abs(ratio), jnp.abs(near)
        large = jnp.where(far, power * jnp.log(jnp.abs(safe)) + jnp.log(ratio), jnp.log(near))
        return jnp.where(small, jnp.log1p(jnp.where(small, excess, jnp.zeros_like(excess))), large)

    def _log_modulus(self, eigenvalue: sympy.Expr, decay: sympy.Expr, above: sympy.Expr) -> Array:
        result = self(sympy.log(sympy.Abs(eigenvalue)))
        for distance in (self(decay), self(above)):
            small = jnp.abs(distance) < _NEAR_ONE
            result = jnp.where(small, jnp.log1p(-jnp.where(small, distance, jnp.zeros_like(distance))), result)
        return result


def _ratio(above: list[Array], below: list[Array], x: Array) -> Array:
    return _horner(above, x) / _horner(below, x)


def _times_power(value: Array, x: Array, power: int) -> Array:
    """Return value x^power, one factor after the other."""
    return reduce(jnp.multiply, [1 / x if power < 0 else x] * abs(power), value)


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
    """Return the factors of a product, those rational in the weight gathered into one, powers last."""
    rational = [part for part in product.args if part.has(_WEIGHT) and part.is_rational_function(_WEIGHT)]
    rest = [part for part in product.args if part not in rational]
    return ([sympy.Mul(*rational)] if rational else []) + sorted(rest, key=lambda part: isinstance(part, sympy.Pow))


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
def lower(
    expression: sympy.Expr, arguments: tuple[sympy.Symbol, ...], *, saturating: bool = False
) -> Callable[..., Array]:
    """Return the JAX function of an expression, with its symbolic derivatives.

    Args:
        expression: an expression over `arguments` and the primitives.
        arguments: the symbols, in the order of the function's arguments.
        saturating: whether the largest float stands for an infinity. Real and imaginary part of a complex value are
            separate functions; the zero cotangent of one, times an infinite derivative, would be NaN.

    Returns:
        f(*arrays) -> array of the broadcast shape, elementwise, jittable, differentiable to any order, vmappable.
    """
    body = primitives.canonical(expression)

    @jax.custom_jvp
    def function(*values: Array) -> Array:
        shape = jnp.broadcast_shapes(*map(jnp.shape, values))
        at = {symbol: jnp.broadcast_to(value, shape) for symbol, value in zip(arguments, values, strict=True)}
        result = jnp.broadcast_to(_Evaluator(at)(body), shape)
        largest = float(jnp.finfo(result.dtype).max)
        return jnp.clip(result, -largest, largest) if saturating else result

    def slope(symbol: sympy.Symbol) -> Callable[..., Array]:
        return lower(derivative(body, symbol), arguments, saturating=saturating)

    def tangent(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
        value = function(*primals)
        total = jnp.zeros_like(value)
        for symbol, direction in zip(arguments, tangents, strict=True):
            if not isinstance(direction, SymbolicZero):
                total = total + slope(symbol)(*primals) * direction
        return value, total

    function.defjvp(tangent, symbolic_zeros=True)
    return jax.jit(function)
