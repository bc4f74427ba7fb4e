"""The claims of the functions: each form of the kernel at every length, values by hand, SciPy, and a fault."""

import numpy as np
import pytest

from stablessm import s4
from stablessm.layers.hippo import legs
from stablessm.s4 import legendre
from stablessm.s4.generating import cauchy, published_nodes
from stablessm.s4.spring import pulses, spring


@pytest.mark.parametrize("states", [1, 2, 5, 64])
@pytest.mark.parametrize("length", [1, 2, 3, 16, 17])
def test_every_form_of_the_kernel_equals_the_one_before(states, length):
    h, readout = 0.1, np.random.default_rng(states).normal(size=states)
    system = s4.hippo(states, readout)
    step = s4.bilinear(s4.System(*legs(states), readout), h)
    kernel, nodes = s4.kernel(step, length), s4.roots_of_unity(length)
    generated = s4.by_definition(kernel, nodes)
    tolerance = {"rtol": 0, "atol": 1e-11 * np.abs(generated).max()}
    found = s4.by_inverse(step, s4.truncated_readout(step, length), nodes)
    np.testing.assert_allclose(found, generated, **tolerance)
    in_steps = s4.discrete(system, h)
    np.testing.assert_allclose(in_steps.matrix, s4.bilinear(system.dense(), h).matrix, rtol=0, atol=1e-11)
    truncated = s4.truncated_readout(in_steps, length)
    found = s4.by_low_rank(system, truncated, h, nodes)
    np.testing.assert_allclose(found, generated, **tolerance)
    np.testing.assert_allclose(s4.kernel_from(found), kernel, **tolerance)
    np.testing.assert_allclose(s4.readout(in_steps, truncated, length), system.readout, rtol=0, atol=1e-10)


def test_one_state_by_hand():
    """A = -1, h = 1/2: Abar = .6, Bbar = .4, from C = 1 and from C~ = 1 of two lengths."""
    system = s4.hippo(1, np.ones(1))
    assert system.eigenvalues == [-0.5] and system.left**2 == pytest.approx(0.5) and system.drive == [1.0]
    step = s4.discrete(system, 0.5)
    np.testing.assert_allclose(s4.kernel(step, 4), [0.4, 0.24, 0.144, 0.0864], rtol=1e-14)
    for length, values in ((2, [0.625, 0.375]), (1, [1.0])):
        found = s4.by_low_rank(system, np.ones(1), 0.5, s4.roots_of_unity(length))
        np.testing.assert_allclose(s4.kernel_from(found), values, rtol=1e-14)


def test_four_states_have_the_eigenvalues_of_their_diagonal():
    dense = s4.hippo(4, np.ones(4)).dense()
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(dense.matrix).real), [-4, -3, -2, -1], rtol=1e-12)


def test_the_published_form_is_no_number_at_minus_one_and_ours_is():
    """Fault: 0/0 at a node of every even length."""
    system, h, length = s4.hippo(4, np.ones(4)), 0.1, 8
    nodes = s4.roots_of_unity(length)
    nodes[length // 2] = -1.0
    with np.errstate(all="ignore"):
        g, c = published_nodes(h, nodes)
        published = c * cauchy(system.readout * system.drive, g, system.eigenvalues)
    assert not np.isfinite(published[length // 2])
    ours = s4.by_low_rank(system, system.readout, h, nodes)
    expected = s4.by_inverse(s4.bilinear(system.dense(), h), system.readout, nodes)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_a_mass_on_a_spring_against_scipy():
    from scipy.signal import cont2discrete, lfilter, ss2tf

    system, h = spring(), 0.01
    step = s4.bilinear(system, h)
    columns = system.matrix, system.drive[:, None], system.readout[None], np.zeros((1, 1))
    matrix, drive = cont2discrete(columns, h, method="bilinear")[:2]
    np.testing.assert_allclose(step.matrix, matrix, rtol=1e-13)
    np.testing.assert_allclose(step.drive, drive[:, 0], rtol=1e-13)
    force = pulses(h * np.arange(100))
    assert force.max() > 0.9 and (force >= 0).all() and (force[:5] == 0).all()
    # y after the update is C x_k: what the state before it gives is C Abar x_{k-1} + C Bbar u_k
    above, below = ss2tf(
        step.matrix, (step.matrix @ step.drive)[:, None], step.readout[None], np.array([[step.readout @ step.drive]])
    )
    outputs, _ = s4.recurrence(step, force)
    np.testing.assert_allclose(outputs, lfilter(above[0], below, force), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(s4.convolution(force, s4.kernel(step, 100)), outputs, atol=1e-16)
    long = s4.recurrence(step, np.ones(2000))[0]
    assert long[-1] == pytest.approx(1 / 40, rel=1e-9)  # where it rests, force = k y


def test_the_scaled_state_is_the_projection_and_the_fixed_one_is_weighed_by_age():
    u = np.random.default_rng(0).normal(size=12)
    fine = (np.arange(12000) + 0.5) / 1000
    held = np.repeat(u, 1000)
    scaled, fixed = legendre.scaled_states(u, 6), legendre.fixed_states(u, 6, 4.0)
    exact = legendre.basis(6, legendre.scaled_places(fine, 12.0)) @ held / 12000
    np.testing.assert_allclose(scaled[-1], exact, atol=1e-6)
    places = legendre.fixed_places(fine, 12.0, 4.0)
    np.testing.assert_allclose(fixed[-1], (legendre.basis(6, places) * places) @ held / 4000, atol=1e-5)
    # a polynomial of its degree is remembered as it was, from any time on
    line = 0.3 * np.arange(40) - 2.0
    state = legendre.scaled_states(line, 4)[-1]
    seen = legendre.reconstruction(state, legendre.scaled_places(np.arange(40) + 0.5, 40.0))
    np.testing.assert_allclose(seen, line, atol=0.02)  # of the line as it is held, a staircase of steps of 0.3


def test_zero_order_hold_of_a_matrix_without_inverse():
    moved = s4.zero_order_hold(s4.System(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 1.0]), np.ones(2)), 0.5)
    np.testing.assert_allclose(moved.matrix, [[1, 0.5], [0, 1]], rtol=1e-15)
    np.testing.assert_allclose(moved.drive, [0.125, 0.5], rtol=1e-15)
