"""Recurrences whose multipliers change: every method, split and length against float64 sums, gradients by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from tests.engine.reference import both_precisions, worst

LENGTH = 11


def problem(is_complex):
    """Two series of three states: multipliers of either sign, one of them 0, some beyond 1."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.normal(size=shape) + (1j * rng.normal(size=shape) if is_complex else 0)

    a, u, h, g = 0.7 * draw(2, LENGTH, 3), draw(2, LENGTH, 3), draw(2, 3), draw(2, LENGTH, 3)
    a[0, 4, 1] = 0
    return a, u, h, g


def dense(a, u, h, g):
    """States, and what the cotangents g of the states send to a, u and h: JAX's g is the conjugate of d loss / d Re."""
    before, states, pulled = [], [], np.zeros_like(h)
    for k in range(LENGTH):
        before.append(h)
        h = a[:, k] * h + u[:, k]
        states.append(h)
    to_a, to_u = np.zeros_like(a), np.zeros_like(u)
    for k in range(LENGTH)[::-1]:
        to_u[:, k] = pulled = g[:, k] + pulled
        to_a[:, k], pulled = pulled * before[k], pulled * a[:, k]
    return np.stack(states, 1), (to_a, to_u, pulled)


@both_precisions
@pytest.mark.parametrize(("method", "is_complex"), [("scan", True), ("associative", True), ("scan", False)])
def test_states_gradients_splits_and_lengths(dtype, method, is_complex):
    a, u, h, g = problem(is_complex)
    exact, gradients = dense(a, u, h, g)
    kind = jnp.result_type(dtype, jnp.complex64) if is_complex else dtype
    a, u, h, g = (jnp.asarray(one, kind) for one in (a, u, h, g))

    @jax.jit
    def look(a, u, h, g):
        states, pull = jax.vjp(lambda *all_: engine.recur_varying(*all_, method=method)[0], a, u, h)
        first, middle = engine.recur_varying(a[:, :4], u[:, :4], h, method=method)
        second, last = engine.recur_varying(a[:, 4:], u[:, 4:], middle, method=method)
        some = engine.recur_varying(a, u, h, method=method, lengths=jnp.array([0, 5]))
        more = engine.recur_varying(a, u, h, method=method, lengths=jnp.array([LENGTH, LENGTH + 2]))[1]
        return states, pull(g), jnp.concatenate([first, second], 1), last, some, more

    states, pulled, parted, last, (some, ends), more = look(a, u, h, g)
    tolerance = 40 * float(jnp.finfo(dtype).eps)
    assert worst(states, exact) < tolerance and worst(parted, exact) < tolerance
    assert worst(last, exact[:, -1]) < tolerance and worst(more, exact[:, -1]) < tolerance
    for one, two in zip(pulled, gradients, strict=True):
        assert worst(one, two) < tolerance
    assert worst(ends[1], exact[1, 4]) < tolerance and (ends[0] == h[0]).all()
    assert (some[0] == 0).all() and (some[1, 5:] == 0).all() and worst(some[1, :5], exact[1, :5]) < tolerance


def test_nothing_happens_in_no_step_and_to_no_series():
    for batch, length in ((2, 0), (0, 4)):
        none, state = jnp.zeros((batch, length, 3)), jnp.ones((batch, 3))
        outputs, last = engine.recur_varying(none, none, state)
        assert outputs.shape == (batch, length, 3) and (last == state).all()


def test_what_does_not_fit_gets_a_sentence():
    a = jnp.ones((4, 3))
    with pytest.raises(ValueError, match="must be one of auto, scan, associative, but got 'chunked'"):
        engine.recur_varying(a, a, method="chunked")
    with pytest.raises(ValueError, match="of 4 steps, but `inputs` of 5"):
        engine.recur_varying(a, jnp.ones((5, 3)))
    with pytest.raises(ValueError, match="must have 3 states, or 1"):
        engine.recur_varying(a, jnp.ones((4, 2)))
