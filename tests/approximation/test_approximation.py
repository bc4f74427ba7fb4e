"""Sums of exponentials: closed forms against sums over nodes, optimality, laws, an independent method, the sweep."""

import mpmath
import numpy as np
import pytest

from stablessm.approximation import (
    InnerProduct,
    Modes,
    best_amplitudes,
    best_fits,
    law,
    nonnegative_amplitudes,
    rational_fit,
    variable_projection,
)
from stablessm.sweeps.run import execute
from stablessm.targets import TARGETS, TargetError

WHOLE = InnerProduct("continuous")
POLYNOMIAL = TARGETS["polynomial"]
WIDTHS = (2, 4, 8, 16)
PRODUCTS = [
    InnerProduct(domain, horizon, averaged)
    for domain in ("continuous", "discrete")
    for horizon, averaged in ((None, False), (50.0, False), (50.0, True))
]


@pytest.fixture(scope="module")
def fits():
    return best_fits(WHOLE, POLYNOMIAL, WIDTHS)


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_closed_products_are_sums_over_nodes(product):
    decay = np.array([1e-6, 3e-3, 0.05, 0.7])
    times, weights, values = product.samples(POLYNOMIAL)
    modes = np.exp(-np.multiply.outer(times, decay))
    np.testing.assert_allclose(product.of_modes(decay, decay), modes.T @ (weights[:, None] * modes), rtol=1e-9)
    np.testing.assert_allclose(product.with_target(POLYNOMIAL, decay), (weights * values) @ modes, rtol=1e-9)
    np.testing.assert_allclose(product.square(POLYNOMIAL), weights @ values**2, rtol=1e-12)


def test_few_nodes_sum_up_infinitely_many_steps():
    times, weights, values = InnerProduct("discrete").samples(POLYNOMIAL)
    assert len(times) < 900
    assert weights @ values**2 == pytest.approx(float(mpmath.zeta(2.2)), rel=1e-13)


def test_squared_error_is_that_of_the_generalised_exponential_integral():
    modes, p = Modes(np.array([0.05, 0.6]), np.array([0.2, 0.7])), 1.1
    with mpmath.workdps(30):
        s, a = ([mpmath.mpf(float(one)) for one in part] for part in modes)
        own = sum(a[i] * a[j] / (s[i] + s[j]) for i in range(2) for j in range(2))
        cross = sum(a[i] * mpmath.exp(s[i]) * mpmath.expint(p, s[i]) for i in range(2))
        exact = float(own - 2 * cross + 1 / (2 * mpmath.mpf(repr(p)) - 1))
    assert WHOLE.squared_error(POLYNOMIAL, modes) == pytest.approx(exact, rel=1e-12)
    assert WHOLE.error(POLYNOMIAL, modes) ** 2 == pytest.approx(exact, rel=1e-12)
    # Discrete, target q^k and model c lambda^k.
    c, slow, q = 0.8, np.exp(-0.3), np.exp(-1.0)
    found = InnerProduct("discrete").squared_error(TARGETS["exponential"], Modes(np.array([0.3]), np.array([c])))
    assert found == pytest.approx(c**2 / (1 - slow**2) - 2 * c / (1 - slow * q) + 1 / (1 - q**2), rel=1e-12)


def test_best_fits_are_stationary_with_positive_amplitudes(fits):
    """H2 optimality: the transform of the error and its derivative vanish at every decay."""
    times, weights, values = WHOLE.samples(POLYNOMIAL)
    for modes in fits:
        error = values - modes.kernel(times)
        size = np.sqrt(weights @ error**2)
        columns = np.exp(-np.multiply.outer(times, modes.decay))
        for one in (columns, columns * times[:, None] * modes.decay):
            lengths = np.sqrt(weights @ one**2)
            np.testing.assert_allclose((weights * error) @ one / (lengths * size), 0, atol=2e-3)
        assert (modes.amplitude > 0).all()


@pytest.mark.slow
def test_no_mode_is_added_to_fit_rounding():
    """Asked for more modes than float64 determines, the fit keeps fewer, none of them with the opposite sign."""
    fewer, most = best_fits(WHOLE, POLYNOMIAL, (64, 128))
    size = np.sqrt(WHOLE.square(POLYNOMIAL))
    assert len(fewer.decay) == 64 < len(most.decay) < 128
    assert WHOLE.error(POLYNOMIAL, most) < 1e-12 * size < WHOLE.error(POLYNOMIAL, fewer)
    for modes in (fewer, most):
        assert (modes.amplitude > 0).all()
        assert (modes.amplitude / modes.decay).max() < 1  # no mode outweighs the target's own tail


def test_error_and_slowest_decay_fall_by_their_laws(fits):
    """The point of it all: over an infinite horizon the slowest of m best modes goes to the boundary."""
    errors = np.array([WHOLE.error(POLYNOMIAL, one) for one in fits])
    rate = np.diff(-np.log(errors)) / np.diff(np.sqrt(WIDTHS))
    assert (rate[1:] > law.quadrature_rate(1.1)).all() and (rate < law.best_rate(1.1)).all()
    slowest = np.array([one.decay[0] for one in fits])
    rate = np.diff(-np.log(slowest)) / np.diff(np.sqrt(WIDTHS))
    np.testing.assert_allclose(rate, law.slowest_decay_rate(1.1), rtol=0.2)
    short = InnerProduct("continuous", 100.0)
    near = best_fits(short, POLYNOMIAL, (4, 8))
    assert near[1].decay[0] > 1e-3  # a horizon keeps it away
    fall = np.log(short.error(POLYNOMIAL, near[0]) / short.error(POLYNOMIAL, near[1])) / 4
    assert law.finite_rate(1.0, 100.0) < fall < 1.5 * law.finite_rate(1.0, 100.0)


def test_every_method_is_held_against_the_best(fits):
    for width, best in zip(WIDTHS, fits, strict=True):
        decay = np.geomspace(best.decay[0], best.decay[-1], width)
        signed, positive = (one(WHOLE, POLYNOMIAL, decay) for one in (best_amplitudes, nonnegative_amplitudes))
        rational = rational_fit(WHOLE, POLYNOMIAL, width, slowest=decay[0], fastest=decay[-1])
        errors = [WHOLE.error(POLYNOMIAL, one) for one in (best, signed, positive, rational)]
        assert errors[0] <= errors[1] * (1 + 1e-9) and errors[1] <= errors[2] * (1 + 1e-9)
        assert errors[0] <= errors[3] < 20 * errors[0] and (positive.amplitude >= 0).all()
        if width <= 8:  # where closed products still resolve it
            assert np.sqrt(WHOLE.squared_error(POLYNOMIAL, best)) == pytest.approx(errors[0], rel=1e-4)


@pytest.mark.parametrize("product", [PRODUCTS[0], PRODUCTS[3], PRODUCTS[1]], ids=str)
def test_what_is_a_sum_of_modes_is_found(product):
    target = TARGETS["exponential"]
    for found in (
        variable_projection(product, target, np.array([0.2])),
        rational_fit(product, target, 3, slowest=0.01, fastest=10.0),
        best_fits(product, target, (5,))[0],
    ):
        place = np.argmax(np.abs(found.amplitude))
        assert found.decay[place] == pytest.approx(1, rel=1e-6) and product.error(target, found) < 1e-6


@pytest.mark.parametrize(("product", "name", "sentence"), [
    (WHOLE, "sine", "no finite norm over an infinite horizon"),
    (WHOLE, "autocorrelation", "choose the discrete domain"),
    (InnerProduct("discrete"), "autocorrelation", "choose a finite horizon"),
])  # fmt: skip
def test_what_cannot_be_fitted_is_refused(product, name, sentence):
    with pytest.raises(TargetError, match=sentence):
        best_fits(product, TARGETS[name], (1,))


def test_the_sweep_holds_fits_laws_and_a_trained_model(tmp_path):
    found = execute({
        "name": "few", "measurement": "approximation",
        "axes": {"target": ["polynomial"], "precision": ["float64"]},
        "settings": {"width": [1, 2], "steps": 9, "domain": ["discrete"], "extent": ["infinite", "averaged"]},
    }, out=tmp_path).dataset.squeeze(drop=True)  # fmt: skip
    best = found["approximation_error"].sel(fit="best")
    assert (best.diff("width") < 0).all() and (best <= found["approximation_error"] * (1 + 1e-9)).all()
    np.testing.assert_allclose(found["product_error"], best, rtol=1e-3)
    assert (found["trained_error"] > best).all() and found["trained_error"].dims == ("stop", "extent", "width")
    assert found["law"].sel(extent="infinite") == pytest.approx(law.quadrature_rate(1.1), rel=1e-6)
    losses = found["trained_loss"].transpose("stop", "width").values
    assert losses[0, 0] == losses[1, 0] and np.isfinite(losses).all()


def test_amplitudes_that_are_not_negative_are_found_down_to_rounding():
    """Active sets go round in circles here."""
    product, target = InnerProduct("discrete"), TARGETS["polynomial"].replace(constants={"p": 2.0})
    fit = nonnegative_amplitudes(product, target, np.geomspace(1e-10, 30.0, 96))
    times = np.arange(200.0)
    assert (fit.amplitude >= 0).all()
    np.testing.assert_allclose(np.exp(-np.outer(times, fit.decay)) @ fit.amplitude, (1 + times) ** -2.0, rtol=1e-9)
