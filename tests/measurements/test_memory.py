"""Memory measured through a sweep, and the longest memory of a number format."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import stablessm
from stablessm import PARAMETERIZATIONS
from stablessm.measurements.representable_program import margins
from stablessm.sweeps.errors import SpecError

FIT = {
    "name": "remembered",
    "measurement": "memory",
    "axes": {
        "parameterization": ["direct", "best"],
        "link": ["continuous"],
        "target": ["polynomial"],
        "width": [8],
        "learning_rate": [1e-2],
        "seed": [0, 1],
    },
    "settings": {"steps": 40, "horizon": 20, "memory_horizon": 50, "lags": 8, "points": 9},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return stablessm.run_sweep(FIT, out=tmp_path_factory.mktemp("memory"))


def test_maps_remember_the_same_before_training_and_not_after(data):
    start = data["memory_function"].sel(step=0)
    np.testing.assert_allclose(start.sel(parameterization="best"), start.sel(parameterization="direct"), rtol=1e-4)
    end = data["memory_function"].sel(step=40)
    assert (np.abs(end - start).max("time") > 1e-3).all()
    assert data["memory_function"].sizes["time"] == 50 and (data["horizon"] == 20).all()


def test_heaviside_impulse_and_context_agree_with_the_kernel(data):
    assert (data["disagreement"] < 1e-4).all()
    lags = data["lag"].values.astype(int)
    exact = data["memory_function"].isel(time=lags).values
    np.testing.assert_allclose(data["context_difference"], exact, atol=1e-4 * exact.max())


def test_the_target_and_the_map_are_stored_beside_it(data):
    target = data["target_memory_function"].squeeze().isel(parameterization=0, seed=0)
    np.testing.assert_allclose(target, (1 + np.arange(50)) ** -1.1, rtol=1e-5)
    best = data["margin_of_weight"].squeeze().isel(seed=0).sel(parameterization="best")
    np.testing.assert_allclose(best, 1 / (data["weight"] ** 2 + 0.5), rtol=1e-5)
    one = data.sel(parameterization="best").squeeze()
    np.testing.assert_allclose(one["margin"], 1 / (one["recurrent_weight"] ** 2 + 0.5), rtol=1e-5)
    np.testing.assert_allclose(one["eigenvalue"], -one["margin"], rtol=1e-6)


def test_a_run_that_diverges_is_an_outcome_and_never_nan(tmp_path):
    axes = FIT["axes"] | {"learning_rate": [1e-1, 1e3], "seed": [0], "optimizer": ["gradient_descent"]}
    found = stablessm.run_sweep(FIT | {"name": "bad", "axes": axes}, out=tmp_path)
    direct = found.sel(parameterization="direct", learning_rate=1e3)
    assert (direct["outcome"] > 2).all()
    for name in ("memory_function", "context_difference", "disagreement", "margin", "recurrent_weight"):
        assert not np.isnan(found[name]).any()


def test_a_memory_horizon_below_the_fit_is_refused(tmp_path):
    with pytest.raises(SpecError, match="memory_horizon"):
        stablessm.run_sweep(FIT | {"settings": FIT["settings"] | {"memory_horizon": 10}}, out=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def longest(tmp_path_factory):
    maps = [("direct", "continuous"), ("direct", "one-minus"), ("exp", "exponential"), ("best", "continuous"),
            ("tanh", "one-minus"), ("clip", "continuous")]  # fmt: skip
    document = {
        "name": "formats",
        "measurement": "representable_memory",
        "axes": {"parameterization": [{"name": n, "link": one, "label": f"{n} ({one})"} for n, one in maps]},
    }
    return stablessm.run_sweep(document, out=tmp_path_factory.mktemp("formats"))


def value(longest, name, label, dtype):
    return float(longest[name].sel(parameterization=label, dtype=dtype))


HALF_ROUNDING = {"float32": 2.0**24, "bfloat16": 2.0**8, "float16": 2.0**11}


@pytest.mark.parametrize("dtype", HALF_ROUNDING)
def test_a_subtraction_from_one_loses_all_but_half_its_rounding(longest, dtype):
    for label in (
        "direct (continuous)",
        "direct (one-minus)",
        "exp (exponential)",
        "best (continuous)",
        "tanh (one-minus)",
    ):
        assert value(longest, "longest_memory_by_subtraction", label, dtype) == HALF_ROUNDING[dtype], label
    assert value(longest, "longest_memory", "direct (one-minus)", dtype) == HALF_ROUNDING[dtype]


def test_the_maps_own_margin_reaches_the_smallest_number_of_the_format(longest):
    for label in ("direct (continuous)", "exp (exponential)", "best (continuous)", "tanh (one-minus)"):
        for dtype in ("float32", "bfloat16"):
            assert 1e37 < value(longest, "longest_memory", label, dtype) <= 1 / np.finfo(np.float32).tiny
    assert value(longest, "longest_memory", "direct (continuous)", "float16") == 2.0**24  # its smallest subnormal
    assert value(longest, "longest_memory", "clip (continuous)", "float32") == pytest.approx(1e4, rel=1e-6)


def test_sixteen_bits_are_searched_as_by_hand(longest):
    """float16 by NumPy: 1 / the smallest positive w, and 1 - w for the weights below 1."""
    weights = np.arange(2**16, dtype=np.uint16).view(np.float16)
    weights = weights[np.isfinite(weights)].astype(float)
    assert value(longest, "longest_memory", "direct (continuous)", "float16") == 1 / weights[weights > 0].min()
    assert value(longest, "longest_memory", "direct (one-minus)", "float16") == 1 / (1 - weights[weights < 1].max())
    brain = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)
    brain = brain[np.isfinite(brain)]
    assert value(longest, "longest_memory", "direct (one-minus)", "bfloat16") == 1 / (1 - brain[brain < 1].max())


def test_float32_is_searched_down_to_single_weights(longest):
    weight = np.float32(longest["longest_memory_weight"].sel(parameterization="direct (one-minus)", dtype="float32"))
    assert abs(weight) == np.nextafter(np.float32(1), np.float32(0))


def test_tanh_loses_its_digits_at_eight_and_keeps_them_in_its_margin():
    own, by_subtraction = margins(PARAMETERIZATIONS["tanh"], jnp.dtype("float32"), 1.0, {})
    weight = jnp.float32(8)
    exact = 2 / (np.exp(16.0) + 1)  # 3.776 * 2^-24
    lost = float(by_subtraction(weight)) * 2**24  # by how tanh is computed
    assert lost in range(8) and abs(lost * 2.0**-24 / exact - 1) > 0.05
    assert float(own(weight)) == pytest.approx(exact, rel=1e-6)
