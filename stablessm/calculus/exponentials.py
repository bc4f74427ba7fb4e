"""Exponentials of the weight in one base: 2^w and 8^w are u and u^3 with u = e^(w log 2)."""

import sympy


def natural(expression: sympy.Expr, variable: sympy.Symbol) -> sympy.Expr:
    """Write every power of a positive base whose exponent holds the variable as exp(exponent log base).

    Logarithms of rational numbers in an exponent are written by prime factors, so that rates which are commensurable,
    such as log 2 and log 8, are seen to be.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> natural(sympy.Rational(1, 4) ** w, w)
        exp(-2*w*log(2))
    """

    def moves(node: sympy.Basic) -> bool:
        power = isinstance(node, sympy.Pow) and not isinstance(node, sympy.exp)
        return power and node.exp.has(variable) and bool(node.base.is_positive)

    opened = expression.replace(moves, lambda node: sympy.exp(node.exp * sympy.log(node.base)))
    return opened.replace(
        lambda node: isinstance(node, sympy.exp) and node.has(variable) and node.args[0].has(sympy.log),
        lambda node: sympy.exp(node.args[0].replace(_is_log_of_number, _in_primes)),
    )


def _is_log_of_number(node: sympy.Basic) -> bool:
    return isinstance(node, sympy.log) and node.args[0].is_Rational and node.args[0].is_positive


def _in_primes(node: sympy.log) -> sympy.Expr:
    factors = sympy.factorrat(node.args[0])
    return sympy.Add(*(power * sympy.log(prime) for prime, power in factors.items()))


def in_exponentials(h: sympy.Expr, variable: sympy.Symbol, base: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    """`h` with exp(k r variable + c) written as base^k e^c, integers k and one rate r > 0 common to all.

    Exponentials whose rate is no multiple of r (those with an integer rate come first) are left as they are.

    Returns:
        (form, r), or None where `h` holds no exponential with a constant rate of known sign.

    Example:
        >>> w, u = sympy.Symbol("w", real=True), sympy.Symbol("u", positive=True)
        >>> in_exponentials(sympy.exp(w / 2) + sympy.exp(-3 * w), w, u)
        (u + u**(-6), 1/2)
    """
    rates = {sympy.diff(node.args[0], variable) for node in h.atoms(sympy.exp) if node.has(variable)}
    rates = [rate for rate in rates if not rate.has(variable)]
    units = sorted(rates, key=lambda rate: (not rate.is_Rational, rate.count_ops(), str(rate)))
    unit = next((rate for rate in units if rate.is_positive or rate.is_negative), None)
    if unit is None:
        return None
    multiples = {rate: sympy.cancel(rate / unit) for rate in rates}
    multiples = {rate: ratio for rate, ratio in multiples.items() if ratio.is_Rational}
    step = sympy.Rational(
        sympy.igcd(0, *(ratio.p for ratio in multiples.values())),
        sympy.ilcm(1, *(ratio.q for ratio in multiples.values())),
    )
    step = step if unit.is_positive else -step

    def rewritten(node):
        rate = sympy.diff(node.args[0], variable)
        if rate not in multiples:
            return node
        return base ** (multiples[rate] / step) * sympy.exp(sympy.expand(node.args[0] - rate * variable))

    form = h.replace(lambda node: isinstance(node, sympy.exp) and variable in node.free_symbols, rewritten)
    return form, unit * step
