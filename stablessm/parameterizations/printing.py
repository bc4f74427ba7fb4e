"""Text in the formula language, from an expression: what every printer of formulas does alike."""

from __future__ import annotations

import sympy
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter


class FormulaPrinter(StrPrinter):
    """1/s**2 for s**(-2), exp(1) for e, lower-case abs, max and min."""

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:
        if expr.exp.is_Rational and expr.exp < 0 and expr.exp != -1 and expr.base.is_commutative:
            return f"1/{self.parenthesize(expr.base**-expr.exp, PRECEDENCE['Mul'] + 1)}"
        return super()._print_Pow(expr, rational)

    def _print_Exp1(self, expr: sympy.Expr) -> str:
        return "exp(1)"

    def _print_Abs(self, expr: sympy.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: sympy.Max) -> str:
        return f"max({self.stringify(expr.args, ', ')})"

    def _print_Min(self, expr: sympy.Min) -> str:
        return f"min({self.stringify(expr.args, ', ')})"
