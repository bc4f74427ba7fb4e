"""The criteria, Definition 3.2 and the curvature, against dense scans and the tables of sections 3 and 4."""

import math
import re

import mpmath
import numpy as np
import pytest
import sympy

from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory.criteria import criterion, gradient_over_weight, lipschitz, solution
from stablessm.theory.curvature import curvature, largest_step
from stablessm.theory.domain import cells_of
from stablessm.theory.least import BETA, largest_ratio
from stablessm.theory.modulus import modulus
from stablessm.theory.problem import S, W, problem_of


def problem(name, link=None, **constants):
    one = PARAMETERIZATIONS[name] if name in PARAMETERIZATIONS else Parameterization.from_formula(name)
    one = one.replace(link=link, constants=constants)
    return problem_of(one.expression, one.link, one.constants, one.restrictions)


@pytest.mark.parametrize(
    "name, link, verdict, text",
    [
        ("best", "continuous", "proved", "|f'|/(f^2 |w|) = 2*a for every w"),
        ("direct", "continuous", "refuted", "abs(w)^(-3) as w -> 0-"),
        ("exp", "continuous", "refuted", "exp(-w), up to powers, as w -> -oo, and like abs(w)^(-1) as w -> 0-"),
        ("softplus", "continuous", "refuted", "exp(-w), up to powers, as w -> -oo"),
        ("tanh", "one-minus", "refuted", "exp(2*w), up to powers, as w -> oo"),
        ("square", "exponential", "refuted", "abs(w)^(-4) as w -> 0"),
        ("clip", "continuous", "proved", "= 1/floor**3"),
        ("w^4+c", "continuous", "proved", "3*sqrt(3)/(4*c**(3/2))"),
        ("1/cosh(w)", "continuous", "refuted", "exp(w), up to powers, as w -> oo"),
        ("w^2/(1+w^2)", "continuous", "refuted", "abs(w)^(-4) as w -> 0"),
    ],
)
def test_gradient_over_weight(name, link, verdict, text):
    case = problem(name, link)
    statement = gradient_over_weight(case)
    assert statement.verdict == verdict
    assert text in statement.expression
    if verdict == "refuted":
        assert scale_over_weight(case, statement.counterexample.weight) > 1e6


def scale_over_weight(case, weight):
    """The ratio by exact differentiation in 60 digits; an independent evaluation of the counter-example."""
    case = case.specialised()
    decay = case.decay.replace(sympy.Max, lambda *xs: max(xs, key=lambda x: x.subs(W, weight)))
    point = sympy.Float(weight, 60)
    f = case.eigenvalue_of(decay)
    slope, value = abs(sympy.diff(f, W).subs(W, point).evalf(40)), abs(f.subs(W, point).evalf(40))
    return slope / (value if case.link == "continuous" else 1 - value) ** 2 / abs(point)


@pytest.mark.slow
@pytest.mark.matrix(3)
@pytest.mark.parametrize(
    "formula, link, p, over_weight, step",
    [
        ("abs(w)^p+1", "continuous", 1.5, "refuted", "proved"),
        ("abs(w)^p+1", "continuous", 0.5, "refuted", "refuted"),
        ("abs(w)^p+1", "continuous", 2.0, "proved", "proved"),
        ("relu(w)^p+1", "continuous", 1.5, "refuted", "proved"),
        ("(w^2)^p+1", "continuous", 0.7, "refuted", "proved"),
        ("1+abs(w)^(1+p)", "continuous", 0.5, "refuted", "proved"),
        ("exp(relu(w)^p)", "continuous", 1.5, "refuted", "proved"),
        ("abs(w)^p/(1+abs(w)^p)+1", "continuous", 1.5, "refuted", "proved"),
        ("(abs(w)^p+1)*2", "exponential", 1.5, "refuted", "proved"),
        ("1/(1+abs(w)^p+w^2)", "continuous", 2.0, "proved", "proved"),
        ("1/(1+abs(w)^p+w^2)", "continuous", 1.5, "refuted", "proved"),
    ],
)
def test_exponents_with_a_constant(formula, link, p, over_weight, step):
    one = Parameterization.from_formula(formula, link=link, constants={"p": p})
    case = problem_of(one.expression, one.link, one.constants, one.restrictions)
    first, second = gradient_over_weight(case), curvature(case)
    assert (first.verdict, second.verdict) == (over_weight, step)


def test_a_ratio_that_is_constant_for_one_exponent_alone():
    case = problem("1/(1+abs(w)^p+w^2)", p=2.0)
    assert "= 4 for every w" in gradient_over_weight(case).expression
    assert criterion(case).verdict == "proved"
    assert gradient_over_weight(problem("1/(1+abs(w)^p+w^2)")).condition != "never"


@pytest.mark.parametrize("formula", ["1/(1+w*w*log(1+w^2))"])
def test_growth_like_a_logarithm_is_refuted_in_words(formula):
    statement = gradient_over_weight(problem(formula))
    assert statement.verdict == "refuted"
    assert "slower than any power" in statement.expression
    assert "^(0)" not in statement.expression


@pytest.mark.parametrize("b", [0.55, 0.6, 0.9, 1.0, 2.0])
def test_best_in_discrete_time_has_the_corrected_supremum(b):
    statement = gradient_over_weight(problem("best", "one-minus", b=b))
    assert (statement.verdict, statement.condition) == ("proved", "b > 1/2")
    w = np.concatenate([np.geomspace(1e-4, 50, 4000)])
    s = 1 / (w**2 + b)
    ratio = 2 * w * s**2 / np.minimum(s, 2 - s) ** 2 / w
    assert ratio.max() <= max(2 / (2 * b - 1) ** 2, 2) * (1 + 1e-9)
    assert "max(2*a/(2*b - 1)**2, 2*a)" in statement.expression


def test_best_in_discrete_time_at_one_half_is_refuted_under_its_condition():
    statement = gradient_over_weight(problem("best", "one-minus", b=0.5))
    assert (statement.verdict, statement.condition) == ("refuted", "b > 1/2")


def test_the_criterion_is_solved_by_best_alone():
    a, b = sympy.symbols("a b", positive=True)
    assert sympy.simplify(solution(False)[0] + 1 / (a * W**2 + b)) == 0
    assert sympy.simplify(solution(True)[0] - 1 + 1 / (a * W**2 + b)) == 0
    for name, one in PARAMETERIZATIONS.items():
        for link in one.links:
            solves = name == "best" and link != "exponential"
            statement = criterion(problem(name, link))
            assert statement.verdict == ("proved" if solves else "refuted"), (name, link)
    assert criterion(problem("3/(7*w^2 + 2)")).verdict == "proved"
    assert criterion(problem("1/(w^2 + w + 2)")).verdict == "refuted"


@pytest.mark.parametrize(
    "name, verdict, text",
    [
        ("best", "proved", "= 2*a for every w"),
        ("exp", "refuted", "exp(-w)"),
        ("softplus", "refuted", "exp(-w), up to powers, as w -> -oo"),
        ("direct", "refuted", "abs(w)^(-3)"),
        ("clip", "refuted", "tau' jumps from 1/floor**2 to 0 at w = -floor"),
    ],
)
def test_lipschitz(name, verdict, text):
    statement = lipschitz(problem(name))
    assert statement.verdict == verdict
    assert text in statement.expression


@pytest.mark.parametrize(
    "name, link, texts",
    [
        ("exp", "continuous", ("g(beta) = exp(beta) - 1", "at every w, with w~ = w - beta")),
        ("softplus", "continuous", ("g(beta) = exp(beta) - 1", "approached as w -> -oo, w~ = w - beta")),
        ("sigmoid", "continuous", ("g(beta) = exp(beta) - 1",)),
        ("exp", "exponential", ("g(beta) = exp(beta) - 1",)),
        ("softplus", "exponential", ("g(beta) = exp(beta) - 1",)),
        ("sigmoid", "one-minus", ("g(beta) = exp(beta) - 1",)),
        ("tanh", "one-minus", ("g(beta) = exp(2*beta) - 1", "approached as w -> -oo, w~ = w - beta")),
        ("clip", "continuous", ("g(beta) = beta/floor", "attained at w = -beta - floor, w~ = -floor")),
        ("best", "continuous", ("g(beta) = exp(2*asinh(beta*sqrt(a/b)/2)) - 1; attained at w = beta/2 - ",)),
        ("sqrt(abs(w))+1", "continuous", ("|f'/f| is infinite at w = 0 only",)),
        ("1+w^3*exp(-w^2)", "continuous", ("g(beta) <=",)),
    ],
)
def test_moduli_of_definition_3_2(name, link, texts):
    statement = modulus(problem(name, link))
    assert statement.verdict == "proved"
    assert all(text in statement.expression for text in texts)


@pytest.mark.parametrize("name", ["direct", "relu", "square", "1/(a*w^2)", "exp(w^2)", "exp(-exp(w))"])
def test_maps_that_are_no_stable_reparameterization_have_a_pair_that_shows_it(name):
    case = problem(name, "continuous")
    statement = modulus(case)
    assert statement.verdict == "refuted"
    number = r"(-?[0-9.e+-]+)"
    found = re.search(
        rf"no g exists: \|m\(w\)/m\(w~\) - 1\| = {number} at w = {number}, w~ = {number},", statement.expression
    )
    said, weight, other = (mpmath.mpf(text) for text in found.groups())
    decay = sympy.lambdify(W, case.decay.subs(dict.fromkeys(case.constants, 1)), "mpmath")
    assert abs(weight - other) <= 1 + 1e-9
    assert decay(weight) / decay(other) - 1 == pytest.approx(said, rel=0.01)
    assert said > 1e5


def test_an_edge_of_the_stable_set_leaves_no_modulus():
    assert "not stable beyond w = 0" in modulus(problem("w^0.5+1")).expression


@pytest.mark.slow
def test_modulus_of_best_in_discrete_time_in_general():
    for b in (1.0, 2.0):
        text = modulus(problem("best", "one-minus", b=b)).expression
        assert "g(beta) = exp(2*asinh(beta*sqrt(a/b)/2)) - 1 for b >= 1, where lambda >= 0" in text


@pytest.mark.parametrize("b, verdict", [(0.5, "refuted"), (0.6, "proved"), (1.0, "proved")])
def test_modulus_of_best_in_discrete_time(b, verdict):
    statement = modulus(problem("best", "one-minus", b=b))
    assert (statement.verdict, statement.condition) == (verdict, "b > 1/2")


@pytest.mark.parametrize("b, beta, expected", [(0.5, 0.1, 0.15177447), (0.5, 0.5, 1.0), (0.1, 0.1, 0.37015621)])
def test_exact_modulus_of_best(b, beta, expected):
    case = problem("best", a=1, b=b)
    ratio = largest_ratio(case).ratio.subs(dict(case.values)).subs(BETA, sympy.Rational(str(beta)))
    assert float(ratio) - 1 == pytest.approx(expected, rel=1e-7)
    assert float(ratio) == pytest.approx(math.exp(2 * math.asinh(beta * math.sqrt(1 / b) / 2)), rel=1e-12)
    w = np.linspace(-6, 6, 200_001)
    scan = ((w + beta) ** 2 + b) / (w**2 + b)
    assert scan.max() == pytest.approx(float(ratio), rel=1e-6)
    assert scan.max() <= float(ratio) * (1 + 1e-12)


@pytest.mark.parametrize(
    "name, constants, expected",
    [
        ("direct", {}, 5e-4), ("exp", {}, 0.2), ("softplus", {}, 0.210210),
        ("best", {"b": 0.5}, 1.025641), ("best", {"b": 0.1}, 1.005025),
    ],
)  # fmt: skip
def test_largest_stable_steps(name, constants, expected):
    case = problem(name, **constants).specialised()
    step = float(largest_step(case, cells_of(case)[0]).subs(S, sympy.Rational(1, 20)))
    assert step == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "name, verdict", [("best", "proved"), ("exp", "refuted"), ("softplus", "refuted"), ("direct", "refuted")]
)
def test_only_the_step_of_best_does_not_vanish(name, verdict):
    assert curvature(problem(name)).verdict == verdict


def test_discrete_step_is_where_gradient_descent_changes_from_convergence_to_divergence():
    case = problem("exp", "exponential")
    q = 0.7
    s = -math.log(q)
    step = float(largest_step(case, cells_of(case)[0]).subs(S, s))
    k = np.arange(400)

    def distance(rate):
        optimum = math.log(s)
        w = optimum + 1e-6
        for _ in range(200):
            lam = math.exp(-math.exp(w))
            slope = np.sum(2 * (lam**k - q**k) * k * lam ** np.maximum(k - 1, 0))
            w -= rate * slope * lam * -math.exp(w)
        return abs(w - optimum)

    assert distance(0.95 * step) < 1e-8 < 1e-6 < distance(1.05 * step)
