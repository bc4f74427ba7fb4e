"""Every row of the tables about maps: scale, quotient with the weight, Eq. 11 and largest step, as functions of s."""

import mpmath
import pytest
import sympy

from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.theory.criteria import gradient_over_weight, lipschitz
from stablessm.theory.curvature import largest_step
from stablessm.theory.domain import cells_of
from stablessm.theory.gradient import as_function_of_decay, gradient_scale, scale_cells
from stablessm.theory.inverse import inverse_of
from stablessm.theory.problem import S, W, problem_of
from stablessm.theory.published import l1_slope

a, b = sympy.symbols("a b", positive=True)
exp, log, sqrt = sympy.exp, sympy.log, sympy.sqrt
DECAYS = [sympy.Rational(n, 20) for n in (1, 7, 13, 31)]


def problem(name, link="continuous", **constants):
    one = PARAMETERIZATIONS[name].replace(link=link, constants=constants)
    return problem_of(one.expression, one.link, one.constants, one.restrictions)


def in_own_names(case, expression):
    return expression.subs({symbol: sympy.Symbol(name, positive=True) for symbol, name in case.names})


def agree(found, expected):
    values = {a: sympy.Rational(13, 10), b: sympy.Rational(2, 5)}
    for decay in DECAYS:
        left, right = (abs(form.subs(values).subs(S, decay).evalf(30)) for form in (found, expected))
        assert abs(left - right) <= 1e-25 * (1 + right), (found, expected, decay)


@pytest.mark.parametrize(
    "name, scale, quotient, second, step",
    [
        ("direct", 1 / S**2, 1 / S**3, 2 / S**3, 4 * S**3),
        ("exp", 1 / S, 1 / (S * log(S)), 1 / S, 4 * S),
        ("softplus", (1 - exp(-S)) / S**2, (1 - exp(-S)) / (S**2 * log(exp(S) - 1)), None,
         4 * S**3 / (1 - exp(-S)) ** 2),
        ("best", 2 * sqrt(a * (1 / S - b)), 2 * a, 2 * a, 1 / (a * (1 - b * S))),
    ],
)  # fmt: skip
def test_rows_of_section_4(name, scale, quotient, second, step):
    case = problem(name)
    cell = scale_cells(case)[0]
    weight = inverse_of(cell.decay)
    by_decay = as_function_of_decay(cell)
    agree(in_own_names(case, by_decay), scale)
    agree(in_own_names(case, by_decay / weight), quotient)
    agree(in_own_names(case, largest_step(case, cells_of(case)[0])), step)
    if second is not None:
        agree(in_own_names(case, sympy.diff(1 / cell.decay, W, 2).subs(W, weight)), second)


@pytest.mark.parametrize(
    "name, link, text",
    [
        ("direct", "continuous", "as function of s: 1/s**3"),
        ("exp", "continuous", "as function of s: 1/(s*abs(log(s)))"),
        ("best", "continuous", "= 2*a for every w; as function of s: 2*a"),
    ],
)
def test_the_certificate_states_the_quotient_by_decay(name, link, text):
    assert gradient_over_weight(problem(name, link)).expression.endswith(text)


def test_softplus_is_unbounded_in_equation_11_as_the_weight_falls():
    assert "as w -> -oo" in lipschitz(problem("softplus")).expression


@pytest.mark.parametrize(
    "name, link, text",
    [
        ("exp", "continuous", "gamma = |f|: 1;"),
        ("best", "continuous", "gamma = |f|: 2*sqrt(a*s*(1 - b*s));"),
        ("best", "one-minus", "gamma = sqrt(1 - f^2): 2*sqrt(a*(2 - s)*(1 - b*s)) or"),
        ("exp", "continuous", "complex lambda with this real part: |f'|/Re(lambda)^2"),
        ("exp", "exponential", "f > 0, so that the published (1 - f)^2 is the same"),
    ],
)
def test_scales_with_normalised_input_and_of_complex_eigenvalues(name, link, text):
    assert text in gradient_scale(problem(name, link)).expression


@pytest.mark.parametrize("name", ["best", "tanh", "clip", "direct"])
def test_the_published_discrete_bound_fails_where_the_certificate_says(name):
    """The gradient of sum_k |q^k - f(w)^k| by differences of the sum, against both bounds."""
    import re

    case = problem(name, "one-minus")
    number = r"(-?[0-9.e+-]+)"
    text = gradient_scale(case).expression
    found = re.search(
        rf"fails where f < 0: at w = {number}, f = {number}, the L1 loss against q\^k, q = {number}, has the gradient "
        rf"{number}, and it gives {number}",
        text,
    )
    weight, f, q, gradient, published = (mpmath.mpf(one) for one in found.groups())
    decay = sympy.lambdify(W, case.specialised().decay, "mpmath")
    with mpmath.workdps(40):
        q = (1 - decay(weight) - 1) / 2

        def loss(w):
            eigenvalue = 1 - decay(w)
            return mpmath.fsum(abs(q**k - eigenvalue**k) for k in range(1, 2500))

        h = mpmath.mpf(10) ** -12
        slope = abs(loss(weight + h) - loss(weight - h)) / (2 * h)
    assert f < 0
    assert float(slope) == pytest.approx(float(gradient), rel=1e-4)
    assert slope > 1.2 * published


def test_every_term_of_the_counterexample_has_one_sign():
    f, q = mpmath.mpf("-0.7"), mpmath.mpf("-0.85")
    assert abs(l1_slope(f, q)) == pytest.approx(1 / (1 - 0.7) ** 2, rel=1e-12)


def test_a_free_phase_leaves_no_modulus():
    """|lambda| int |e^{-s t} (e^{i d t} - 1)| dt tends to 4/pi as s -> 0, whatever d: the integral in closed form."""
    s, d = sympy.symbols("s d", positive=True)
    distance = 2 * s * (d / 2) / (s**2 + d**2 / 4) * sympy.coth(sympy.pi * s / d)
    assert sympy.limit(distance, s, 0) == 4 / sympy.pi
    at = {s: sympy.Rational(1, 5), d: sympy.Rational(3)}
    with mpmath.workdps(20):
        period = 2 * mpmath.pi / 3
        numbers = mpmath.quad(
            lambda t: mpmath.exp(-t / 5) * abs(mpmath.expj(3 * t) - 1), mpmath.linspace(0, 60 * period, 61)
        )
        assert float(numbers / 5) == pytest.approx(float(distance.subs(at)), rel=1e-8)
