"""Analyses on datasets made by hand."""

import numpy as np
import pytest
import xarray as xr

from stablessm.cli.pipeline import module

WORDS = "converged step_limit collapsed diverged nonfinite outside_domain"


def outcomes(rows):
    """One map a row, one seed, a rate a column."""
    codes = np.array(rows, np.int8)[:, None, :]
    data = xr.Dataset(
        {"outcome": (("parameterization", "seed", "learning_rate"), codes)},
        {"parameterization": [f"map {i}" for i in range(len(rows))], "seed": [0],
         "learning_rate": 10.0 ** np.arange(codes.shape[-1])},
    )  # fmt: skip
    data["outcome"].attrs = {"flag_values": np.arange(6, dtype=np.int8), "flag_meanings": WORDS}
    return data


def test_largest_rate_is_the_top_of_the_first_unbroken_run():
    reduced = module("analysis", "stable_rates").reduce(
        outcomes([[0, 1, 1, 3], [0, 4, 1, 1], [3, 4, 4, 4], [1, 1, 1, 1], [1, 2, 2, 3]])
    )
    assert reduced["largest_stable_learning_rate"].values.ravel().tolist() == [100.0, 1.0, 0.0, 1000.0, 1.0]
    assert reduced["reentry"].values.ravel().tolist() == [0, 1, 0, 0, 0]
    assert reduced["rank"].values.tolist() == [2, 3, 5, 1, 3]
    assert reduced["common_outcome"].values[1].tolist() == [0, 4, 1, 1]
    assert all(one.attrs["long_name"] and one.attrs["units"] for one in reduced.data_vars.values())


def test_ratio_leaves_out_what_follows_a_nonfinite_step():
    ratio = np.array([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]])[None, :, :, None] * np.ones(2)
    data = xr.Dataset(
        {
            "gradient_to_weight_ratio": (("parameterization", "seed", "step", "quantile"), ratio),
            "outcome": (("parameterization", "seed"), np.array([[1, 4]], np.int8)),
            "first_bad_step": (("parameterization", "seed"), np.array([[-1, 10]])),
        },
        {"step": [0, 10, 20], "quantile": [0.5, 1.0], "seed": [0, 1], "parameterization": ["exp"]},
    )
    data["outcome"].attrs = {"flag_values": np.arange(6, dtype=np.int8), "flag_meanings": WORDS}
    reduced = module("analysis", "ratio_along_training").reduce(data)
    assert reduced["survivors"].values.ravel().tolist() == [2, 1, 1]
    assert reduced["median_ratio"].values.ravel().tolist() == [3.0, 2.0, 3.0]
    assert reduced["greatest_ratio"].values.ravel().tolist() == [5.0, 2.0, 3.0]


def test_accuracy_has_the_standard_error_over_seeds():
    values = np.array([[[0.5, 0.9], [0.7, 0.8], [0.6, 0.7]]])
    data = xr.Dataset(
        {"test_accuracy": (("parameterization", "seed", "learning_rate"), values)},
        {"parameterization": ["exp"], "seed": [0, 1, 2], "learning_rate": [1e-3, 1e-2]},
    )
    reduced = module("analysis", "accuracy").reduce(data)
    assert reduced["best_accuracy"].item() == pytest.approx(0.8)
    assert reduced["best_learning_rate"].item() == 1e-2
    assert reduced["best_accuracy_error"].item() == pytest.approx(0.1 / 3**0.5)
