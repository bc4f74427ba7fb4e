"""What moving a mode costs: closed forms against integrals, and against sampled kernels of layers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from stablessm import PARAMETERIZATIONS, modes
from stablessm.layers import LinearRNN

DECAYS = (0.01, 0.3, 2.0)


def integral(decay, moved):
    """s int |e^{lambda~ t} - e^{lambda t}| dt by adaptive quadrature, kinks of the phase at multiples of 2 pi/delta."""
    delta = abs((moved + decay).imag)
    end = 45 / min(decay, -moved.real)
    kinks = np.arange(0, end, 2 * np.pi / delta) if delta else np.array([0.0])
    pieces = zip(kinks, [*kinks[1:], end], strict=True)
    return decay * sum(quad(lambda t: abs(np.exp(moved * t) - np.exp(-decay * t)), *piece)[0] for piece in pieces)


@pytest.mark.parametrize("decay", DECAYS)
def test_closed_forms_equal_the_integrals(decay):
    for moved in (0.5 * decay, 3 * decay):
        assert float(modes.decay_distance(decay, moved)) == pytest.approx(integral(decay, complex(-moved)), rel=1e-5)
    for delta in (0.05, 1.0):
        exact = integral(decay, complex(-decay, delta))
        assert float(modes.free_phase_distance(decay, delta)) == pytest.approx(exact, rel=1e-5)
        exact = integral(decay, complex(-decay, decay * delta))
        assert float(modes.scaled_phase_distance(delta)) == pytest.approx(exact, rel=1e-5)


@given(st.floats(1e-3, 10.0))
def test_a_free_phase_tends_to_four_over_pi_and_a_scaled_one_vanishes_with_its_change(delta):
    free = modes.free_phase_distance(jnp.float32(delta * 1e-5), jnp.float32(delta))
    assert float(free) == pytest.approx(4 / np.pi, rel=1e-4)
    small = modes.scaled_phase_distance(jnp.float32(delta * 1e-3))
    assert float(small) == pytest.approx(delta * 1e-3, rel=1e-4)
    assert 0 <= float(modes.scaled_phase_distance(jnp.float32(delta))) < 4 / np.pi


def test_no_change_costs_nothing_and_a_lost_mode_everything():
    assert float(modes.free_phase_distance(0.5, 0.0)) == 0 == float(modes.scaled_phase_distance(0.0))
    assert jnp.isinf(modes.decay_distance(0.1, jnp.asarray([0.0, -0.1]))).all()
    assert float(modes.decay_distance(0.1, 0.1)) == 0
    assert jnp.isfinite(jax.grad(modes.scaled_phase_distance)(jnp.float32(0.0)))


def kernel_of(decays, readout, weights):
    """The kernel of real modes, each sample its integral over a step, so that L1 norms of one sign are exact."""
    model = LinearRNN(PARAMETERIZATIONS["exp"], -jnp.asarray(decays), time="continuous", key=jax.random.key(0))
    rates = jnp.asarray(readout) * jnp.asarray(weights)
    return (jnp.exp(-jnp.outer(jnp.arange(4000), jnp.asarray(decays))) * (rates * model.discretised()[1])).sum(1)


def test_readout_cost_is_attained_and_never_exceeded():
    decays, weights, beta = np.array([0.01, 0.1, 0.7]), np.array([0.5, -1.0, 2.0]), 0.2
    cost = float(modes.readout_cost(weights, decays, beta))
    worst = weights / decays
    worst = beta * worst / np.linalg.norm(worst)
    assert float(jnp.abs(kernel_of(decays, worst, weights)).sum()) == pytest.approx(cost, rel=1e-4)
    directions = np.random.default_rng(0).normal(size=(50, 3))
    for one in beta * directions / np.linalg.norm(directions, axis=1, keepdims=True):
        assert float(jnp.abs(kernel_of(decays, one, weights)).sum()) <= cost * (1 + 1e-5)
    alone = float(modes.readout_cost(weights[:1], decays[:1], beta))
    assert alone == pytest.approx(beta * 0.5 / 0.01)


@pytest.mark.parametrize("name", ["exp", "best"])
def test_mass_times_modulus_bounds_every_perturbation_of_the_weights(name):
    """Theorem 3.3: int |rho - rho~| <= g(beta) sum |c_i U_i|/|lambda_i|, attained by exp where all modes slow down."""
    map_, decays, weights, beta = PARAMETERIZATIONS[name], np.array([0.01, 0.1, 0.7]), np.array([0.3, 1.0, 0.5]), 0.1
    g = {"exp": np.expm1(0.1), "best": np.expm1(2 * np.arcsinh(0.1 * 2**0.5 / 2))}[name]
    mass = float(modes.absolute_mass(weights, decays))
    assert mass == pytest.approx((weights / decays).sum())
    raw, moves = map_.weight(decays), np.random.default_rng(1).uniform(-beta, beta, (30, 3))
    slower = -beta if name == "exp" else beta
    costs = []
    for move in [*moves, np.full(3, slower)]:
        moved = np.asarray(map_.decay(raw + move), float)
        difference = kernel_of(moved, np.ones(3), weights) - kernel_of(decays, np.ones(3), weights)
        costs.append(float(jnp.abs(difference).sum()))
    assert max(costs) <= g * mass * (1 + 1e-4)
    if name == "exp":
        assert costs[-1] == pytest.approx(g * mass, rel=1e-3)
