"""Targets with a formula: their samples, constants and closed forms."""

import dataclasses

import mpmath
import numpy as np
import pytest

from stablessm.targets import TARGETS, Target, TargetError, target_of
from stablessm.targets.closed_forms import CLOSED_FORMS, norm, transform

WITH_FORMULA = [one for one in TARGETS.values() if isinstance(one, Target)]
VARIANTS = [
    *WITH_FORMULA,
    TARGETS["polynomial"].replace(constants={"p": 1.7, "c": 3.0}),
    TARGETS["exponential"].replace(constants={"r": 0.3}),
]


def reference(target):
    """rho(t) written a second time, in mpmath."""
    c = target.constants
    exp, Ai = mpmath.exp, mpmath.airyai
    return {
        "exponential": lambda t: exp(-c["r"] * t),
        "polynomial": lambda t: (1 + c["c"] * t) ** -c["p"],
        "slow_polynomial": lambda t: (1 + c["c"] * t) ** -c["p"],
        "sine": mpmath.sin,
        "shift": lambda t: mpmath.mpf(9 < t < 11),
        "two_part": lambda t: exp(-t) + exp(-((t - 9) ** 2)),
        "airy": lambda t: Ai(t - 6),
    }[target.name]


@pytest.mark.parametrize("target", VARIANTS, ids=lambda one: one.name)
@pytest.mark.parametrize("step_size", [1.0, 0.375])
def test_samples_are_those_of_the_formula(target, step_size):
    found = target.kernel(40, step_size=step_size)
    expected = [float(reference(target)(mpmath.mpf(k * step_size))) for k in range(40)]
    assert found.dtype == np.float64
    # The condition of Ai and sin at their zeros is absolute; everything here is of size 1.
    assert np.abs(found - expected).max() < 64 * np.finfo(float).eps


@pytest.mark.parametrize("target", VARIANTS, ids=lambda one: one.name)
def test_the_norm_is_the_integral_of_the_square(target):
    rho = reference(target)
    if target.name == "sine":
        assert norm(target) == mpmath.inf
        return
    breaks = {"shift": [9, 11], "exponential": [0, mpmath.inf]}.get(target.name, [0, 6, 9, 12, 30, mpmath.inf])
    assert mpmath.almosteq(norm(target) ** 2, mpmath.quad(lambda t: rho(t) ** 2, breaks), rel_eps=1e-10)


def test_a_polynomial_that_is_not_square_integrable_has_an_infinite_norm():
    assert norm(TARGETS["polynomial"].replace(constants={"p": 0.5})) == mpmath.inf


@pytest.mark.parametrize("target", [one for one in VARIANTS if one.name != "airy"], ids=lambda one: one.name)
def test_the_transform_is_the_integral_against_an_exponential(target):
    rho, s = reference(target), mpmath.mpf("0.8")
    breaks = [9, 11] if target.name == "shift" else [0, 3, 6, 9, 12, 20, 40, mpmath.inf]
    expected = mpmath.quad(lambda t: rho(t) * mpmath.exp(-s * t), breaks)
    assert mpmath.almosteq(transform(target, s), expected, rel_eps=1e-10)


def test_what_has_no_closed_form_says_so():
    with pytest.raises(TargetError, match="'airy' has no closed form"):
        transform(TARGETS["airy"], 1.0)
    with pytest.raises(TargetError, match="no closed form; the formulas that have one"):
        norm(Target.from_formula("1/(1 + t^2)"))
    with pytest.raises(TargetError, match="positive real part"):
        transform(TARGETS["exponential"], -1.0)
    assert {one.formula for one in WITH_FORMULA} == set(CLOSED_FORMS)


def test_closed_forms_go_by_the_formula():
    renamed = dataclasses.replace(TARGETS["sine"], name="mine")
    assert transform(renamed, 2.0) == transform(TARGETS["sine"], 2.0)
    assert float(transform(renamed, 2.0)) == 0.2


def test_a_formula_of_the_users_own():
    mine = Target.from_formula("exp(-r*t)*cos(3*t)", constants={"r": 0.5})
    t = np.arange(10) * 0.5
    assert mine.kernel(10, step_size=0.5) == pytest.approx(np.exp(-0.5 * t) * np.cos(3 * t), rel=1e-14)
    assert Target.from_formula("2").kernel(3).tolist() == [2, 2, 2]
    assert hash(mine) == hash(Target.from_formula("exp(-r*t)*cos(3*t)", constants={"r": 0.5}))


@pytest.mark.parametrize(
    ("formula", "constants", "fragment"),
    [
        ("exp(-k*t)", {}, "needs a value for k"),
        ("exp(-k*t)", {"k": -1.0}, "positive finite number"),
        ("exp(-k*t)", {"k": True}, "positive finite number"),
        ("exp(-k*t)", {"k": float("nan")}, "positive finite number"),
        ("exp(-t)", {"k": 1.0}, "no constant 'k'"),
        ("exp(-w)", {}, "needs a value for w"),
        ("open(t)", {}, "not one of the functions"),
        ("exp(-t", {}, "cannot be read"),
    ],
)
def test_a_formula_that_cannot_be_used_is_one_sentence(formula, constants, fragment):
    with pytest.raises(TargetError, match=fragment):
        Target.from_formula(formula, constants=constants)


@pytest.mark.parametrize("formula", ["1/t", "log(t)", "sqrt(t - 3)", "exp(t^3)"])
def test_a_kernel_is_finite_and_real(formula):
    with pytest.raises(TargetError, match="not a finite real number at t = "):
        Target.from_formula(formula).kernel(20)


def test_samples_that_cannot_show_the_kernel_are_refused():
    for name in ("shift", "airy"):
        TARGETS[name].check(20, 1.0)
        TARGETS[name].check(200, 0.1)
        with pytest.raises(TargetError, match="horizon of at least 20"):
            TARGETS[name].check(20, 0.5)
    with pytest.raises(TargetError, match="zero at all 5 samples"):
        Target.from_formula("step(t - 9)").check(5, 1.0)


def test_a_target_is_looked_up_by_its_name_or_stands_for_itself():
    mine = Target.from_formula("exp(-t)")
    assert target_of("airy") is TARGETS["airy"] and target_of(mine) is mine
    with pytest.raises(TargetError, match="built-in ones are exponential"):
        target_of("nothing")
