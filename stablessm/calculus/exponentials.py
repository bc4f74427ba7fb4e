"""Exponentials of the weight in one base: 2^w and 8^w are u and u^3 with u = e^(w log 2)."""

import sympy

LONGEST = 200
"""Degree above which no polynomial is made of exponentials: it would be written out, power by power."""


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
        (form, r), or None where `h` holds no exponential with a constant rate of known sign, or k would be very large.

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
    if any(abs(ratio / step) > LONGEST for ratio in multiples.values()):
        return None
    step = step if unit.is_positive else -step

    def rewritten(node):
        rate = sympy.diff(node.args[0], variable)
        if rate not in multiples:
            return node
        return base ** (multiples[rate] / step) * sympy.exp(sympy.expand(node.args[0] - rate * variable))

    form = h.replace(lambda node: isinstance(node, sympy.exp) and variable in node.free_symbols, rewritten)
    return form, unit * step


def in_units(expression: sympy.Expr) -> tuple[sympy.Expr, dict[sympy.Symbol, sympy.Expr]] | None:
    """Exponentials of large multiples as powers of a symbol: SymPy takes exp(1e8 x) for exp(x) to the power 1e8.

    Returns:
        (form, meanings), the exponential that each new symbol stands for; None where rates have no common unit of their
        size, such as 1 and 1e8.

    Example:
        >>> x = sympy.Symbol("x", real=True)
        >>> form, meanings = in_units(sympy.exp(4000 * x) - sympy.exp(2000 * x))
        >>> form, list(meanings.values())
        (_u**2 - _u, [exp(2000*x)])
    """
    terms = {node: _terms_of(node) for node in expression.atoms(sympy.exp)}
    rates: dict[sympy.Expr, set[sympy.Rational]] = {}
    for parts in terms.values():
        for rate, rest in parts:
            rates.setdefault(rest, set()).add(rate)
    meanings, units = {}, {}
    for rest, own in rates.items():
        unit = sympy.Rational(sympy.igcd(0, *(k.p for k in own)), sympy.ilcm(1, *(k.q for k in own)))
        plain = sympy.Rational(1, unit.q)  # what SymPy takes for the generator
        if max(map(abs, own)) <= LONGEST * plain:
            continue
        if max(map(abs, own)) > LONGEST * unit:
            return None
        symbol = sympy.Dummy("u", positive=True)
        units[rest], meanings[symbol] = (symbol, unit), sympy.exp(unit * rest)

    def rewritten(parts):
        powers = (units[rest][0] ** (k / units[rest][1]) if rest in units else sympy.exp(k * rest) for k, rest in parts)
        return sympy.Mul(*powers)

    changed = {node: rewritten(parts) for node, parts in terms.items() if any(rest in units for _, rest in parts)}
    return expression.xreplace(changed), meanings


def _terms_of(node: sympy.exp) -> list[tuple[sympy.Rational, sympy.Expr]]:
    """The exponent as a sum of rational multiples."""
    return [term.as_coeff_Mul(rational=True) for term in sympy.Add.make_args(sympy.expand_mul(node.args[0]))]
