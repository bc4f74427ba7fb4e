"""The analysis of memory functions, on a dataset made by hand whose decays are known."""

import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.cli.pipeline import module

sys.path.insert(0, str(Path(__file__).parent.parent / "figures"))


@pytest.fixture(scope="module")
def raw():
    import handmade

    return handmade.memory(parameterization=("exp", "best"), target=("exponential", "polynomial"))


@pytest.fixture(scope="module")
def reduced(raw):
    before = raw.copy(deep=True)
    found = module("analysis", "memory_decay").reduce(raw)
    xr.testing.assert_identical(before, raw)
    datasets.validate(found)
    return found


def words(codes):
    known = dict(zip(codes.attrs["flag_values"].tolist(), codes.attrs["flag_meanings"].split(), strict=True))
    return {known[code] for code in codes.values.ravel().tolist()}


def test_decay_before_and_after_training_and_of_the_target(reduced):
    before, after = reduced.isel(step=0), reduced.isel(step=1)
    assert words(before["fitted_kind"]) == {"exponential"} and words(after["fitted_kind"]) == {"polynomial"}
    np.testing.assert_allclose(before["fitted_decay"], 0.1, rtol=1e-6)
    np.testing.assert_allclose(after["fitted_decay"], 1.2, rtol=1e-6)
    assert (before["criterion"] < -10).all() and (after["criterion"] > 10).all()
    assert reduced["target_fitted_decay"].dims == ("target", "part")
    np.testing.assert_allclose(reduced["target_fitted_decay"], 1.1, rtol=1e-6)
    seeds = reduced["seeds"].broadcast_like(after["polynomial_seeds"])
    assert (after["polynomial_seeds"] == seeds).all() and (after["exponential_seeds"] == 0).all()
    np.testing.assert_allclose(before["median_exponential_rate"], 0.1, rtol=1e-6)


def test_the_curve_is_that_of_the_fit_and_ends_with_its_part(raw, reduced):
    curve = reduced["fitted_memory_function"].isel(step=1, seed=0, target=0, parameterization=0).squeeze()
    exact = (1 + curve["curve_time"]) ** -1.2
    np.testing.assert_allclose(curve.sel(part="whole"), exact, rtol=1e-5)
    trained = curve["curve_time"] <= raw["time"][int(raw["horizon"].max()) - 1]
    near = curve.sel(part="remembered")
    np.testing.assert_allclose(near[trained], exact[trained], rtol=1e-5)
    assert near[~trained].isnull().all()


def test_what_is_not_computed_is_said_to_be_so(raw):
    lost = raw.copy(deep=True)
    lost["outcome"][:] = 6
    lost["memory_function"][:] = np.nan
    lost["context_difference"][:] = np.nan
    found = module("analysis", "memory_decay").reduce(lost)
    assert words(found["fitted_kind"]) == {"not_computed"} and (found["seeds"] == 0).all()
    assert found["fitted_decay"].isnull().all() and found["effective_context"].isnull().all()


def test_the_context_bound_holds(raw, reduced):
    bound = reduced["context_amplitude"] * np.exp(-reduced["context_decay"] * raw["lag"])
    assert (raw["context_difference"] <= bound * (1 + 1e-9)).all()


def test_a_target_whose_samples_end_is_fitted_as_far_as_it_is_known(raw):
    short = raw.isel(target=[0]).copy(deep=True)
    short["target_memory_function"][..., 50:] = np.nan
    found = module("analysis", "memory_decay").reduce(short)
    assert words(found["target_fitted_kind"]) == {"polynomial"}
    np.testing.assert_allclose(found["target_fitted_decay"], 1.1, rtol=1e-6)


def test_what_overflows_is_said_to_be_so(raw):
    exploded = raw.isel(target=[0]).copy(deep=True)
    exploded["memory_function"][..., 1, 10:] = np.inf
    exploded["context_difference"][..., 1, 3:] = np.inf
    found = module("analysis", "memory_decay").reduce(exploded).isel(step=1)
    assert words(found["fitted_kind"]) == {"not_finite"} and np.isinf(found["effective_context"]).all()
