"""Formulas composed at random: what is proved holds for the numbers, what is refuted fails at the weight named."""

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from stablessm.calculus.outcomes import Undecided
from stablessm.parameterizations import Parameterization
from stablessm.theory.criteria import gradient_over_weight
from stablessm.theory.curvature import curvature
from stablessm.theory.problem import problem_of
from stablessm.theory.stability import stability

INNER = {
    "w": lambda w, p: w,
    "abs(w)^p": lambda w, p: abs(w) ** p,
    "relu(w)^p": lambda w, p: max(w, 0) ** p,
    "(w^2)^p": lambda w, p: (w * w) ** p,
    "2^(-w)": lambda w, p: 2 ** (-w),
    "(1+p)^w": lambda w, p: (1 + p) ** w,
    "w^2*exp(-w)": lambda w, p: w * w * mpmath.exp(-w),
    "tanh(w)": lambda w, p: mpmath.tanh(w),
    "w*sqrt(w)": lambda w, p: w * mpmath.sqrt(w) if w >= 0 else mpmath.nan,
    "w^3/w": lambda w, p: w * w if w else mpmath.nan,
}
OUTER = {
    "1+{}": lambda x: 1 + x,
    "1/(1+({})^2)": lambda x: 1 / (1 + x * x),
    "exp({})": mpmath.exp,
    "softplus({})": lambda x: mpmath.log1p(mpmath.exp(x)),
    "0.3+abs({})": lambda x: mpmath.mpf("0.3") + abs(x),
    "({})^2+0.7": lambda x: x * x + mpmath.mpf("0.7"),
}
WEIGHTS = [sign * mpmath.mpf(10) ** k for k in (-12, -6, -2, 0) for sign in (1, -1)]
WEIGHTS += [mpmath.mpf(n) / 7 for n in range(-70, 71, 4)] + [mpmath.mpf(0), mpmath.mpf(30), mpmath.mpf(-30)]
BOUND = 1e6


def is_stable(s, link):
    return not mpmath.isnan(s) and s > 0 and (link != "one-minus" or s < 2)


def quotients(decay, weight, link):
    """|f'|/(margin^2 |w|) and 1/step by a central difference in 80 digits."""
    step = abs(weight) * mpmath.mpf(10) ** -20
    s, slope = decay(weight), (decay(weight + step) - decay(weight - step)) / (2 * step)
    if link == "continuous":
        return abs(slope) / s**2 / abs(weight), slope**2 / (4 * s**3)
    f = 1 - s
    if link == "exponential":
        f = mpmath.exp(-s) if s < 1e9 else mpmath.mpf(0)  # mpmath would need as many digits as s has
        slope = slope * f
    return abs(slope) / (1 - abs(f)) ** 2 / abs(weight), (1 + f * f) * slope**2 / (1 - f * f) ** 3


@settings(max_examples=4, deadline=None)
@given(
    st.sampled_from(sorted(OUTER)),
    st.sampled_from(sorted(INNER)),
    st.sampled_from(["continuous", "one-minus", "exponential"]),
    st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]),
)
def test_verdicts_agree_with_numbers(outer, inner, link, p):
    one = Parameterization.from_formula(
        outer.format(inner), link=link, constants={"p": p} if "p" in inner.replace("exp", "") else {}
    )
    case = problem_of(one.expression, one.link, one.constants, one.restrictions)
    with mpmath.workdps(80):

        def decay(weight):
            return OUTER[outer](INNER[inner](mpmath.mpf(weight), mpmath.mpf(p)))

        verdict = stability(case)
        if verdict.verdict == "proved":
            assert all(is_stable(decay(weight), link) for weight in WEIGHTS)
        elif verdict.verdict == "refuted":
            assert not is_stable(decay(verdict.counterexample.weight), link)
        stable = [weight for weight in WEIGHTS if weight and is_stable(decay(weight), link)]
        for place, statement in enumerate((gradient_over_weight, curvature)):
            try:
                found = statement(case)
            except Undecided:
                continue
            if found.verdict == "proved":
                assert all(quotients(decay, weight, link)[place] < BOUND for weight in stable)
            elif found.verdict == "refuted":
                assert quotients(decay, mpmath.mpf(found.counterexample.weight), link)[place] > 10
