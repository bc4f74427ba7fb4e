"""Formulas outside the catalogue under every link: each verdict against an experiment that knows the formula alone.

The experiment evaluates the formula with mpmath at many weights in 40 digits and takes differences; nothing of the
theory package is used. What is proved holds at every weight; what is refuted fails at the weight named.
"""

import re

import mpmath
import pytest

from stablessm.parameterizations import Parameterization
from stablessm.theory import verify

mpmath_digits = 40
LINKS = ("continuous", "one-minus", "exponential")
FORMULAS = {
    "log(1+w^2)": (lambda w, c: mpmath.log1p(w * w), {}),
    "w^4+c": (lambda w, c: w**4 + c, {"c": 0.7}),
    "1/cosh(w)": (lambda w, c: 1 / mpmath.cosh(w), {}),
    "w^2/(1+w^2)": (lambda w, c: w * w / (1 + w * w), {}),
    "exp(-w^2)+c": (lambda w, c: mpmath.exp(-w * w) + c, {"c": 0.4}),
}
WEIGHTS = [mpmath.mpf(n) / 16 for n in range(-96, 97)] + [s * mpmath.mpf(10) ** -k for k in (3, 6) for s in (1, -1)]


class Experiment:
    """Numbers of one formula under one link."""

    def __init__(self, formula, link):
        self.function, self.constants = FORMULAS[formula]
        self.c, self.link = mpmath.mpf(str(self.constants.get("c", 1))), link

    def decay(self, w):
        return self.function(mpmath.mpf(w), self.c)

    def eigenvalue(self, w):
        s = self.decay(w)
        return {"continuous": -s, "one-minus": 1 - s, "exponential": mpmath.exp(-s)}[self.link]

    def is_stable(self, w):
        f = self.eigenvalue(w)
        return f < 0 if self.link == "continuous" else -1 < f < 1

    def margin(self, w):
        f = self.eigenvalue(w)
        return -f if self.link == "continuous" else 1 - abs(f)

    def slope(self, w, order=1):
        return mpmath.diff(self.eigenvalue, w, order)

    def over_weight(self, w):
        return abs(self.slope(w)) / self.margin(w) ** 2 / abs(w)

    def second(self, w):
        return abs(mpmath.diff(lambda x: 1 / (abs(f) if self.link == "continuous" else 1 - f)
                               if (f := self.eigenvalue(x)) is not None else None, w, 2))  # fmt: skip

    def inverse_step(self, w):
        f, slope = self.eigenvalue(w), self.slope(w)
        if self.link == "continuous":
            return slope**2 / (4 * abs(f) ** 3)
        return (1 + f * f) * slope**2 / (1 - f * f) ** 3


BOUNDED = {"gradient_over_weight": Experiment.over_weight, "lipschitz": Experiment.second,
           "curvature": Experiment.inverse_step}  # fmt: skip


@pytest.fixture(scope="module", params=[(f, link) for f in FORMULAS for link in LINKS], ids="-".join)
def case(request):
    formula, link = request.param
    experiment = Experiment(formula, link)
    one = Parameterization.from_formula(formula, link=link, constants=experiment.constants)
    return experiment, verify(one)


@pytest.mark.matrix(5)
def test_every_verdict_is_what_an_experiment_finds(case):
    experiment, certificate = case
    with mpmath.workdps(mpmath_digits):
        stable = [w for w in WEIGHTS if experiment.is_stable(w)]
        everywhere = len(stable) == len(WEIGHTS) and experiment.is_stable(0)
        check_stability(experiment, certificate["stability"], everywhere)
        check_modulus(experiment, certificate["modulus"], stable)
        check_scale(experiment, certificate["gradient_scale"], stable)
        for identity, size in BOUNDED.items():
            check_bounded(experiment, certificate[identity], size, stable)
        ratios = {mpmath.nstr(1 / experiment.over_weight(w), 10) for w in stable[:40] if w > 0.1 or w < -0.1}
        assert (certificate["criterion"].verdict == "proved") == (len(ratios) == 1)


def check_stability(experiment, statement, everywhere):
    assert statement.verdict == ("proved" if everywhere else "refuted")
    if not everywhere:
        weight = statement.counterexample.weight
        assert not experiment.is_stable(weight)
        assert statement.counterexample.eigenvalue == pytest.approx(float(experiment.eigenvalue(weight)), abs=1e-12)


def check_modulus(experiment, statement, stable):
    """Ratios of margins at the distance 1/10, over the weights and ever nearer to the one at which it fails."""
    number = r"(-?[0-9.e+-]+)"
    if statement.verdict == "refuted":
        pair = re.search(rf"at w = {number}, w~ = {number}, m the margin", statement.expression)
        one, other = (mpmath.mpf(text) for text in pair.groups())
        assert abs(one - other) <= 1 + 1e-9
        assert experiment.margin(one) / experiment.margin(other) > 1e5
        return
    assert statement.verdict == "proved"
    step = mpmath.mpf(1) / 10
    ratios = [experiment.margin(w) / experiment.margin(w + d) - 1 for w in stable for d in (step, -step)]
    enclosed = re.search(rf"g\(0.1\) lies in \[{number}, {number}\]", statement.expression)
    if enclosed:
        low, high = (float(text) for text in enclosed.groups())
        assert 0.97 * low < max(ratios) < high * (1 + 1e-9)
    else:
        assert "g(beta) = exp(beta) - 1" in statement.expression
        assert 0.97 * mpmath.expm1(step) < max(ratios) <= mpmath.expm1(step) * (1 + 1e-9)


def check_scale(experiment, statement, stable):
    """The first closed form of the statement, as a function of w, at weights with lambda >= 0."""
    assert statement.verdict == "proved"
    formula = re.search(r"\)?\^2 = (.+?)(?: = | where |;|$)", statement.expression)[1]
    names = {name: getattr(mpmath, name) for name in ("exp", "log", "cosh", "sinh", "sqrt")}
    for weight in stable[::16]:
        if experiment.link == "one-minus" and experiment.eigenvalue(weight) < 0:
            continue
        found = eval(formula, names | {"abs": abs, "w": weight, "c": experiment.c})  # the formula language is Python's
        expected = abs(experiment.slope(weight)) / experiment.margin(weight) ** 2
        assert abs(found - expected) <= mpmath.mpf(10) ** -12 * (1 + expected)


def check_bounded(experiment, statement, size, stable):
    if statement.verdict == "refuted":
        weight = mpmath.mpf(statement.counterexample.weight)
        assert size(experiment, weight) > 1e6 * 0.9
        return
    assert statement.verdict == "proved"
    level = re.search(r"lies in \[[^,]+, ([0-9.e+-]+)\]", statement.expression)
    largest = max(size(experiment, w) for w in stable if w)
    assert level is None or largest <= float(level[1]) * (1 + 1e-6)
    assert largest < 1e4


@pytest.mark.parametrize(
    "formula, link, weight, identities",
    [
        ("(-2)^w", "continuous", None, ("stability", "modulus", "gradient_scale", "criterion")),
        ("sqrt(-1-exp(w))", "one-minus", None, ("stability", "modulus", "curvature")),
        ("-1-w^2", "exponential", None, ("stability", "modulus", "gradient_scale", "lipschitz")),
        ("sqrt(w)", "continuous", 0.0, ("stability",)),
        ("abs(w)+1", "continuous", 0.0, ("lipschitz",)),
        ("log(w^2)", "continuous", None, ("stability",)),
    ],
)
def test_what_fails_and_where_for_formulas_that_are_not_real_smooth_or_defined(formula, link, weight, identities):
    certificate = verify(Parameterization.from_formula(formula, link=link))
    for identity in identities:
        statement = certificate[identity]
        assert statement.verdict == "refuted", identity
        assert weight is None or statement.counterexample.weight == weight
