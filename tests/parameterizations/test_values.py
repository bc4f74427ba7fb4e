"""Values and derivatives of every map under every link against definitions written anew and evaluated in mpmath."""

import jax.numpy as jnp
import numpy as np
import pytest

import stablessm
from stablessm import PARAMETERIZATIONS, Parameterization
from tests.parameterizations import programs
from tests.parameterizations.reference import IDS, MAPS, VIEWS, decay, exact, held, view
from tests.tolerances import assert_close

_SIZES = np.concatenate([10.0 ** np.arange(-37, 38.5, 3), np.logspace(-5, 2.3, 90), [3.4e38, 88.5, 103.0]])
WEIGHTS = np.unique(np.concatenate([_SIZES, -_SIZES]).astype(np.float32))
CONTINUOUS = [one for one in MAPS if one.link == "continuous"]


def _weights(parameterization: Parameterization, largest: float = 1e4) -> np.ndarray:
    """The weights, without the kink of clip; of exp(exp(w)) mpmath cannot hold the exponent far out."""
    chosen = WEIGHTS[np.abs(np.abs(WEIGHTS) - 1e-4) > 1e-9]
    return chosen[np.abs(chosen) < largest] if parameterization.name == "exp" else chosen


@pytest.mark.matrix(3)
@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_every_view_and_its_derivatives_are_right_to_a_few_units_in_the_last_place(parameterization):
    weights = _weights(parameterization)
    results = programs.views(parameterization, weights)
    places = tuple(map(float, weights))
    size = np.abs(exact(decay(parameterization.name, parameterization.link), places, 0)[0])
    for which in VIEWS:
        through_exp = parameterization.link == "exponential" and which in ("eigenvalue", "margin")
        for order in programs.ORDERS:
            expected, condition = exact(view(parameterization.name, parameterization.link, which), places, order)
            known = ~np.isnan(expected)
            condition = condition + (np.minimum(size, 1e3) if through_exp else 0)
            assert_close(results[which, order][known], expected[known], condition=condition[known])


@pytest.mark.matrix(10)  # of the maps that test_finite.py takes, so that one worker compiles them once
@pytest.mark.parametrize("step_size, frequency", [(1.0, 0.0), (0.001, 30.0), (0.125, 3.0)])
@pytest.mark.parametrize("parameterization", CONTINUOUS, ids=lambda one: one.name)
def test_zero_order_hold_is_right_with_its_derivatives(parameterization, step_size, frequency):
    weights = _weights(parameterization, 80)[::4]
    step_size, frequency = float(np.float32(step_size)), float(np.float32(frequency))
    results = programs.hold(parameterization, weights, step_size, frequency)
    places = tuple(map(float, weights))
    size, slope, bend = (np.abs(exact(decay(parameterization.name, "continuous"), places, n)[0]) for n in range(3))
    bend_over_slope = np.divide(bend, slope, out=np.zeros_like(slope), where=slope > 0)
    for which in ("eigenvalue", "input"):
        expression = held(parameterization.name, which, step_size, frequency)
        first = np.abs(exact(expression, places, 1, 400)[0])
        for order in programs.ORDERS:
            expected, condition = exact(expression, places, order, 400)
            known = ~np.isnan(expected) & (np.abs(expected) < 1e37)
            # f'' is a sum of F'' s'^2 and F' s'', and a moment of order n is flushed before s'^n multiplies it
            chain = 2 * np.where(known, first, 0) * bend_over_slope if order == 2 else 0
            scale = np.abs(expected) + chain
            bounds = {
                "condition": (condition + np.minimum(size * step_size, 1e3) + frequency * step_size)[known],
                "scale": scale[known],
                "amplification": ((slope * step_size) ** order)[known],
            }
            for side in ("real", "imag"):
                assert_close(results[f"{which}.{side}", order][known], getattr(expected, side)[known], **bounds)
            if frequency == 0:
                assert_close(results[which, order][known], expected.real[known], **bounds)


def test_the_input_factor_of_a_known_system():
    _, held_input = PARAMETERIZATIONS["direct"].zero_order_hold(-0.3, 0.1)
    assert abs(float(held_input) - 0.09851489) < 1e-8


def test_a_tiny_complex_step():
    # At z = lambda dt = -1e-5 (1 + i): (e^z - 1)/z = 1 + z/2 + z^2/6
    _, held_input = PARAMETERIZATIONS["direct"].zero_order_hold(-1e-5, 1.0, frequency=-1e-5)
    z = -1e-5 * (1 + 1j)
    assert abs(complex(held_input) - (1 + z / 2 + z**2 / 6)) < 1e-7


def test_the_margin_survives_where_the_eigenvalue_rounds_to_one():
    tanh = PARAMETERIZATIONS["tanh"]
    assert 1 - float(tanh.eigenvalue(jnp.float32(9.5))) == 0  # what a subtraction would give
    for weight in (8.0, 9.5, 30.0, 40.0):
        expected, condition = exact(view("tanh", "one-minus", "margin"), (weight,), 0)
        assert_close(np.asarray(tanh.margin(jnp.float32([weight]))), expected, condition=condition)
    exact_margin = 2.2507034943851823e-07  # 1 - tanh 8
    assert abs(float(tanh.margin(jnp.float32(8.0))) / exact_margin - 1) < 4 * np.finfo(np.float32).eps


@pytest.mark.parametrize(
    "name, constants, expected",
    [
        ("direct", {}, -0.5),
        ("exp", {}, -0.6931471806),
        ("softplus", {}, -0.4327521296),
        ("best", {"b": 0.5}, 1.2247448714),
        ("best", {"b": 0.1}, 1.3784048752),
    ],
)
def test_starting_weights_of_the_theory(name, constants, expected):
    assert_close(np.asarray(PARAMETERIZATIONS[name].weight(0.5, **constants)), expected)


@pytest.mark.parametrize(
    "name, constants, expected",
    [
        ("direct", {}, 400),
        ("exp", {}, 20),
        ("softplus", {}, 19.5082302),
        ("best", {"b": 0.5}, 8.83176087),
        ("best", {"b": 0.1}, 8.92188321),
    ],
)
def test_gradient_scale_of_the_theory(name, constants, expected):
    import jax

    parameterization = PARAMETERIZATIONS[name].replace(constants=constants)
    weight = parameterization.weight(0.05)
    scale = abs(jax.grad(parameterization.decay)(weight)) / parameterization.decay(weight) ** 2
    assert_close(np.asarray(scale), expected, condition=8)


@pytest.mark.parametrize("link", ["one-minus", "exponential"])
def test_direct_weights_are_the_eigenvalues_in_discrete_time(link):
    direct = PARAMETERIZATIONS["direct"].replace(link=link)
    weights = jnp.linspace(0.001, 0.999, 101)
    np.testing.assert_array_max_ulp(np.asarray(direct.eigenvalue(weights)), np.asarray(weights), 1)
    if link == "one-minus":
        np.testing.assert_array_equal(direct.eigenvalue(-weights), -weights)
    else:  # the modulus of a negative weight counts
        np.testing.assert_array_max_ulp(np.asarray(direct.eigenvalue(-weights)), np.asarray(weights), 1)


@pytest.mark.matrix(4)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_half_precision_keeps_its_dtype_and_is_close(parameterization, dtype):
    weights = np.array([-2.0, -0.75, 0.25, 0.75, 1.5, 3.0])
    half = jnp.asarray(weights, dtype)
    size = np.abs(exact(decay(parameterization.name, parameterization.link), tuple(weights), 0)[0])
    for which in VIEWS:
        result = getattr(parameterization, which)(half)
        assert result.dtype == dtype
        expected, condition = exact(view(parameterization.name, parameterization.link, which), tuple(weights), 0)
        known = np.isfinite(expected)
        assert_close(np.asarray(result)[known], expected[known], condition=(condition + size)[known])
    if parameterization.link == "continuous":
        for one in parameterization.zero_order_hold(half, 0.125):
            assert one.dtype == dtype
            assert np.isfinite(np.asarray(one, float)).all()


def test_the_package_exports_the_registry():
    assert stablessm.PARAMETERIZATIONS is PARAMETERIZATIONS
    assert list(PARAMETERIZATIONS) == ["direct", "exp", "softplus", "best", "tanh", "sigmoid", "square", "relu", "clip"]
