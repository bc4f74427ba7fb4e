"""Curves of certificates: the published numbers, the statements they are read from, and another way to each number."""

import jax.numpy as jnp
import numpy as np
import pytest

import stablessm
from stablessm.measurements.certificates import MODULI, STATEMENTS, VERDICTS, CertificateSettings
from stablessm.measurements.certificates_program import _modulus, _supremum, certificate_of
from stablessm.measurements.map_programs import scale_of
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.domain import exact_constants
from stablessm.theory.statement import Statement

GRIDS = {"smallest_beta": 0.1, "greatest_beta": 0.5, "shortest_memory": 20.0, "longest_memory": 1e3, "points": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    maps = ["direct", "exp", "softplus", "best", {"name": "best", "constants": {"b": 0.1}}]
    document = {"name": "proved", "measurement": "certificates", "settings": GRIDS}
    document["axes"] = {"parameterization": maps, "link": ["continuous"]}
    return stablessm.run_sweep(document, out=tmp_path_factory.mktemp("certificates")).squeeze("link")


def test_the_known_values(data):
    np.testing.assert_allclose(data["gradient_scale"][:, 0], [400, 20, 19.5082302, 8.83176087, 8.92188321], rtol=1e-7)
    steps = [5e-4, 0.2, 4 * 0.05**3 / (1 - np.exp(-0.05)) ** 2, 1 / 0.975, 1 / 0.995]
    np.testing.assert_allclose(data["stable_step"][:, 0], steps, rtol=1e-6)
    growth = np.expm1([0.1, 0.5])
    best = [np.expm1(2 * np.arcsinh(np.asarray([0.05, 0.25]) / np.sqrt(b))) for b in (0.5, 0.1)]
    np.testing.assert_allclose(data["modulus"], [[np.inf] * 2, growth, growth, *best], rtol=1e-6)
    np.testing.assert_allclose(data["modulus_slope"], [np.inf, 1, 1, 2**0.5, 10**0.5], rtol=1e-6)
    for name in ("largest_gradient_over_weight", "lipschitz_constant"):
        np.testing.assert_allclose(data[name], [np.inf] * 3 + [2.0] * 2)
    np.testing.assert_allclose(data["smallest_stable_step"], [0, 0, 0, 1, 1])


def test_verdicts_are_those_of_verify(data):
    for label in ("direct", "exp"):
        certificate = stablessm.verify(PARAMETERIZATIONS[label])
        found = [VERDICTS[code] for code in data["verdict"].sel(parameterization=label).values]
        assert found == [certificate[one].verdict for one in STATEMENTS]


@pytest.mark.parametrize(("formula", "link"), [("softplus(w)", "exponential"), ("1/(1 + w^2)", "continuous")])
def test_curves_agree_with_the_map_evaluated_in_jax(formula, link):
    """Also of a formula without a closed inverse; the gradient scale by automatic differentiation."""
    own = Parameterization.from_formula(formula, link=link)
    lengths = np.array([3.0, 30.0, 300.0])
    settings = CertificateSettings(**GRIDS | {"shortest_memory": 3.0, "longest_memory": 300.0, "points": 3})
    decays = -np.log1p(-1 / lengths) if link == "exponential" else 1 / lengths
    weights = own.weight(jnp.asarray(decays, jnp.float32))
    found = certificate_of(own, settings)
    np.testing.assert_allclose(found["gradient_scale"], scale_of(own, weights), rtol=1e-4)
    np.testing.assert_allclose(found["gradient_over_weight"] * np.abs(weights), found["gradient_scale"], rtol=1e-5)


def test_what_is_not_reached_is_left_out():
    found = certificate_of(PARAMETERIZATIONS["sigmoid"], CertificateSettings(points=3))  # decays below 1
    assert np.isnan(found["stable_step"][0]) and np.isfinite(found["stable_step"][1:]).all()
    assert MODULI[found["modulus_kind"]] == "least"


def test_a_statement_that_holds_for_some_constants_is_read_where_it_holds():
    """Text as verify writes it for best under the link 1 - s."""
    text = "g(beta) = exp(2*asinh(beta*sqrt(a/b)/2)) - 1 for b >= 1, where lambda >= 0; g(beta) <= exp(3*beta) - 1"
    statement = Statement("modulus", "proved", text)
    for value, kind, growth in ((1.0, "least", 1.0), (0.6, "bound", 3.0)):
        own = exact_constants(PARAMETERIZATIONS["best"].replace(constants={"b": value}))
        found = _modulus(statement, np.array([1e-9]), own, 3.0)
        assert found[0] == kind
        np.testing.assert_allclose(found[1], [growth * 1e-9], rtol=1e-6)


@pytest.mark.parametrize(("text", "level"), [
    ("g(beta) = exp(beta) - 1; |f'/f| = 1 for every w", 1.0),
    ("g(beta) = exp(2*asinh(beta/2)) - 1; sup of |f'/f| = sqrt(a/b), at w = sqrt(b/a)", 2**0.5),
    ("sup of |f'|/(1 - |f|) lies in [0.9999999, 1.000008] (no closed form was found), near w = -1", 1.000008),
    ("sup of |tau''|, tau = 1/(1 - f), lies in [2.04, 2.05] (no closed form was found), near w = 1.01645", 2.05),
    ("|tau''|, tau = 1/|f|, = 2*a for every w", 2.0),
    ("sup of |f'|/(f^2 |w|) = max(2*a/(2*b - 1)**2, 2*a), as w -> 0; as function of s: 2*a or 2*a*s**2", np.inf),
    ("largest stable step 4 s^3/f'^2 = 1/(a*(-b*s + 1)); sup of 1/step = a, as w -> -oo", 1.0),
    ("ln m, m the margin, is continuous; |f'/f| is infinite at w = 0 only and bounded away from there", np.nan),
])  # fmt: skip
def test_suprema_are_read_as_verify_writes_them(text, level):
    own = exact_constants(PARAMETERIZATIONS["best"])
    if np.isinf(level):  # 2 b - 1 = 0: read where it is finite
        own, level = exact_constants(PARAMETERIZATIONS["best"].replace(constants={"b": 0.75})), 8.0
    np.testing.assert_allclose(_supremum(Statement("modulus", "proved", text), own), level)


def test_a_bound_by_the_slope():
    statement = Statement("modulus", "proved", "g(beta) <= exp(K*beta) - 1, K the supremum; g(1) lies in [0.8, 0.9]")
    for slope, kind in ((0.75, "bound"), (np.nan, "open")):
        found, curve = _modulus(statement, np.array([2.0]), {}, slope)
        assert found == kind
        np.testing.assert_allclose(curve, np.expm1(2 * slope))


def test_a_refused_grid():
    with pytest.raises(ValueError, match="smallest_beta must be smaller than greatest_beta"):
        CertificateSettings(smallest_beta=2.0, greatest_beta=1.0)
