"""Formulas as MathML, which browsers draw themselves: a formula alone, or those within a sentence of a certificate."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

_BAR, _PRIME = "<mo>|</mo>", '<mo lspace="0" rspace="0">′</mo>'
_F, _F_PRIME = "<mi>f</mi>", f"<mrow><mi>f</mi>{_PRIME}</mrow>"
_F_SQUARED = "<msup><mi>f</mi><mn>2</mn></msup>"
_ABS_F_PRIME = f"<mrow>{_BAR}{_F_PRIME}{_BAR}</mrow>"
_PHRASES = {
    "|f'|/(f^2 |w|)": f"<mfrac>{_ABS_F_PRIME}<mrow>{_F_SQUARED}{_BAR}<mi>w</mi>{_BAR}</mrow></mfrac>",
    "f'/(f^2 w)": f"<mfrac>{_F_PRIME}<mrow>{_F_SQUARED}<mi>w</mi></mrow></mfrac>",
    "|f'|/f^2": f"<mfrac>{_ABS_F_PRIME}{_F_SQUARED}</mfrac>",
    "f'/f^2": f"<mfrac>{_F_PRIME}{_F_SQUARED}</mfrac>",
    "|f'/f|": f"<mrow>{_BAR}<mfrac>{_F_PRIME}{_F}</mfrac>{_BAR}</mrow>",
    "4 s^3/f'^2": "<mfrac><mrow><mn>4</mn><msup><mi>s</mi><mn>3</mn></msup></mrow>"
    f"<msup><mrow><mo>(</mo>{_F_PRIME}<mo>)</mo></mrow><mn>2</mn></msup></mfrac>",
    "|tau''|": f'<mrow>{_BAR}<mi>τ</mi><mo lspace="0" rspace="0">″</mo>{_BAR}</mrow>',
    "1/|f|": f"<mfrac><mn>1</mn><mrow>{_BAR}{_F}{_BAR}</mrow></mfrac>",
    "|f|": f"<mrow>{_BAR}{_F}{_BAR}</mrow>",
    "g(beta)": "<mrow><mi>g</mi><mo>(</mo><mi>β</mi><mo>)</mo></mrow>",
    "w~": "<mover><mi>w</mi><mo>~</mo></mover>",
    "-oo": "<mrow><mo>−</mo><mi>∞</mi></mrow>",
    "oo": "<mi>∞</mi>",
    "->": "<mo>→</mo>",
    "<=": "<mo>≤</mo>",
}
# What stands between formulas in a sentence; a formula is what is left, where it parses.
_BETWEEN = re.compile(
    r"(, = | = | < | <= | -> |, |: | at | as | for every | holds for | like | is | in | of | with | when | and "
    r"| up to )"
)
_SYMBOL = re.compile(r"[a-z]|beta|tau|gamma")
_COMPOUND = re.compile(r"[-+*/^(]")
_WORDS = re.compile(r"[a-z]{2,} |[a-z]{2,}-[a-z]{2,}")
_NUMBER = re.compile(r"(-?)(\d+(?:\.\d+)?)(?:e([-+]?\d+))?")


@lru_cache(maxsize=4096)
def as_mathml(formula: str) -> str:
    """Return a formula in the formula language as a `math` element; one that does not parse as code.

    Args:
        formula: a decay s(w), say.

    Example:
        >>> as_mathml("w**2")
        '<math><msup><mi>w</mi><mn>2</mn></msup></math>'
    """
    inner = _presented(formula)
    return f"<math>{inner}</math>" if inner else f"<code>{escape(formula)}</code>"


def with_mathml(sentence: str) -> str:
    """Return a sentence of a certificate as HTML, its formulas as MathML and its words escaped.

    Args:
        sentence: plain text, "g(beta) = exp(beta) - 1" say.
    """
    return "".join(_piece(one) for one in _BETWEEN.split(sentence))


def _piece(text: str) -> str:
    if text in _PHRASES:
        return f"<math>{_PHRASES[text]}</math>"
    stripped = text.strip()
    if stripped in _PHRASES:
        return text.replace(stripped, f"<math>{_PHRASES[stripped]}</math>")
    inner = _number(stripped)
    if not inner and (_SYMBOL.fullmatch(stripped) or (_COMPOUND.search(stripped) and not _WORDS.search(stripped))):
        inner = _presented(stripped)
    if inner:
        return text.replace(stripped, f"<math>{inner}</math>")
    for phrase, inner in _PHRASES.items():  # words before or behind it
        before, found, after = text.partition(phrase)
        if found and not phrase.isalpha():
            return f"{escape(before)}<math>{inner}</math>{_piece(after) if after else ''}"
    return escape(text)


def _number(text: str) -> str | None:
    """Return the MathML of a decimal number, a power of ten as such; None of any other text."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    sign, mantissa, exponent = found.groups()
    inner = f"<mn>{mantissa}</mn>"
    if exponent:
        power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>".replace("-", "−")
        inner = power if mantissa in ("1", "1.0") else f"{inner}<mo>×</mo>{power}"
    return f"<mrow>{'<mo>−</mo>' if sign else ''}{inner}</mrow>"


def _presented(formula: str) -> str | None:
    """Return the MathML of a formula without its `math` element, None where it is none."""
    from sympy.printing.mathml import MathMLPresentationPrinter

    from stablessm.parameterizations.errors import ParameterizationError
    from stablessm.parameterizations.grammar import STATEMENT_FUNCTIONS, parse

    try:
        expression = parse(formula, functions=STATEMENT_FUNCTIONS)
    except (ParameterizationError, ValueError, TypeError, AttributeError):
        return None
    text = MathMLPresentationPrinter().doprint(expression)
    for entity, plain in (("&InvisibleTimes;", "\u2062"), ("&ExponentialE;", "e"), ("<mo>-</mo>", "<mo>−</mo>")):
        text = text.replace(entity, plain)
    return text
