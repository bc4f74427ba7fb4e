"""Fits of decay: what is exactly exponential or polynomial is found to be so, with its rate."""

import subprocess
import sys

import numpy as np
import pytest

from stablessm.memory import context_bound, fit_decay
from stablessm.memory.decay import KINDS
from stablessm.memory.tail import MOST_POINTS, tail
from stablessm.targets import TARGETS

TIMES = np.arange(100.0)
FLOATS = (np.float32, np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize("power", [0.5, 1.1, 2.0, 3.0])
def test_polynomials_are_recovered(power, scale, dtype):
    fit = fit_decay(TIMES, ((1 + scale * TIMES) ** -power).astype(dtype))
    assert fit.kind == "polynomial"
    assert fit.rate == pytest.approx(power, rel=1e-3) and fit.power == fit.rate
    assert fit.chosen("polynomial").polynomial.shape[0] == pytest.approx(scale, rel=1e-2)
    np.testing.assert_allclose(fit.rates("polynomial"), power, rtol=1e-3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [0.003, 0.01, 0.1, 1.0])
def test_exponentials_are_recovered(rate, dtype):
    values = (-3.0 * np.exp(-rate * TIMES)).astype(dtype)
    fit = fit_decay(TIMES, values)
    assert fit.kind == "exponential"
    assert fit.rate == pytest.approx(rate, rel=1e-4) and fit.exponential_rate == fit.rate
    inside = fit.windows[0].end >= TIMES
    curve = fit.curve(TIMES)[inside]
    drawn = np.isfinite(curve)
    np.testing.assert_allclose(curve[drawn], np.abs(values[inside])[drawn], rtol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_equal_rates_in_a_chain_decay_at_their_rate(rate, dtype):
    for kernel in (
        TIMES * np.exp(-rate * TIMES),
        (TIMES + 1) * np.exp(-rate * TIMES),
        TIMES**2 * np.exp(-rate * TIMES),
    ):
        fit = fit_decay(TIMES, kernel.astype(dtype))
        assert fit.kind == "exponential" and fit.rate == pytest.approx(rate, rel=1e-2)


@pytest.mark.parametrize("ratio", [1.2, 2.0, 20.0])
@pytest.mark.parametrize("slow", [0.05, 0.1])
def test_cascades_decay_at_their_slow_rate(slow, ratio):
    fast = ratio * slow
    kernel = (np.exp(-slow * TIMES) - np.exp(-fast * TIMES)) / (fast - slow)
    fit = fit_decay(TIMES, kernel)
    assert fit.kind == "exponential" and fit.rate == pytest.approx(slow, rel=1e-2)
    mixture = 0.2 * np.exp(-slow * TIMES) + np.exp(-(fast + 0.2) * TIMES)
    assert fit_decay(TIMES, mixture).rate == pytest.approx(slow, rel=1e-2)


def test_an_oscillation_is_fitted_on_its_maxima():
    fit = fit_decay(np.arange(300.0), np.cos(1.3 * np.arange(300.0)) * np.exp(-0.03 * np.arange(300.0)))
    assert fit.kind == "exponential" and fit.rate == pytest.approx(0.03, rel=1e-2)
    assert fit_decay(TIMES, np.sin(TIMES)).kind == "not_decaying"


def test_a_mixture_of_many_rates_is_polynomial_until_it_is_not():
    """(1 + t)^-1 is the integral of e^-s e^-st over s: a sum over a few hundred s is polynomial up to 1 / the least."""
    s = np.exp(np.linspace(np.log(1e-4), np.log(30), 400))
    times = np.unique(np.geomspace(1, 2e5, 400).round()) - 1

    def kernel(times):
        return (np.exp(-np.outer(times, s)) * np.exp(-s) * s).sum(-1)

    near, far = fit_decay(TIMES, kernel(TIMES)), fit_decay(times, kernel(times))
    assert near.kind == "polynomial" and near.rate == pytest.approx(1.0, rel=2e-2)
    assert far.windows[-1].criterion < 0 and far.windows[-1].exponential.rate == pytest.approx(1e-4, rel=0.2)


def test_what_is_no_decay_is_named():
    assert fit_decay(TIMES, np.zeros(100)).kind == "too_few_points"
    assert fit_decay(TIMES, TARGETS["shift"].kernel(100)).kind == "too_few_points"
    assert fit_decay(TIMES, np.exp(0.1 * TIMES)).kind == "not_decaying"
    assert fit_decay(TIMES, np.ones(100)).kind == "not_decaying"
    assert fit_decay(TIMES, np.full(100, np.inf)).kind == "not_finite"
    noise = np.exp(-0.05 * TIMES + 2 * np.random.default_rng(0).standard_normal(100))
    assert fit_decay(TIMES, noise).kind in ("neither", "undecided")
    for kernel in (np.zeros(100), np.full(100, np.nan)):
        fit = fit_decay(TIMES, kernel)
        assert fit.kind in KINDS and np.isnan(fit.rate) and np.isnan(fit.curve(TIMES)).all()


def test_units_of_time_do_not_matter():
    kernel = (1 + 0.3 * TIMES) ** -1.5
    one, other = fit_decay(TIMES, kernel), fit_decay(TIMES / 50, 7 * kernel)
    assert other.kind == one.kind and other.rate == pytest.approx(one.rate)
    one, other = fit_decay(TIMES, TIMES * np.exp(-0.1 * TIMES)), fit_decay(TIMES / 50, 7 * TIMES * np.exp(-0.1 * TIMES))
    assert other.kind == one.kind and other.rate == pytest.approx(50 * one.rate)


def test_the_tail_is_the_envelope_evenly_over_its_fall():
    found = tail(np.arange(5000.0), np.exp(-1e-3 * np.arange(5000.0)))
    assert len(found.time) <= MOST_POINTS and found.time[-1] == 4999
    assert np.diff(found.log).max() < 0
    assert tail(np.arange(5.0), np.array([0.0, 3.0, 0.5, -1.0, 0.25])).time.tolist() == [1.0, 3.0, 4.0]


def test_bad_arguments_get_a_sentence():
    with pytest.raises(ValueError, match="one shape"):
        fit_decay(TIMES, np.ones(3))
    with pytest.raises(ValueError, match="increase"):
        fit_decay(-TIMES, np.ones(100))


def test_the_context_bound_holds_at_every_lag_and_is_tight():
    lags = np.unique(np.geomspace(1, 200, 40).round()) - 1
    for differences in (2 * np.exp(-0.07 * lags), (1 + lags) ** -1.1, lags * np.exp(-0.2 * lags)):
        bound = context_bound(lags, differences)
        allowed = bound.amplitude * np.exp(-bound.decay * lags)
        assert (differences <= allowed * (1 + 1e-9)).all() and np.isclose(differences, allowed).any()
    exact = context_bound(lags, 2 * np.exp(-0.07 * lags))
    assert exact.decay == pytest.approx(0.07) and exact.amplitude == pytest.approx(2.0)
    assert exact.effective_context == lags[np.argmax(2 * np.exp(-0.07 * lags) < 0.02)]
    assert context_bound(lags, np.ones_like(lags)).effective_context == np.inf
    assert context_bound(lags, np.zeros_like(lags)).effective_context == 0


def test_fits_need_neither_jax_nor_sympy():
    code = "import stablessm.memory.decay, stablessm.memory.bound, sys; assert not {'jax', 'sympy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
