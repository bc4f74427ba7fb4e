"""S4D, S5, LRU and HiPPO: values by hand, the bilinear rule, real poles beside pairs, and bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import REFERENCES

from stablessm import PARAMETERIZATIONS, Parameterization, ParameterizationError, engine
from stablessm.layers import LRU, S4, S4D, S5
from stablessm.layers.hippo import diagonal_eigenvalues, legs, normal_plus_low_rank
from stablessm.layers.lru import ring
from stablessm.layers.s4 import s4
from stablessm.layers.stepping import stepping

EXP = PARAMETERIZATIONS["exp"]
KEY = jax.random.key(0)
run = eqx.filter_jit(lambda layer, x: layer(x)[0])


def test_hippo_of_four_states():
    s3, s5, s7 = np.sqrt([3, 5, 7])
    wanted = -np.array([[1, 0, 0, 0], [s3, 2, 0, 0], [s5, s3 * s5, 3, 0], [s7, s3 * s7, s5 * s7, 4]])
    np.testing.assert_allclose(legs(4)[0], wanted, rtol=1e-14)


@pytest.mark.parametrize("states", [1, 2, 3, 8, 63, 64])
def test_hippo_is_normal_but_for_rank_one(states):
    matrix, inputs = legs(states)
    found = normal_plus_low_rank(states)
    back = found.basis @ (np.diag(found.eigenvalues) - np.outer(found.low_rank, found.low_rank.conj()))
    np.testing.assert_allclose(back @ found.basis.conj().T, matrix, atol=1e-10 * np.abs(matrix).max())
    np.testing.assert_allclose(found.basis @ found.inputs, inputs, atol=1e-10 * inputs.max())
    assert (found.eigenvalues.real == -0.5).all() and (found.eigenvalues == found.eigenvalues[::-1].conj()).all()
    stored = diagonal_eigenvalues("legs", states)
    assert len(stored) == (states + 1) // 2 and (stored.imag[: states // 2] > 0).all()


def test_bilinear_rule_of_one_mode_by_hand():
    found = stepping(EXP, EXP.weight(jnp.float32(0.5)), jnp.float32(3.0), 0.1, rule="bilinear")
    assert abs(found.multiplier) == pytest.approx(0.952268, abs=1e-6)
    assert np.exp(found.poles.log_modulus) == pytest.approx(0.952268, abs=1e-6)
    assert found.gain == pytest.approx(0.1 / (1 - 0.05 * (-0.5 + 3j)), rel=1e-6)
    exact = ((1 + 0.05 * (-0.5 + 3j)) / (1 - 0.05 * (-0.5 + 3j))) ** np.array([1, 7])
    np.testing.assert_allclose(engine.powers(found.poles, np.array([1, 7])), exact, rtol=7 * 2.0**-23)


@pytest.mark.parametrize("rule", ["zero_order_hold", "bilinear"])
@pytest.mark.parametrize("s, theta", [(0.5, 3.0), (1e-4, 0.01), (30.0, 2.0), (20.0, 0.0), (45.0, 0.0)])
def test_rules_against_scipy(rule, s, theta):
    from scipy.signal import cont2discrete  # it takes a second to import: one worker pays it and not both

    weight, dt = EXP.weight(jnp.float32(s)), 0.1
    found = stepping(EXP, weight, jnp.float32(theta) if theta else None, dt, rule=rule)
    real, first = np.array([[-s, -theta], [theta, -s]]), np.array([[1.0], [0.0]])
    system = (real, first, np.eye(2), np.zeros((2, 1)))
    ab, bb = cont2discrete(system, dt, "zoh" if rule == "zero_order_hold" else "bilinear")[:2]
    # SciPy's bilinear rule reads before the update: its gain is that of h Ab..., ours (I - hA/2)^-1 h B
    gain = bb if rule != "bilinear" else np.linalg.solve(np.eye(2) - dt / 2 * real, dt * first)
    assert complex(found.multiplier) == pytest.approx(complex(ab[0, 0], ab[1, 0]), rel=3e-6, abs=3e-7)
    assert complex(found.gain) == pytest.approx(complex(gain[0, 0], gain[1, 0]), rel=3e-6, abs=1e-8)


@pytest.mark.parametrize("kind", [S4D, S5])
def test_pairs_stored_once_are_the_full_real_system(kind):
    stored = np.array([-0.5 + 3j, -0.1 + 40j, -0.7])
    layer = kind(EXP, stored, inputs=2, rule="bilinear", key=KEY)
    x = jax.random.normal(KEY, (40, 2))
    exact = REFERENCES[kind.__name__.lower()](layer, np.asarray(x, float))
    np.testing.assert_allclose(run(layer, x), exact, atol=2e-6 * (1 + np.abs(exact).max()))
    b, c = (np.asarray(one, float) @ [1, 1j] for one in (layer.input_weight, layer.readout))
    if kind is S4D:  # the kernel of channel 0 from all five poles, each conjugate written out
        lam, weights = np.concatenate([stored, stored[:2].conj()]), c[0] * b[0]
        weights = np.concatenate([weights[:2], weights[2:].real, weights[:2].conj()])
        z = lam * float(layer.step_size()[0])
        powers = ((1 + z / 2) / (1 - z / 2)) ** np.arange(40)[:, None]
        kernel = (powers * weights * z / lam / (1 - z / 2)).sum(1)
        assert np.abs(kernel.imag).max() < 1e-12
        kernel[0] += float(layer.feedthrough[0])
        np.testing.assert_allclose(layer.channel_kernels(40)[0], kernel.real, atol=3e-6)


@pytest.mark.parametrize("rule", ["zero_order_hold", "bilinear"])
def test_long_kernel_of_many_modes(rule):
    layer = S4D(EXP, diagonal_eigenvalues("lin", 128), inputs=2, rule=rule, step_sizes=(1e-3, 1e-1), key=KEY)
    lam, dt = np.asarray(layer.eigenvalues(), complex), np.asarray(layer.step_size(), float)[:, None]
    z = lam * dt
    turn = np.log((1 + z / 2) / (1 - z / 2)) if rule == "bilinear" else z
    gain = dt / (1 - z / 2) if rule == "bilinear" else np.expm1(z) / lam
    weights = gain * (np.asarray(layer.readout, float) @ [1, 1j]) * layer.modes.multiplicity()
    exact = np.array([(np.exp(turn * k) * weights).sum(-1).real for k in range(4096)]).T
    exact[:, 0] += np.asarray(layer.feedthrough, float)
    kernels = eqx.filter_jit(lambda one: one.channel_kernels(4096))(layer)
    assert np.abs(kernels - exact).max() <= 1e-4 * np.abs(exact).max()


def test_white_noise_keeps_the_states_of_a_normalised_layer_at_size_one():
    """E |h|^2 = gamma^2 |B u|^2 / (1 - |lambda|^2), written with the exact |lambda|^2 where 1 - |lambda| is 1e-6."""
    for s in (1e-6, 1e-2, 1.0):
        lru = LRU(EXP.replace(link="exponential"), np.exp([-s]), inputs=1, key=KEY)
        gamma = lru.discretised()[1]
        assert float(gamma[0]) ** 2 == pytest.approx(-np.expm1(-2 * float(EXP.decay(lru.weight)[0])), rel=1e-5)
    poles = np.asarray(ring(0.9, 0.99, 1.0, states=500, key=KEY))
    assert (np.abs(poles) >= 0.9).all() and (np.abs(poles) < 0.99).all() and (np.angle(poles) >= 0).all()
    assert np.mean(np.abs(poles) ** 2) == pytest.approx((0.81 + 0.9801) / 2, abs=0.01)


def test_s4_of_one_state_by_hand():
    """HiPPO of one state, h = 1/2, C = 1: K = .4, .24, .144, ..."""
    layer = s4(EXP, states=1, inputs=1, step_sizes=(0.5, 0.5), key=KEY)
    layer = eqx.tree_at(lambda one: (one.readout, one.feedthrough), layer, (jnp.ones((1, 1)), jnp.zeros(1)))
    np.testing.assert_allclose(layer.channel_kernels(5)[0], 0.4 * 0.6 ** np.arange(5), rtol=2e-6)


def test_s4_at_twice_the_length_and_half_the_step_is_the_same_continuous_system():
    layer = s4(EXP, states=16, inputs=2, step_sizes=(2e-3, 1e-2), key=KEY)
    both = eqx.filter_jit(lambda one, length: one.channel_kernels(length))
    np.testing.assert_allclose(both(layer, 128)[:, :64], both(layer, 64), atol=2e-6)
    system = {name: np.asarray(one)[0].astype(complex) for name, one in layer.system()._asdict().items()}
    full = {name: np.concatenate([one, one.conj()]) for name, one in system.items() if name != "step_size"}
    a = np.diag(full["eigenvalues"]) - np.outer(full["left"], full["right"].conj())
    lam, basis = np.linalg.eig(a)
    times = np.arange(1, 9)
    errors = []
    for factor in (1.0, 0.5):  # K_k / h at the middle of step k tends to C e^(A t) B, as h^2
        h = float(layer.step_size()[0]) * factor
        middle = (np.round(times / factor) + 0.5) * h
        exact = [((full["readout"] @ basis) * np.exp(lam * t)) @ np.linalg.solve(basis, full["drive"]) for t in middle]
        kernel = np.asarray(both(layer.rescaled(factor), 64)[0], float) / h
        errors.append(np.abs(kernel[np.round(times / factor).astype(int)] - np.real(exact)).max())
    assert errors[1] < 0.35 * errors[0]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: S4D(EXP, [-0.5 + 1j], inputs=0, key=KEY), "`inputs` must be a number of channels"),
        (lambda: S4D(EXP, [-0.5 + 1j], inputs=2, rule="euler", key=KEY), "`rule` must be one of zero_order_hold, bil"),
        (lambda: S4D(EXP, [-0.5, -0.5 + 1j], inputs=2, key=KEY), "one of each conjugate pair first"),
        (lambda: S5(EXP, [[-0.5 + 1j]], inputs=1, key=KEY), r"must have the shape \(modes,\), but got \(1, 1\)"),
        (lambda: S5(EXP, [], inputs=1, key=KEY), "must have the shape"),
        (lambda: S5(EXP, [np.nan], inputs=1, key=KEY), "must be finite, but got nan"),
        (lambda: S5(EXP, [0.5], inputs=1, key=KEY), "must lie in"),
        (lambda: S5(EXP, [-0.5], inputs=1, step_sizes=(0.1, 0.01), key=KEY), "two positive numbers in order"),
        (lambda: S5(PARAMETERIZATIONS["direct"].replace(link="one-minus"), [0.5 + 0.1j, -0.5], inputs=1, key=KEY),
         "a real pole beside pairs must be positive"),
        (lambda: S4(EXP.replace(link="exponential"), [0.5], inputs=1, key=KEY), "continuous time, but the link is"),
        (lambda: S4(EXP, [-0.5 + 1j, -0.5], inputs=1, key=KEY), "conjugate pairs or real poles, not both"),
        (lambda: S4(EXP, [-0.5], inputs=1, drive=[1, 1], key=KEY), r"`drive` must have the shape \(1,\), but got"),
        (lambda: s4(EXP, states=3, inputs=1, key=KEY), "must be even, or 1, but got 3"),
        (lambda: diagonal_eigenvalues("lin", 5), "must be even, but got 5"),
        (lambda: diagonal_eigenvalues("linear", 4), "must be one of lin, inv, legs"),
        (lambda: legs(0), "at least 1"),
        (lambda: ring(0.5, 1.0, 1.0, states=2, key=KEY), r"in order in \[0, 1\)"),
    ],
)  # fmt: skip
def test_bad_arguments_get_a_sentence(make, sentence):
    with pytest.raises((ParameterizationError, ValueError), match=sentence):
        make()


def test_a_map_sits_on_the_step_size_too():
    """Whatever it is, the layer starts at the same steps; one that it cannot make is refused."""
    own = Parameterization.from_formula("1/(w^2 + c)", constants={"c": 0.7})
    one, two = (S5(EXP, [-0.5], inputs=2, step_map=map_, key=KEY) for map_ in (EXP, own))
    np.testing.assert_allclose(one.step_size(), two.step_size(), rtol=1e-5)
    assert one.step_weight[0] < 0 < two.step_weight[0]  # log dt, and the root of 1/dt - c
    with pytest.raises(ParameterizationError, match=r"must lie in \(0, 1.428"):
        S5(EXP, [-0.5], inputs=2, step_sizes=(2.0, 3.0), step_map=own, key=KEY)
