"""One-sided limits of an expression with kinks (Abs, Max, Min, sign), each replaced by its branch near the point."""

import sympy

from stablessm.calculus.approach import contradicts
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.exponentials import natural
from stablessm.calculus.limits import limit_at
from stablessm.calculus.outcomes import SYMPY_GAVE_UP, Undecided

_KINKS = (sympy.Abs, sympy.Max, sympy.Min, sympy.sign)
_STEPS = tuple(sympy.Integer(10) ** power for power in (300, 64, 16, 12, 6, 3))
_INFINITE = (sympy.oo, -sympy.oo)


def one_sided_limit(expression: sympy.Expr, variable: sympy.Symbol, point: sympy.Expr, side: str) -> sympy.Expr:
    """The limit of an expression without constants as the variable tends to a point from one side.

    A kink becomes the branch that its switch takes: by the limit of the switch, or where that is 0 by the sign at the
    nearest point at which it can be enclosed.

    Args:
        expression: elementary functions of the variable alone.
        variable: its variable.
        point: an exact number, `sympy.oo` or its negative.
        side: "+" from above, "-" from below; of no meaning where the point is infinite.

    Returns:
        An exact number, or plus or minus infinity.

    Raises:
        Undecided: no limit was found.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> one_sided_limit(sympy.Max(sympy.log(2 + w**2), 3), w, sympy.oo, "+")
        oo
        >>> one_sided_limit(-sympy.log(sympy.Abs(w)), w, sympy.S.Zero, "-")
        oo
    """
    expression = natural(expression, variable)
    try:
        value = limit_at(_on_branch(expression, variable, point, side), variable, point, side)
        refuted = contradicts(expression, variable, point, side, value)
    except SYMPY_GAVE_UP as error:
        raise Undecided(f"the limit of {expression} as {variable} tends to {point}") from error
    if refuted:
        raise Undecided(f"the limit of {expression} as {variable} tends to {point}: enclosures speak against {value}")
    return value


def _on_branch(expression, variable, point, side):
    while True:
        kinks = (node for node in sympy.postorder_traversal(expression) if isinstance(node, _KINKS))
        kink = next((node for node in kinks if node.has(variable)), None)
        if kink is None:
            return expression
        first, *others = kink.args
        sign = _sign_near(first - others[0] if others else first, variable, point, side)
        if isinstance(kink, sympy.Abs):
            branch = sign * first
        elif isinstance(kink, sympy.sign):
            branch = sympy.Integer(sign)
        else:
            takes_first = sign >= 0 if isinstance(kink, sympy.Max) else sign <= 0
            branch = kink.func(first if takes_first else others[0], *others[1:])
        expression = expression.xreplace({kink: branch})


def _sign_near(switch, variable, point, side):
    value = limit_at(switch, variable, point, side)
    if value.is_extended_positive or value.is_extended_negative:
        return 1 if value.is_extended_positive else -1
    for step in _STEPS:
        if point in _INFINITE:
            place = step if point is sympy.oo else -step
        else:
            place = point + 1 / step if side == "+" else point - 1 / step
        try:
            found = enclose(switch, {variable: place})
        except ArithmeticError:
            continue
        if found.a > 0 or found.b < 0 or found.a == found.b == 0:
            return int(found.a > 0) - int(found.b < 0)
    raise Undecided(f"the sign of {switch} as {variable} tends to {point}")
