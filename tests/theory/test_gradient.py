"""Gradient scales against mpmath's numeric differentiation and the table of Theorem 3.4."""

import re

import mpmath
import pytest
import sympy

from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory.curvature import curvature
from stablessm.theory.gradient import (
    as_function_of_decay,
    gradient_scale,
    modulus_on,
    over_weight_by_decay,
    scale_cells,
)
from stablessm.theory.problem import S, W, problem_of

PAIRS = [(name, link) for name, one in PARAMETERIZATIONS.items() for link in one.links]
FORMULAS = ["log(1+w^2)", "w^4+c", "1/cosh(w)", "w^2/(1+w^2)", "exp(-w^2)+c"]


def problem(one):
    return problem_of(one.expression, one.link, one.constants, one.restrictions)


def numeric_scale(one, weight):
    """|f'|/f^2 or |f'|/(1 - |f|)^2 by numeric differentiation of the formula."""
    w = next(s for s in one.expression.free_symbols if s.name == "w")
    values = {s: sympy.Float(str(one.constants.get(s.name, 0.7)), 50) for s in one.expression.free_symbols if s != w}
    decay = sympy.lambdify(w, one.expression.subs(values), "mpmath")
    f = {
        "continuous": lambda x: -decay(x),
        "one-minus": lambda x: 1 - decay(x),
        "exponential": lambda x: mpmath.exp(-decay(x)),
    }[one.link]
    margin = abs(f(weight)) if one.link == "continuous" else 1 - abs(f(weight))
    return None if margin <= 0 or decay(weight) <= 0 else abs(mpmath.diff(f, weight)) / margin**2


@pytest.mark.matrix(3)
@pytest.mark.parametrize(
    "one",
    [PARAMETERIZATIONS[name].replace(link=link) for name, link in PAIRS]
    + [Parameterization.from_formula(text, link=link) for text in FORMULAS for link in ("continuous", "one-minus")],
    ids=lambda one: f"{one.name}-{one.link}",
)
def test_closed_forms_against_numeric_differentiation(one):
    case = problem(one)
    assert gradient_scale(case).verdict == "proved"
    names = dict(case.names)
    values = {s: sympy.Float(str(one.constants.get(names[s], 0.7)), 50) for s in case.constants}
    checked = 0
    with mpmath.workdps(40):
        for cell in scale_cells(case):
            scale, by_decay = modulus_on(cell, cell.slope() / cell.margin() ** 2), as_function_of_decay(cell)
            for weight in (-3.3, -1.7, -0.37, 0.41, 1.1, 2.9):
                if not cell.lower.subs(values) < weight < cell.upper.subs(values):
                    continue
                expected = numeric_scale(one, mpmath.mpf(weight))
                s = cell.decay.subs(values).subs(W, sympy.Float(weight, 40))
                if expected is None or (one.link == "one-minus" and (s < 1) != (cell.branch == "s")):
                    continue
                found = scale.subs(values).subs(W, sympy.Float(weight, 40)).evalf(30)
                assert float(abs(found - expected)) <= 1e-15 * float(expected) + 1e-25
                if by_decay is not None:
                    assert (
                        float(abs(by_decay.subs(values).subs(S, s).evalf(30) - expected))
                        <= 1e-15 * float(expected) + 1e-25
                    )
                checked += 1
    assert checked


a, b = sympy.symbols("a b", positive=True)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("direct", 1 / S**2),
        ("exp", 1 / S),
        ("softplus", (1 - sympy.exp(-S)) / S**2),
        ("best", 2 * sympy.sqrt(a * (1 / S - b))),
    ],
)
def test_the_table_of_theorem_3_4(name, expected):
    case = problem(PARAMETERIZATIONS[name])
    back = {symbol: sympy.Symbol(own, positive=True) for symbol, own in case.names}
    found = [as_function_of_decay(cell).subs(back) for cell in scale_cells(case)]
    for scale in found:
        assert sympy.simplify(scale**2 - expected**2) == 0


@pytest.mark.parametrize(
    "name, constants, expected",
    [
        ("direct", {}, 400), ("exp", {}, 20), ("softplus", {}, 19.5082302),
        ("best", {"b": 0.5}, 8.83176087), ("best", {"b": 0.1}, 8.92188321),
    ],
)  # fmt: skip
def test_published_values_at_a_decay_of_one_twentieth(name, constants, expected):
    case = problem(PARAMETERIZATIONS[name].replace(constants=constants)).specialised()
    found = as_function_of_decay(scale_cells(case)[0]).subs(S, sympy.Rational(1, 20))
    assert float(found) == pytest.approx(expected, rel=1e-8)


def test_the_discrete_form_uses_the_modulus():
    text = gradient_scale(problem(PARAMETERIZATIONS["best"].replace(link="one-minus"))).expression
    assert text.startswith("|f'|/(1 - |f|)^2")
    assert re.search(r"2\*a\*abs\(w\)/\(2\*a\*w\*\*2 \+ 2\*b - 1\)\*\*2 .* where 1 <= s < 2", text)


def test_a_flat_piece_is_no_cancellation():
    assert gradient_scale(problem(Parameterization.from_formula("max(abs(w),0.1)"))).verdict == "proved"


def test_a_constant_piece_on_the_boundary_has_no_scale():
    one = Parameterization.from_formula("max(min(w,2),exp(-1))", link="one-minus")
    statement = gradient_scale(problem(one))
    assert statement.verdict == "proved"
    for part in ("1/(w - 2)**2 = 1/(s - 2)**2 where exp(-1) < w < 2 and 1 <= s < 2", "0 where -oo < w < exp(-1)"):
        assert part in statement.expression
    assert "2 < w" not in statement.expression


@pytest.mark.parametrize("formula, shown", [("(2+w)/(1+w^2)+1", ""), ("w^2-2*w+1.5", " = 4*s**3/(4*s - 2)")])
def test_two_weights_of_one_decay_have_no_common_form_unless_they_agree(formula, shown):
    one = problem(Parameterization.from_formula(formula))
    assert curvature(one).expression.split(";")[0] == f"largest stable step 4 s^3/f'^2{shown}"
    assert over_weight_by_decay(one, scale_cells(one)) == ""
