"""The record: a frozen value with content equality, its constants, and what importing it loads."""

import dataclasses
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS, Parameterization, ParameterizationError
from tests.parameterizations.reference import IDS, MAPS
from tests.tolerances import assert_close

BEST = PARAMETERIZATIONS["best"]


@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_equal_content_is_equal_and_hashes_equal(parameterization):
    copy = pickle.loads(pickle.dumps(parameterization))
    assert copy == parameterization
    assert hash(copy) == hash(parameterization)
    assert copy is not parameterization
    with pytest.raises(dataclasses.FrozenInstanceError):
        copy.link = "continuous"


def test_content_tells_records_apart():
    assert BEST.replace(constants={"b": 0.1}) != BEST
    assert BEST.replace(link="one-minus") != BEST
    assert BEST.replace(constants={"b": 0.1}).replace(constants={"b": 0.5}) == BEST
    assert hash(BEST.replace(constants={"b": np.float64(0.5)})) == hash(BEST)
    assert BEST.replace(constants={"a": 1}) == BEST  # an integer is the float it equals
    first, second = (Parameterization.from_formula("1/(w^2+c)", constants={"c": c}) for c in (1, 1.0))
    assert first == second and hash(first) == hash(second)


def test_one_record_is_one_compilation_key():
    traces = []

    @jax.jit
    def inner(x):
        traces.append(1)
        return x

    def decay(parameterization, x):
        return inner(parameterization.decay(x))

    for copy in (BEST, pickle.loads(pickle.dumps(BEST))):
        decay(copy, jnp.ones(3))
    assert len(traces) == 1


def test_constants_map_over_weights_as_a_loop_and_trace_once():
    weights = jnp.linspace(-3, 3, 7)
    values = jnp.linspace(0.1, 2.0, 5)
    traces = []

    def decay(weight, b):
        traces.append(1)
        return BEST.decay(weight, b=b)

    batched = jax.jit(jax.vmap(jax.vmap(decay, (0, None)), (None, 0)))
    together = [batched(weights, values), batched(weights, values * 2)][0]
    assert len(traces) == 1
    loop = np.array([[float(BEST.decay(float(w), b=float(b))) for w in weights] for b in values])
    assert_close(np.asarray(together), loop)


@pytest.mark.parametrize("name, value", [("a", 1.7), ("b", 0.3)])
def test_gradients_in_the_constants(name, value):
    # s = 1/(a w^2 + b): ds/da = -w^2 s^2, ds/db = -s^2
    weight = 1.25
    constants = {"a": 1.0, "b": 0.5} | {name: value}
    decay = 1 / (constants["a"] * weight**2 + constants["b"])
    expected = -(decay**2) * (weight**2 if name == "a" else 1)
    slope = jax.grad(lambda v: BEST.decay(jnp.float32(weight), **{name: v}))(jnp.float32(value))
    assert_close(np.asarray(slope), expected, condition=2)
    second = jax.grad(jax.grad(lambda v: BEST.decay(jnp.float32(weight), **{name: v})))(jnp.float32(value))
    assert_close(np.asarray(second), 2 * decay**3 * (weight**4 if name == "a" else 1), condition=3)


def test_gradient_in_the_floor_of_clip():
    clip = PARAMETERIZATIONS["clip"]
    slope = jax.grad(lambda floor, w: clip.decay(w, floor=floor))
    assert float(slope(jnp.float32(1e-4), jnp.float32(1.0))) == 1.0
    assert float(slope(jnp.float32(1e-4), jnp.float32(-1.0))) == 0.0


def test_gradients_in_step_size_and_frequency():
    # B(dt) = (e^(z dt) - 1)/z, so dB/dt = e^(z dt); dB/dz = (dt e^(z dt) - B)/z, and z moves by i with the frequency
    def part(step, frequency, side):
        return getattr(PARAMETERIZATIONS["exp"].zero_order_hold(jnp.float32(0.2), step, frequency=frequency)[1], side)

    step, frequency = 0.3, 2.0
    z = -np.exp(np.float32(0.2)) + 1j * frequency
    growth = np.exp(z * step)
    held = (growth - 1) / z
    turned = 1j * (step * growth - held) / z
    arguments = jnp.float32(step), jnp.float32(frequency)
    for side in ("real", "imag"):
        by_step, by_frequency = jax.grad(lambda *x, side=side: part(*x, side), (0, 1))(*arguments)
        assert_close(np.asarray(by_step), getattr(growth, side), scale=abs(growth), condition=2)
        assert_close(np.asarray(by_frequency), getattr(turned, side), scale=abs(turned), condition=8)


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: BEST.replace(link="one_minus"), "a link must be one of continuous, one-minus, exponential, but got"
         " 'one_minus'; did you mean 'one-minus'"),
        (lambda: PARAMETERIZATIONS["tanh"].replace(link="continuous"),
         "'tanh' has the links one-minus, but not 'continuous'"),
        (lambda: BEST.replace(constants={"c": 1.0}), "'best' has no constant 'c'; its constants are: a, b"),
        (lambda: BEST.decay(1.0, c=1.0), "'best' has no constant 'c'; its constants are: a, b"),
        (lambda: BEST.replace(constants={"b": 0.0}),
         "the constant 'b' of 'best' must be a positive finite number, but got 0.0"),
        (lambda: BEST.replace(constants={"b": True}), "must be a positive finite number, but got True"),
        (lambda: BEST.replace(constants={"b": float("nan")}), "must be a positive finite number, but got nan"),
        (lambda: BEST.replace(constants={"b": "0.5"}), "must be a positive finite number, but got '0.5'"),
        (lambda: BEST.decay(1.0, b=-1.0), "must be a positive finite number, but got -1.0"),
        (lambda: Parameterization.from_formula("1/(w^2+c)").decay(1.0),
         "needs a value for the constant 'c', and has none"),
        (lambda: Parameterization.from_formula("1/(w^2+c)").image, "depends on the constant 'c', which has no value"),
        (lambda: Parameterization.from_formula("s + w"), "uses 's', which has a fixed meaning here"),
        (lambda: Parameterization.from_formula("step_size*w^2"), "uses 'step_size', which has a fixed meaning here"),
        (lambda: PARAMETERIZATIONS["tanh"].zero_order_hold(1.0, 0.1), "zero-order hold needs the link 'continuous'"),
    ],
)  # fmt: skip
def test_a_wrong_use_is_one_sentence(act, message):
    with pytest.raises(ParameterizationError) as caught:
        act()
    assert message in str(caught.value)


def test_shapes_broadcast_and_integers_become_floats():
    assert BEST.decay(jnp.ones((4, 1)), b=jnp.ones(3)).shape == (4, 3)
    assert BEST.decay(2).dtype == jnp.float32
    held = BEST.zero_order_hold(jnp.ones((4, 1)), jnp.ones(3), frequency=jnp.ones((5, 1, 1)))
    assert [one.shape for one in held] == [(5, 4, 3), (5, 4, 3)]
    assert [one.dtype for one in held] == [jnp.complex64, jnp.complex64]


def test_importing_and_listing_loads_neither_jax_nor_sympy_nor_numpy():
    code = (
        "import sys; from stablessm.parameterizations import PARAMETERIZATIONS as P; "
        "[(p.name, p.formula, p.link, p.links, p.constants, p.constant_names, p.reference, hash(p), repr(p)) "
        "for p in P.values()]; P['best'].replace(link='one-minus', constants={'b': 1}); "
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'jax', 'sympy', 'numpy', 'scipy', 'mpmath'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
