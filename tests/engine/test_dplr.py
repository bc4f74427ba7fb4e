"""Diagonal plus low rank: both forms give the dense float64 kernel, at every length, from C or from C~."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.engine import LowRankSystem, dplr_kernel
from tests.engine import reference
from tests.engine.reference import both_precisions


def hippo(states, step_size, seed=0):
    """HiPPO-LegS in the basis of its normal part, one of each pair: float64 arrays (1, states / 2), and A, B."""
    n = np.arange(states)
    p, b = np.sqrt(n + 0.5), np.sqrt(2 * n + 1.0)
    a = -np.where(n[:, None] > n, b[:, None] * b, 0) - np.diag(n + 1.0)
    skew = a + np.outer(p, p) + np.eye(states) / 2
    frequency, basis = np.linalg.eigh(-1j * skew)
    half = slice(states // 2, None) if states > 1 else slice(None)
    rng = np.random.default_rng(seed)
    c = rng.normal(size=states // 2) + 1j * rng.normal(size=states // 2) if states > 1 else np.ones(1)
    back = basis.conj().T
    left, drive = (back @ p)[half], (back @ b)[half]
    arrays = [(-0.5 + 1j * frequency)[half], left, left, drive, c]
    return LowRankSystem(*(one[None] for one in arrays), np.full(1, step_size))


def dense(system, length, pairs):
    """K and C~ by full matrices in complex128."""
    parts = [np.concatenate([one[0], one[0].conj()]) if pairs else one[0] for one in system[:-1]]
    poles, left, right, drive, readout = parts
    a, h = np.diag(poles) - np.outer(left, right.conj()), system.step_size[0]
    eye = np.eye(len(poles))
    step = np.linalg.solve(eye - h / 2 * a, eye + h / 2 * a)
    state, kernel = np.linalg.solve(eye - h / 2 * a, h * drive), []
    for _ in range(length):
        kernel.append((readout @ state).real)
        state = step @ state
    truncated = readout @ (eye - np.linalg.matrix_power(step, length))
    return np.array(kernel), truncated[: len(system.readout[0])][None]


def cast(system, dtype):
    kind = jnp.result_type(dtype, jnp.complex64)
    return LowRankSystem(*(jnp.asarray(one, kind) for one in system[:-1]), jnp.asarray(system.step_size, dtype))


@pytest.mark.parametrize("method", ["cauchy", "dense"])
def test_one_state_by_hand_at_all_lengths(method, request):
    system, few = cast(hippo(1, 0.5), jnp.float32), (1, 2, 3, 16, 17, 32, 33)
    for length in range(1, 34) if request.config.getoption("--full") else few:
        kernel = jax.jit(lambda s, n=length: dplr_kernel(s, n, pairs=False, method=method))(system)
        np.testing.assert_allclose(kernel[0], 0.4 * 0.6 ** np.arange(length), atol=3e-7)
    for length, values in ((1, [1.0]), (2, [0.625, 0.375])):
        kernel = dplr_kernel(system, length, pairs=False, truncated=True, method=method)
        np.testing.assert_allclose(kernel[0], values, atol=1e-6)


@both_precisions
@pytest.mark.parametrize("method", ["cauchy", "dense"])
@pytest.mark.parametrize("length", [1, 16, 45])
def test_pairs_against_dense_matrices(dtype, method, length):
    system = hippo(8, 0.05)
    kernel, truncated = dense(system, length, True)
    tolerance = 500 * float(jnp.finfo(dtype).eps)
    for readout, is_truncated in ((system.readout, False), (truncated, True)):
        made = jax.jit(lambda s, t=is_truncated: dplr_kernel(s, length, pairs=True, truncated=t, method=method))
        actual = made(cast(system._replace(readout=readout), dtype))
        assert reference.worst(actual[0], kernel) < tolerance


def test_64_states_over_4096_steps_in_float32():
    system = hippo(64, 1e-3)
    kernel, truncated = dense(system, 4096, True)
    assert reference.worst(dplr_kernel(cast(system, jnp.float32), 4096, pairs=True)[0], kernel) < 1e-4
    cauchy = jax.jit(lambda s: dplr_kernel(s, 4096, pairs=True, truncated=True, method="cauchy"))
    assert reference.worst(cauchy(cast(system._replace(readout=truncated), jnp.float32))[0], kernel) < 1e-4


def test_gradients_of_both_forms_agree_and_survive_rematerialisation():
    system = cast(hippo(6, 0.1), jnp.float32)

    def gradient(**options):
        def loss(parts):
            whole = LowRankSystem(*(jax.lax.complex(one[0], one[1]) for one in parts), system.step_size)
            return (dplr_kernel(whole, 20, pairs=True, **options) ** 2).sum()

        return jax.jit(jax.grad(loss))([(one.real, one.imag) for one in system[:-1]])

    expected = gradient(method="dense")
    for options in ({"method": "cauchy"}, {"method": "cauchy", "rematerialise": True}):
        for one, other in zip(jax.tree.leaves(gradient(**options)), jax.tree.leaves(expected), strict=True):
            assert np.isfinite(one).all() and reference.worst(one, other) < 1e-4


def test_bad_arguments_get_a_sentence():
    system = cast(hippo(1, 0.5), jnp.float32)
    assert dplr_kernel(system, 0, pairs=False).shape == (1, 0)
    with pytest.raises(ValueError, match="must be one of auto, cauchy"):
        dplr_kernel(system, 4, pairs=False, method="magic")
    with pytest.raises(ValueError, match="at least 0, but got -1"):
        dplr_kernel(system, -1, pairs=False)
