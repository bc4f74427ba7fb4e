"""Named primitives: functions that SymPy would write as several operations and that must be computed as one.

Each is a SymPy function with its derivative and its elementary form (for proofs and LaTeX); its JAX form, in
`lowering.py`, neither overflows nor cancels. `canonical` finds them in an elementary expression, so that a user who
writes log(1+exp(w)) gets softplus.
"""

from __future__ import annotations

import sympy
from sympy import Add, Function, Mul, Pow, S


class _Primitive(Function):
    """A real function of real arguments."""

    is_real = True

    def elementary(self) -> sympy.Expr:
        """Return the same function in exp, log and arithmetic."""
        raise TypeError(f"{type(self).__name__} has no elementary form")


class softplus(_Primitive):
    """log(1 + exp x); JAX form without overflow."""

    nargs = 1
    is_positive = True

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: sigmoid(x)."""
        return sigmoid(self.args[0])

    def elementary(self) -> sympy.Expr:
        """log(1 + exp x)."""
        return sympy.log(1 + sympy.exp(self.args[0]))


class sigmoid(_Primitive):
    """1/(1 + exp(-x)); 1 - sigmoid(x) is sigmoid(-x), never a subtraction."""

    nargs = 1
    is_positive = True

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: sigmoid(x) sigmoid(-x)."""
        return sigmoid(self.args[0]) * sigmoid(-self.args[0])

    def elementary(self) -> sympy.Expr:
        """1/(1 + exp(-x))."""
        return 1 / (1 + sympy.exp(-self.args[0]))


class expm1(_Primitive):
    """exp(x) - 1, exact near 0."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: exp(x)."""
        return sympy.exp(self.args[0])

    def elementary(self) -> sympy.Expr:
        """exp(x) - 1."""
        return sympy.exp(self.args[0]) - 1


class bose(_Primitive):
    """1/(exp(x) - 1), whose derivative bose(x) bose(-x) never divides an overflow by its square."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: bose(x) bose(-x) = -exp(x)/(exp(x) - 1)^2."""
        return bose(self.args[0]) * bose(-self.args[0])

    def elementary(self) -> sympy.Expr:
        """1/(exp(x) - 1)."""
        return 1 / (sympy.exp(self.args[0]) - 1)


class log_expm1(_Primitive):
    """log(exp(x) - 1) for x > 0, the inverse of softplus."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: exp(x)/(exp(x) - 1) = -bose(-x)."""
        return -bose(-self.args[0])

    def elementary(self) -> sympy.Expr:
        """log(exp(x) - 1)."""
        return sympy.log(sympy.exp(self.args[0]) - 1)


class log_abs_expm1(_Primitive):
    """log|exp(x) - 1|, which is close to x where the exponential overflows."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative: exp(x)/(exp(x) - 1) = -bose(-x)."""
        return -bose(-self.args[0])

    def elementary(self) -> sympy.Expr:
        """log|exp(x) - 1|."""
        return sympy.log(sympy.Abs(sympy.exp(self.args[0]) - 1))


class log_modulus(_Primitive):
    """log|1 - s| from (1 - s, s, 2 - s): each is used where it carries the digits, the last two near their zeros."""

    nargs = 3

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """The derivative passes through the first argument alone: 1/(1 - s)."""
        return 1 / self.args[0] if argindex == 1 else S.Zero

    def elementary(self) -> sympy.Expr:
        """log|1 - s|."""
        return sympy.log(sympy.Abs(self.args[0]))


class _ExponentialMoment(_Primitive):
    """Integral of t^n e^(z t) over [0, 1] at z = x + iy: (e^z - 1)/z for n = 0, and its derivatives in z."""

    nargs = 3

    def fdiff(self, argindex: int = 2) -> sympy.Expr:
        """Cauchy-Riemann: d/dx gives the moment n+1, d/dy turns it by i."""
        n, x, y = self.args
        if argindex == 2:
            return type(self)(n + 1, x, y)
        return -exprel_imag(n + 1, x, y) if isinstance(self, exprel_real) else exprel_real(n + 1, x, y)


class exprel_real(_ExponentialMoment):
    """Real part of the n-th exponential moment at x + iy."""


class exprel_imag(_ExponentialMoment):
    """Imaginary part of the n-th exponential moment at x + iy."""

    @classmethod
    def eval(cls, n: sympy.Expr, x: sympy.Expr, y: sympy.Expr) -> sympy.Expr | None:
        """On the real axis it is 0."""
        return S.Zero if y.is_zero else None


def elementary(expression: sympy.Expr) -> sympy.Expr:
    """Replace every primitive that has an elementary form by it."""
    kinds = (softplus, sigmoid, expm1, bose, log_expm1, log_abs_expm1, log_modulus)
    return expression.replace(lambda part: isinstance(part, kinds), lambda part: part.elementary())


def _one_plus(expression: sympy.Expr, kind: type) -> sympy.Expr | None:
    """Return g where the expression is 1 + g and g is of the given kind."""
    if isinstance(expression, Add) and len(expression.args) == 2 and S.One in expression.args:
        (rest,) = (part for part in expression.args if part is not S.One)
        return rest if isinstance(rest, kind) else None
    return None


def _fold_constant_plus(expression: Add) -> sympy.Expr:
    """Fold c + k g, c and k numbers, where the sum cancels in floating point."""
    if len(expression.args) != 2 or not expression.args[0].is_Number:
        return expression
    constant, rest = expression.args
    factor, function = rest.as_coeff_Mul()
    ratio = factor / constant
    if isinstance(function, sympy.tanh) and abs(ratio) == 1:
        return 2 * constant * sigmoid(2 * ratio * function.args[0])
    if isinstance(function, Pow) and isinstance(function.base, sympy.tanh) and function.exp == 2 and ratio == -1:
        return 4 * constant * sigmoid(2 * function.base.args[0]) * sigmoid(-2 * function.base.args[0])
    if isinstance(function, sigmoid) and ratio == -1:
        return constant * sigmoid(-function.args[0])
    if isinstance(function, sigmoid) and ratio == -2:
        return -constant * sympy.tanh(function.args[0] / 2)
    if isinstance(function, sympy.exp) and ratio == -1:
        return -constant * expm1(function.args[0])
    return expression


def _fold_difference(expression: Add) -> sympy.Expr:
    """Fold pairs of terms that differ by a factor close to -1 near a zero of the sum.

    sigmoid(y) - sigmoid(-y) = tanh(y/2), and exp(c z) - exp(z) = exp(z) expm1((c - 1) z) for a number c > 1, both times
    any common factor.
    """
    for term in expression.args:
        for factor in Mul.make_args(term):
            base = factor.base if isinstance(factor, Pow) and not isinstance(factor, sympy.exp) else factor
            if isinstance(base, sigmoid):
                y, rest = base.args[0], term / base
                partner = -rest * sigmoid(-y)
                if partner in expression.args:
                    return canonical(expression - term - partner + rest * sympy.tanh(y / 2))
            if isinstance(factor, sympy.exp):
                rest = term / factor
                for other in expression.args:
                    partner = -other / rest
                    if not isinstance(partner, sympy.exp) or other is term:
                        continue
                    ratio = factor.args[0] / partner.args[0]
                    if ratio.is_Number and ratio > 1:
                        difference = expm1(factor.args[0] - partner.args[0])
                        return canonical(expression - term - other + rest * partner * difference)
    return expression


def _fold_logarithm(expression: sympy.log) -> sympy.Expr:
    (inside,) = expression.args
    if (inner := _one_plus(inside, sympy.exp)) is not None:
        return softplus(inner.args[0])
    if isinstance(inside, sigmoid):
        return -softplus(-inside.args[0])
    if isinstance(inside, expm1):
        return log_expm1(inside.args[0])
    if isinstance(inside, sympy.Abs) and isinstance(inside.args[0], expm1):
        return log_abs_expm1(inside.args[0].args[0])
    return expression


def _fold(part: sympy.Expr) -> sympy.Expr:
    if isinstance(part, sympy.log):
        return _fold_logarithm(part)
    if isinstance(part, sympy.exp):
        factor, function = part.args[0].as_coeff_Mul()
        if isinstance(function, softplus) and factor == -1:
            return sigmoid(-function.args[0])
    if isinstance(part, Pow) and part.args[1].is_Integer and part.args[1] < 0:
        if (inner := _one_plus(part.args[0], sympy.exp)) is not None:
            return sigmoid(-inner.args[0]) ** -part.args[1]
        if isinstance(part.args[0], expm1):
            return bose(part.args[0].args[0]) ** -part.args[1]
    if isinstance(part, Mul):
        exponentials = [g for g in part.args if isinstance(g, sympy.exp)]
        for g in exponentials:  # e^x sigmoid(-x) = sigmoid(x)
            if sigmoid(-g.args[0]) in part.args:
                return part / (g * sigmoid(-g.args[0])) * sigmoid(g.args[0])
    if isinstance(part, Add):
        folded = _fold_constant_plus(part)
        return _fold_difference(folded) if isinstance(folded, Add) else folded
    return part


def canonical(expression: sympy.Expr) -> sympy.Expr:
    """Return an equal expression in which the primitives stand where elementary operations would overflow or cancel."""
    if not expression.args:
        return expression
    folded = expression.func(*map(canonical, expression.args))
    return _fold(folded) if folded.args else folded
