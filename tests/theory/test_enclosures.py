"""Enclosures of suprema and of the least g, against dense scans and against closed forms."""

import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from stablessm.calculus.boxes import evaluator
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.special import Chi, Phi, Psi
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory.bounds import Bound
from stablessm.theory.ends import near_end
from stablessm.theory.modulus import modulus
from stablessm.theory.oscillation import least_at
from stablessm.theory.problem import W, problem_of
from stablessm.theory.quantities import quantities_of
from stablessm.theory.suprema import rounded, supremum_of

oo = sympy.oo


def problem(formula, link="continuous", **constants):
    one = PARAMETERIZATIONS.get(formula) or Parameterization.from_formula(formula)
    one = one.replace(link=link, constants=constants)
    return problem_of(one.expression, one.link, one.constants, one.restrictions).specialised()


def margins(case, weights):
    """The margin over float64 weights, from the formula alone."""
    s = sympy.lambdify(W, case.decay, "numpy")(weights) * np.ones_like(weights)
    return {"continuous": s, "one-minus": np.minimum(s, 2 - s), "exponential": -np.expm1(-s)}[case.link]


@pytest.mark.matrix(3)
@pytest.mark.parametrize(
    "formula, link, constants",
    [
        ("best", "one-minus", {"b": 0.6}), ("best", "one-minus", {"b": 0.55}), ("best", "exponential", {}),
        ("w^4+c", "continuous", {"c": 1.0}), ("sqrt(abs(w))+1", "continuous", {}), ("clip", "continuous", {}),
        ("softplus(w)+0.01", "continuous", {}), ("exp(-w^2)+c", "one-minus", {"c": 0.5}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_least_g_holds_the_largest_ratio_of_a_scan(formula, link, constants, beta):
    case = problem(formula, link, **constants)
    found = least_at(case, beta, Bound(()))
    weights = np.unique(np.concatenate([np.linspace(-8, 8, 32_001), np.linspace(-beta - 2e-4, 2e-4, 20_001)]))
    steps = np.linspace(-beta, beta, 101)
    scan = max((margins(case, weights) / margins(case, weights + step)).max() - 1 for step in steps)
    assert scan <= found.upper * (1 + 1e-9)
    assert found.lower <= found.upper <= found.lower * 1.001
    assert scan >= found.lower * (1 - 0.02)  # an unequal step between two of the scan may be the best one


@pytest.mark.matrix(2)
@pytest.mark.parametrize("b, published", [(0.6, 0.2592), (0.55, 0.4504)])
def test_best_where_lambda_is_negative_too(b, published):
    one = PARAMETERIZATIONS["best"].replace(link="one-minus", constants={"b": b})
    case = problem_of(one.expression, one.link, one.constants, one.restrictions)
    found = least_at(case.specialised(), 0.1, Bound(()))
    assert found.lower - 5e-5 < published < found.upper + 5e-5
    statement = modulus(case)
    assert (statement.verdict, statement.condition, statement.method) == ("proved", "b > 1/2", "enclosure")
    assert f"g(0.1) lies in {found.text()}" in statement.expression


@pytest.mark.parametrize(
    "formula, link, identity, exact",
    [
        ("best", "continuous", "modulus", math.sqrt(2)), ("best", "continuous", "gradient_over_weight", 2.0),
        ("softplus", "continuous", "modulus", 1.0), ("1/cosh(w)", "continuous", "modulus", 1.0),
        ("sqrt(1+w^2)", "continuous", "curvature", 3 * math.sqrt(15) / 250),
        ("exp(w)+exp(-w)", "continuous", "lipschitz", 0.5), ("sigmoid", "exponential", "modulus", 1.0),
    ],
)  # fmt: skip
def test_suprema_with_a_closed_form_lie_inside(formula, link, identity, exact):
    found = supremum_of(quantities_of(problem(formula, link), identity), Bound(()))
    assert found.lower <= exact * (1 + 1e-12) and exact <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower < 1e-3 * exact


@pytest.mark.parametrize(
    "quantity, end, weight",
    [
        (sympy.exp(W) / ((1 + sympy.exp(W)) * sympy.log(1 + sympy.exp(W))), -oo, -20),  # 0/0 in e^w
        (sympy.exp(W) / ((1 + sympy.exp(W)) * sympy.log(1 + sympy.exp(W))), oo, 20),
        (W**5 * sympy.exp(-(W**2)) + 1 / W, oo, 6),
        ((1 - sympy.exp(-W)) / W, sympy.Integer(0), sympy.Rational(1, 8)),
        (Phi(1 / (1 + W**2)) * W**2 / (3 + W**2), -oo, -5),
    ],
)
def test_bounds_towards_an_end_hold_on_the_way_there(quantity, end, weight):
    low, high = near_end(quantity, end, "+", sympy.sympify(weight))
    for step in range(12):
        place = weight / sympy.Integer(3) ** step if end == 0 else weight * (1 + sympy.Rational(step, 4))
        value = enclose(quantity, {W: place})
        assert low <= mpmath.mpf(value.b) and mpmath.mpf(value.a) <= high
    assert high - low < 1


FORMS = [
    W**3 - 2 * W, sympy.exp(-(W**2)) * sympy.tanh(W), 1 / (1 + W**2), sympy.log(1 + sympy.exp(W)), sympy.cosh(W) ** -2,
    sympy.Max(-W, 1) * sympy.Abs(W - 1), sympy.erf(W) + sympy.sinh(W / 9), sympy.sqrt(W**2 + 1), Phi(W**2),
    Psi(W**2), Chi(W**2 / 3), sympy.Abs(W) ** sympy.Rational(3, 2),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FORMS), st.floats(-8, 8), st.floats(0, 2), st.floats(0, 1))
def test_boxes_contain_what_exact_arithmetic_gives(form, low, width, part):
    high = low + width
    at = min(max(low + part * width, low), high)
    below, above = evaluator(form, W)(np.array([low]), np.array([high]))
    value = enclose(form, {W: sympy.Rational(at)})
    assert mpmath.mpf(float(below[0])) <= mpmath.mpf(value.b) and mpmath.mpf(value.a) <= mpmath.mpf(float(above[0]))


def test_digits_are_rounded_outwards():
    for value in (0.123456789, 2 / 3, 1e-9 / 7, 12345678.9, 1.0):
        assert float(rounded(value, down=True)) <= value <= float(rounded(value, down=False))
