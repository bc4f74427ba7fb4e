"""What is to be proved about: one decay s(w), a link, and constants under canonical names.

SymPy orders sums by the names of symbols, so a proof could depend on what a constant is called. Constants are therefore
renamed before anything is done, by the structure of the formula alone, and get their own names back in the text of the
statements: a formula has the same verdicts whatever its constants are called.
"""

import re
from dataclasses import dataclass, replace
from itertools import islice, permutations

import sympy

from stablessm.calculus.enclosure import value_at
from stablessm.calculus.exponentials import natural
from stablessm.parameterizations.printing import FormulaPrinter

W = sympy.Symbol("w", real=True)
"""The weight."""

S = sympy.Symbol("s", positive=True)
"""The decay, where a statement is written as a function of it."""

_MANY = 120
"""Renamings tried; up to five constants this is all of them."""


_LONG = 60
"""Characters from which on an exact number is written as a decimal, rounded to ten digits."""

Restriction = tuple[sympy.Expr, sympy.Expr | None]
"""A base and its exponent, or the argument of a logarithm and None: the sign of the first must allow a real value."""


class _Printer(FormulaPrinter):
    """Text in the formula language, as a reader would write it."""

    def _print_Add(self, expr: sympy.Add, order: str | None = None) -> str:
        """A positive term first: 1 - b*s and not -b*s + 1."""
        terms = self._as_ordered_terms(expr, order=order)
        first = next((term for term in terms if not term.could_extract_minus_sign()), terms[0])
        if first is terms[0]:
            return super()._print_Add(expr, order=order)
        parts = [first, *(term for term in terms if term is not first)]
        return super()._print_Add(sympy.Add(*parts, evaluate=False), order="none")

    def _print_Mul(self, expr: sympy.Mul) -> str:
        """One root for all: sqrt(a/b) and not sqrt(a)/sqrt(b)."""
        roots = [factor for factor in expr.args if factor.is_Pow and abs(factor.exp) == sympy.S.Half]
        if len(roots) < 2 or any(root.base.is_negative for root in roots):
            return super()._print_Mul(expr)
        others = sympy.Mul(*(factor for factor in expr.args if factor not in roots))
        inside = sympy.Mul(*(root.base ** (2 * root.exp) for root in roots))
        return self._print(others * sympy.Function("sqrt", positive=True)(inside))


@dataclass(frozen=True)
class Problem:
    """A map in the form the proofs work on.

    Attributes:
        decay: s(w), exact numbers only, constants named k1, k2, ...
        link: "continuous", "one-minus" or "exponential".
        values: exact values of constants, for those that have one.
        names: the user's name of each constant.
        back: what constants that were put in by a proof stand for, e.g. d = b - 1/2.
        restrictions: what the formula as written demands of the weight beyond what is left of it in `decay`.
    """

    decay: sympy.Expr
    link: str
    values: tuple[tuple[sympy.Symbol, sympy.Rational], ...] = ()
    names: tuple[tuple[sympy.Symbol, str], ...] = ()
    back: tuple[tuple[sympy.Symbol, sympy.Expr], ...] = ()
    restrictions: tuple[Restriction, ...] = ()

    @property
    def constants(self) -> tuple[sympy.Symbol, ...]:
        """The constants that are still symbols."""
        held = set().union(*(inner.free_symbols for inner, _ in self.restrictions))
        return tuple(sorted((self.decay.free_symbols | held) - {W}, key=str))

    @property
    def eigenvalue(self) -> sympy.Expr:
        """lambda as an expression of w: -s, 1 - s or exp(-s)."""
        return self.eigenvalue_of(self.decay)

    def eigenvalue_of(self, decay: sympy.Expr) -> sympy.Expr:
        """lambda as an expression of the given decay."""
        return {"continuous": -decay, "one-minus": 1 - decay, "exponential": sympy.exp(-decay)}[self.link]

    def specialised(self, values: dict[sympy.Symbol, sympy.Expr] | None = None) -> "Problem":
        """The problem with the constants' values (or the given ones) put in."""
        chosen = dict(self.values) if values is None else values
        kept = tuple((symbol, value) for symbol, value in self.values if symbol not in chosen)
        return replace(self.substituted(chosen), values=kept)

    def substituted(self, chosen: dict[sympy.Symbol, sympy.Expr]) -> "Problem":
        """The problem with expressions put in for some constants, their values kept."""
        restrictions = tuple(
            (inner.subs(chosen), exponent if exponent is None else exponent.subs(chosen))
            for inner, exponent in self.restrictions
        )
        return replace(self, decay=natural(self.decay.subs(chosen), W), restrictions=restrictions)

    def text(self, expression: object) -> str:
        """Text of an expression, in the user's names and the formula language's functions."""
        if not isinstance(expression, sympy.Basic):
            return self.rename(str(expression))
        long = len(str(expression)) > _LONG or expression.has(sympy.CRootOf)
        if long and isinstance(expression, sympy.Expr) and expression.is_number:
            return f"{float(value_at(expression, {})):.10g}"
        if expression.has(*dict(self.back)):
            plain = expression.subs(dict(self.back))
            expression = plain if plain.has(sympy.exp) else sympy.factor(plain)
        return self.rename(_Printer().doprint(expression))

    def latex(self, expression: object) -> str:
        """LaTeX of an expression, in the user's names."""
        if not isinstance(expression, sympy.Basic):
            return str(expression)
        if expression.has(*dict(self.back)):
            expression = expression.subs(dict(self.back))
        own = {symbol: sympy.latex(sympy.Symbol(name)) for symbol, name in self.names}
        own = {symbol: text if len(text) == 1 or "_" in text or text[0] == "\\" else rf"\mathrm{{{text}}}"
               for symbol, text in own.items()}  # fmt: skip
        return sympy.latex(expression, symbol_names=own)

    def rename(self, text: str) -> str:
        """Put the user's names of the constants into a text written with the canonical ones."""
        names = {str(symbol): name for symbol, name in self.names}
        return re.sub(r"\b[A-Za-z]\w*\b", lambda found: names.get(found.group(), found.group()), text)


def problem_of(
    expression: sympy.Expr,
    link: str,
    constants: dict[str, float] | None = None,
    restrictions: tuple[Restriction, ...] = (),
) -> Problem:
    """The canonical problem of a decay.

    Args:
        expression: s(w) in elementary functions; `w` is the symbol named "w", every other symbol a constant.
        link: how the decay becomes an eigenvalue.
        constants: values by the constants' own names; a decimal number is taken exactly as written.
        restrictions: what the formula as written demands of the weight, see `Problem`.
    """
    parts = [part for pair in restrictions for part in pair]
    exact = sympy.Tuple(expression, *(sympy.S.NaN if part is None else part for part in parts))
    exact = exact.replace(lambda node: isinstance(node, sympy.Float), lambda node: sympy.Rational(str(node)))
    exact = exact.xreplace({symbol: W for symbol in exact.free_symbols if symbol.name == "w"})
    originals = sorted(exact.free_symbols - {W}, key=str)
    canonical = [sympy.Symbol(f"k{i + 1}", positive=True) for i in range(len(originals))]
    orders = list(islice(permutations(originals), _MANY))
    forms = [exact.xreplace(dict(zip(order, canonical, strict=True))) for order in orders]
    _, order, form = min(zip(map(sympy.srepr, forms), orders, forms, strict=True), key=lambda found: found[0])
    given = constants or {}
    parts = [None if part is sympy.S.NaN else part for part in form[1:]]
    return Problem(
        decay=natural(form[0], W),
        link=link,
        values=tuple(
            (symbol, sympy.Rational(str(given[old.name])))
            for old, symbol in zip(order, canonical, strict=True)
            if old.name in given
        ),
        names=tuple((symbol, old.name) for old, symbol in zip(order, canonical, strict=True)),
        restrictions=tuple(zip(parts[::2], parts[1::2], strict=True)),
    )
