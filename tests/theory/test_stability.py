"""The range of every map and its condition, against dense numeric scans of the eigenvalue."""

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.theory.problem import problem_of
from stablessm.theory.stability import stability

PAIRS = [(name, link) for name, one in PARAMETERIZATIONS.items() for link in one.links]
STABLE = {
    ("exp", "continuous"), ("exp", "exponential"), ("softplus", "continuous"), ("softplus", "exponential"),
    ("best", "continuous"), ("best", "exponential"), ("tanh", "one-minus"), ("sigmoid", "continuous"),
    ("sigmoid", "one-minus"), ("sigmoid", "exponential"), ("clip", "continuous"), ("clip", "exponential"),
}  # fmt: skip
WEIGHTS = np.concatenate([[0.0], *(sign * np.geomspace(1e-3, 30, 120) for sign in (1, -1))])


def problem(one):
    return problem_of(one.expression, one.link, one.constants, one.restrictions)


def eigenvalues(one, weights=WEIGHTS):
    """lambda at many weights with 60 digits, None where it is not real; independent of the theory package."""
    w = next(iter(s for s in one.expression.free_symbols if s.name == "w"))
    values = {s: mpmath.mpf(one.constants[s.name]) for s in one.expression.free_symbols if s.name != "w"}
    order = sorted(values, key=str)
    decay = sympy.lambdify([w, *order], one.expression, "mpmath")
    link = {"continuous": lambda s: -s, "one-minus": lambda s: 1 - s, "exponential": lambda s: mpmath.exp(-s)}[one.link]
    found = []
    with mpmath.workdps(60):
        for weight in weights:
            try:
                value = decay(mpmath.mpf(weight), *(values[s] for s in order))
            except (ZeroDivisionError, ValueError):
                found.append(None)
                continue
            found.append(link(value) if mpmath.im(value) == 0 and mpmath.isfinite(value) else None)
    return found


def is_stable(one, value):
    # Comparisons only: abs() would round to the working precision, and 1 - 1e-30 to 1.
    return value is not None and (value < 0 if one.link == "continuous" else -1 < value < 1)


@pytest.mark.parametrize("name, link", PAIRS)
def test_built_in_maps(name, link):
    one = PARAMETERIZATIONS[name].replace(link=link)
    statement = stability(problem(one))
    assert statement.verdict == ("proved" if (name, link) in STABLE else "refuted")
    scan = all(is_stable(one, value) for value in eigenvalues(one))
    assert scan == (statement.verdict == "proved")
    if statement.counterexample:
        check_counterexample(one, statement)


def check_counterexample(one, statement):
    example = statement.counterexample
    (value,) = eigenvalues(one.replace(constants=dict(example.constants)), [example.weight])
    if example.eigenvalue is None:
        assert value is None
    else:
        assert float(value) == pytest.approx(example.eigenvalue, rel=1e-12, abs=1e-300)
        assert not is_stable(one, value)


@pytest.mark.parametrize("b, verdict", [(0.4, "refuted"), (0.5, "refuted"), (0.6, "proved"), (1.0, "proved")])
def test_best_touches_minus_one_at_one_half(b, verdict):
    statement = stability(problem(PARAMETERIZATIONS["best"].replace(link="one-minus", constants={"b": b})))
    assert (statement.verdict, statement.condition) == (verdict, "b > 1/2")
    if b == 0.5:
        assert statement.counterexample.to_json() == {"weight": 0.0, "eigenvalue": -1.0}


def test_best_without_values_is_refuted_with_constants_and_keeps_its_condition():
    statement = stability(problem(Parameterization.from_formula("1/(a*w^2 + b)", link="one-minus")))
    assert (statement.verdict, statement.condition) == ("refuted", "b > 1/2")
    assert dict(statement.counterexample.constants)["b"] <= 0.5


@pytest.mark.parametrize(
    "formula, link, verdict, condition",
    [
        ("log(1+w^2)", "continuous", "refuted", "never"),
        ("w^4+c", "continuous", "proved", "all c > 0"),
        ("w^4+c", "one-minus", "refuted", "never"),
        ("1/cosh(w)", "continuous", "proved", None),
        ("1/cosh(w)", "one-minus", "proved", None),
        ("w^2/(1+w^2)", "continuous", "refuted", "never"),
        ("exp(-w^2)+c", "continuous", "proved", "all c > 0"),
        ("exp(-w^2)+c", "one-minus", "refuted", "c < 1"),
        ("w^2 - 2*w + c", "continuous", "refuted", "c > 1"),
        ("c - tanh(w)", "continuous", "refuted", "c >= 1"),
    ],
)
def test_formulas_outside_the_catalogue(formula, link, verdict, condition):
    one = Parameterization.from_formula(formula, link=link)
    statement = stability(problem(one))
    assert (statement.verdict, statement.condition) == (verdict, condition)
    if statement.counterexample:
        check_counterexample(one, statement)


@pytest.mark.parametrize(
    "formula", ["log(w)", "sqrt(w)", "w", "1/w", "sqrt(w^2-1)", "log(w^2)", "w^1.5", "1/(w-2)^2", "abs(w-0.25)"]
)
def test_formulas_that_are_not_positive_or_not_real(formula):
    one = Parameterization.from_formula(formula)
    statement = stability(problem(one))
    assert statement.verdict == "refuted"
    check_counterexample(one, statement)


@pytest.mark.parametrize("formula", ["2^(-w)", "0.5^w", "10^(-w)", "2*2^(-w)", "sqrt(2)^(-w)", "2^(-w^3)", "c^w"])
def test_powers_of_a_number_pass_every_bound(formula):
    one = Parameterization.from_formula(formula, link="one-minus", constants={"c": 3.0} if "c" in formula else {})
    statement = stability(problem(one))
    assert statement.verdict == "refuted"
    assert "0 < s < oo" in statement.expression
    check_counterexample(one, statement)


def test_a_power_of_a_number_is_positive():
    statement = stability(problem(Parameterization.from_formula("2^w")))
    assert (statement.verdict, statement.expression) == ("proved", "0 < s < oo; s -> 0 as w -> -oo; s -> oo as w -> oo")


def test_an_eigenvalue_of_exactly_zero_is_zero():
    statement = stability(problem(Parameterization.from_formula("(2^w-0.5)^2")))
    assert statement.counterexample.to_json() == {"weight": -1.0, "eigenvalue": 0.0}


@pytest.mark.parametrize(
    "formula, weight",
    [
        ("w/w", 0.0), ("(exp(w)-1)/w", 0.0), ("sqrt(w)*relu(w)+1", -1.0), ("sqrt(w)^4+1", -1.0),
        ("w^p*relu(w)+1", -1.0),
        ("exp(2*log(w))+1", 0.0), ("1+0*log(abs(w))", 0.0), ("2+max(log(w), -1)", 0.0), ("(1/w)^(-2)+1", 0.0),
    ],
)  # fmt: skip
def test_a_formula_is_taken_as_it_is_written(formula, weight):
    statement = stability(problem(Parameterization.from_formula(formula)))
    assert statement.verdict == "refuted"
    assert (statement.counterexample.weight, statement.counterexample.eigenvalue) == (weight, None)


@pytest.mark.parametrize("formula", ["w^p*relu(w)+1", "sqrt(w^2)+1", "relu(w)^1.5+1", "sqrt(max(w,0))+1", "w^0+0*w"])
def test_a_formula_that_is_real_everywhere_has_no_gap(formula):
    constants = {"p": 2.0} if "p" in formula else {}
    assert stability(problem(Parameterization.from_formula(formula, constants=constants))).verdict == "proved"


def test_an_undefined_point_alone_is_a_counterexample():
    statement = stability(problem(Parameterization.from_formula("1/w^2")))
    assert statement.counterexample.to_json() == {"weight": 0.0, "eigenvalue": None}


def test_approaching_the_boundary_at_infinity_is_stable_and_noted():
    assert "s -> 0 as w -> -oo" in stability(problem(PARAMETERIZATIONS["exp"])).expression


def test_one_minus_tanh_is_not_refuted_by_cancellation():
    one = Parameterization.from_formula("1 - tanh(40*w)", link="one-minus")
    assert stability(problem(one)).verdict == "proved"


TEMPLATES = [
    "1/(p*w^2+q)",
    "p+exp(-q*w^2)",
    "p*exp(w)+q",
    "w^2-p*w+q",
    "p*abs(w)-q+1",
    "max(p*w, q)",
    "q-p*tanh(w)",
    "w^4+p*w+q",
]


@settings(max_examples=60, deadline=None)
@example("w^2-p*w+q", "continuous", 3.3, 2.6)  # exactly 0 at w = 2, and below 0 beside it
@given(
    st.sampled_from(TEMPLATES),
    st.sampled_from(["continuous", "one-minus", "exponential"]),
    st.integers(1, 40).map(lambda k: k / 10),
    st.integers(1, 40).map(lambda k: k / 10),
)
def test_verdicts_agree_with_a_dense_scan(formula, link, p, q):
    one = Parameterization.from_formula(formula, link=link, constants={"p": p, "q": q})
    statement = stability(problem(one))
    scan = eigenvalues(one, np.concatenate([np.linspace(-8, 8, 321), [-60.0, 60.0]]))
    if statement.verdict == "proved":
        assert all(is_stable(one, value) for value in scan)
    elif statement.verdict == "refuted":
        check_counterexample(one, statement)
    else:
        assert statement.expression.startswith("tried") or "tried" in statement.expression
