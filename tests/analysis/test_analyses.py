"""Laws of the analyses, on datasets made by hand."""

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.cli.pipeline import module

WORDS = "converged step_limit collapsed diverged nonfinite outside_domain not_computed"
LOST = 6


def coded(codes, dims, **coordinates):
    data = xr.Dataset({"outcome": (dims, np.array(codes, np.int8))}, coordinates)
    data["outcome"].attrs = {
        "flag_values": np.arange(7, dtype=np.int8), "flag_meanings": WORDS, "units": "1", "long_name": "outcome",
    }  # fmt: skip
    for one in data.coords.values():
        one.attrs = {"units": "1", "long_name": str(one.name)}
    return data


def outcomes(rows, rates=None):
    """One map a row, one seed, a rate a column."""
    codes = np.array(rows, np.int8)
    codes = codes[:, None, :] if codes.ndim == 2 else codes
    return coded(
        codes,
        ("parameterization", "seed", "learning_rate"),
        parameterization=[f"map {i}" for i in range(len(codes))],
        seed=range(codes.shape[1]),
        learning_rate=10.0 ** np.arange(codes.shape[-1]) if rates is None else rates,
    )


def reduced(name, dataset):
    before = dataset.copy(deep=True)
    result = module("analysis", name).reduce(dataset)
    xr.testing.assert_identical(before, dataset)
    datasets.validate(result)
    return result


def words(variable):
    known = dict(zip(variable.attrs["flag_values"].tolist(), variable.attrs["flag_meanings"].split(), strict=True))
    return [known[value] for value in variable.values.ravel().tolist()]


def test_largest_rate_is_the_top_of_the_first_unbroken_run():
    found = reduced("stable_rates", outcomes([[0, 1, 1, 3], [0, 4, 1, 1], [3, 4, 4, 4], [1, 1, 1, 1], [1, 2, 2, 3]]))
    assert found["largest_stable_learning_rate"].values.ravel().tolist() == [100.0, 1.0, 0.0, 1000.0, 1.0]
    assert words(found["reach"]) == ["next_unstable", "next_unstable", "none_stable", "last_stable", "next_unstable"]
    assert words(found["reentry"]) == ["no", "yes", "no", "no", "no"]
    assert found["rank"].values.tolist() == [2, 3, 0, 1, 3]
    assert words(found["common_outcome"])[4:8] == ["converged", "nonfinite", "step_limit", "step_limit"]


def test_rates_too_small_to_learn_at_are_not_the_edge():
    found = reduced("stable_rates", outcomes([[2, 2, 0, 1, 3], [3, 0, 0, 4, 0], [2, 3, 4, 4, 4], [2, 2, 2, 2, 1]]))
    assert found["largest_stable_learning_rate"].values.ravel().tolist() == [1000.0, 100.0, 0.0, 10000.0]
    assert found["lowest_stable_rate"].values.ravel().tolist() == [100.0, 10.0, 0.0, 10000.0]
    assert words(found["reach"]) == ["next_unstable", "next_unstable", "none_stable", "last_stable"]
    assert words(found["reentry"]) == ["no", "yes", "no", "no"]


def test_rates_are_taken_in_order_whatever_the_order_on_the_axis():
    found = reduced("stable_rates", outcomes([[4, 1, 1]], rates=[1.0, 0.01, 0.1]))
    assert found["largest_stable_learning_rate"].item() == 0.1 and words(found["reentry"]) == ["no"]


def test_what_is_not_computed_is_neither_stable_nor_unstable():
    found = reduced("stable_rates", outcomes([[[1, LOST, 1], [1, 1, 3]], [[LOST] * 3, [LOST] * 3]]))
    assert words(found["reach"]) == ["some_not_computed", "next_unstable", "some_not_computed", "some_not_computed"]
    assert words(found["reentry"]) == ["no"] * 4
    assert found["seeds"].values.tolist() == [[2, 1, 2], [0, 0, 0]]
    assert found["stable_share"].values[0].tolist() == [1.0, 1.0, 0.5]
    assert np.isnan(found["stable_share"].values[1]).all()
    assert found["median_largest_rate"].values[0] == 10 and np.isnan(found["median_largest_rate"].values[1])
    assert found["rank"].values.tolist() == [1, 0]
    assert words(found["common_outcome"])[3:] == ["not_computed"] * 3


def test_a_run_is_known_where_all_up_to_its_end_is_computed():
    rows = [[LOST, 3, 1, 3], [1, 3, LOST, 1], [3, 1, 1, LOST], [3, 1, 3, LOST], [3, 3, 3, LOST]]
    cut, known = "some_not_computed", "next_unstable"
    assert words(reduced("stable_rates", outcomes(rows))["reach"]) == [cut, known, cut, known, cut]


def test_over_seeds():
    found = reduced("stable_rates", outcomes([[[1, 1, 1], [1, 1, 4], [1, 3, 3], [4, 3, 4]]]))
    assert found["largest_stable_learning_rate"].values.ravel().tolist() == [100, 10, 1, 0]
    got = [found[f"{name}_largest_rate"].item() for name in ("smallest", "median", "greatest")]
    assert got == [0, 5.5, 100] and found["seeds_of_largest_rate"].item() == 4
    assert found["stable_share"].values.ravel().tolist() == [0.75, 0.5, 0.25]
    assert found["stable_share_error"].values.ravel() == pytest.approx(
        [(p * (1 - p) / 4) ** 0.5 for p in (0.75, 0.5, 0.25)]
    )
    # A tie between stable and diverged is called diverged.
    assert words(found["common_outcome"]) == ["step_limit", "diverged", "nonfinite"]
    assert found["common_outcome_share"].values.ravel().tolist() == [0.75, 0.5, 0.5]


def ratios(outcome, bad, ratio):
    data = coded([outcome], ("parameterization", "seed"), parameterization=["exp"], seed=range(len(outcome)))
    data["first_bad_step"] = (("parameterization", "seed"), np.array([bad]), {"units": "1", "long_name": "bad"})
    data = data.assign_coords(step=[0, 10, 20], quantile=[0.0, 0.5, 1.0])
    values = np.array(ratio)[None, :, :, None] * np.array([0.1, 0.5, 1.0])
    dims = ("parameterization", "seed", "step", "quantile")
    data["gradient_to_weight_ratio"] = (dims, values, {"units": "1", "long_name": "ratio"})
    for name in ("step", "quantile"):
        data[name].attrs = {"units": "1", "long_name": name}
    return data


def test_ratio_leaves_out_what_follows_a_nonfinite_step_and_only_that():
    rows = [[1.0, 2.0, 3.0], [5.0, 6.0, 7.0], [9.0, 10.0, 11.0]]
    found = reduced("ratio_along_training", ratios([1, 4, 3], [-1, 10, 5], rows))
    assert found["survivors"].values.ravel().tolist() == [3, 2, 2] and found["seeds"].item() == 3
    assert found["median_ratio"].values.ravel().tolist() == [5.0, 6.0, 7.0]
    assert found["greatest_ratio"].values.ravel().tolist() == [9.0, 10.0, 11.0]
    assert found["smallest_ratio"].values.ravel().tolist() == [1.0, 2.0, 3.0]
    assert found["median_ratio_of_median_weight"].values.ravel().tolist() == [2.5, 3.0, 3.5]


def test_ratio_of_nobody_is_nan_with_a_count_that_says_so():
    found = reduced("ratio_along_training", ratios([4, LOST], [10, -1], [[1.0, 2.0, 3.0], [np.nan] * 3]))
    assert found["survivors"].values.ravel().tolist() == [1, 0, 0] and found["seeds"].item() == 1
    assert found["median_ratio"].values.ravel()[0] == 1.0
    for name in ("median_ratio", "smallest_ratio", "greatest_ratio"):
        assert np.isnan(found[name].values.ravel()[1:]).all()


def accuracies(codes, values, rates=(1e-3, 1e-2)):
    data = outcomes(np.array([codes]), rates=list(rates))
    attributes = {"units": "1", "long_name": "test accuracy"}
    return data.assign(test_accuracy=(data["outcome"].dims, np.array([values]), attributes))


def test_accuracy_has_the_standard_error_over_seeds():
    found = reduced("accuracy", accuracies([[1, 1], [1, 1], [1, 3]], [[0.5, 0.9], [0.7, 0.8], [0.6, 0.7]]))
    assert found["best_accuracy"].item() == pytest.approx(0.8) and found["best_learning_rate"].item() == 1e-2
    assert found["best_accuracy_error"].item() == pytest.approx(0.1 / 3**0.5) and found["best_seeds"].item() == 3
    assert found["stable_seeds"].values.ravel().tolist() == [3, 2]
    assert found["stable_mean_accuracy"].values.ravel() == pytest.approx([0.6, 0.85])
    assert found["stable_accuracy_error"].values.ravel()[1] == pytest.approx(0.05)


def test_one_seed_has_no_standard_error_and_no_seed_no_mean():
    found = reduced("accuracy", accuracies([[4, LOST]], [[0.25, np.nan]]))
    assert found["mean_accuracy"].values.ravel()[0] == 0.25 and np.isnan(found["accuracy_error"].values).all()
    assert np.isnan(found["mean_accuracy"].values.ravel()[1]) and found["seeds"].values.ravel().tolist() == [1, 0]
    assert np.isnan(found["stable_mean_accuracy"].values).all() and found["stable_seeds"].values.sum() == 0
    assert found["best_learning_rate"].item() == 1e-3
    nothing = reduced("accuracy", accuracies([[LOST, LOST]], [[np.nan, np.nan]]))
    assert np.isnan(nothing["best_accuracy"].item()) and np.isnan(nothing["best_learning_rate"].item())


def fits(codes, errors, rates=(1e-3, 1e-2)):
    """One map: a seed a row, a rate a column; the kernel of a run is its error, twice."""
    data = outcomes(np.array([codes]), rates=list(rates)).assign_coords(time=("time", [0.0, 1.0]))
    data["time"].attrs = {"units": "1", "long_name": "time"}
    dims, errors = data["outcome"].dims, np.array([errors])
    about = {"units": "1", "long_name": "something"}
    kernels = np.stack([errors, errors], -1)
    return data.assign(
        fit_error=(dims, errors, about),
        fitted_kernel=((*dims, "time"), kernels, about),
        target_kernel=((*dims, "time"), np.where(np.isnan(kernels), np.nan, 7.0), about),
    )


def test_best_fit_is_the_rate_of_the_least_median_and_its_typical_seed():
    found = reduced("best_fit", fits([[1, 1], [1, 1], [1, 3]], [[0.5, 0.1], [0.6, 0.2], [0.7, 1e9]]))
    assert found["median_fit_error"].values.ravel().tolist() == [0.6, 0.2]
    assert found["greatest_fit_error"].values.ravel().tolist() == [0.7, np.inf]
    assert found["best_learning_rate"].item() == 1e-2 and found["best_fit_error"].item() == 0.2
    assert found["fitted_kernel"].values.ravel().tolist() == [0.2, 0.2]
    assert found["target_kernel"].values.ravel().tolist() == [7.0, 7.0]
    assert found["stable_seeds"].values.ravel().tolist() == [3, 2] and found["rank"].item() == 1


def test_a_fit_half_of_whose_seeds_are_unstable_has_no_finite_error():
    found = reduced("best_fit", fits([[3, 1], [1, LOST], [4, LOST]], [[0.1, 0.4], [0.1, np.nan], [np.inf, np.nan]]))
    assert found["median_fit_error"].values.ravel().tolist() == [np.inf, 0.4]
    assert found["seeds"].values.ravel().tolist() == [3, 1] and found["best_learning_rate"].item() == 1e-2
    nothing = reduced("best_fit", fits([[3, LOST]], [[0.1, np.nan]]))
    assert np.isnan(nothing["best_learning_rate"].item()) and nothing["rank"].item() == 0
    assert np.isnan(nothing["fitted_kernel"].values).all()


@pytest.mark.parametrize("name", ["stable_rates", "ratio_along_training", "accuracy", "best_fit"])
def test_every_axis_but_the_reduced_ones_is_kept(name, training):
    found = reduced(name, training(width=(8, 64), optimizer=("adam", "adamw")))
    for variable in found.data_vars.values():
        assert {"parameterization", "width", "optimizer", "target", "link"} <= set(variable.dims)


def test_where_a_running_maximum_passes_a_threshold():
    crossing = module("analysis", "perturbation_radius").crossing
    beta = np.array([0.0, 1e-3, 1e-2, 1e-1])
    assert crossing(beta, np.array([1.0, 1.0, 1e2, 1e10]), 1e6) == pytest.approx(10**-1.5)
    assert crossing(beta, np.array([1.0, 1.0, 1e2, np.inf]), 1e6) == pytest.approx(10**-1.5)
    assert crossing(beta, np.array([1.0, 1e7, 1e8, 1e9]), 1e6) == 1e-3  # no logarithm of 0
    assert crossing(beta, np.array([1e7, 1e7, 1e8, 1e9]), 1e6) == 0
    assert crossing(beta, np.array([1.0, 1.0, 1.0, 1e6]), 1e6) == np.inf


def test_slope_over_widths():
    slope = module("analysis", "perturbation_radius").slope
    width = np.array([4, 8, 16])
    exact = 0.3 * width[:, None] ** -0.7 * np.ones(2)
    assert slope(width, exact) == pytest.approx([-0.7, 0.0, 6], abs=1e-9)
    exact[0] = np.inf  # never exploded
    assert slope(width, exact) == pytest.approx([-0.7, 0.0, 4], abs=1e-9)
    nothing = slope(width, np.full((3, 2), np.inf))
    assert np.isnan(nothing[:2]).all() and nothing[2] == 0
    assert np.isnan(slope(width, np.where(width[:, None] == 8, exact, np.inf))[0])


def test_radius_by_width_with_the_published_values_beside(perturbed):
    found = reduced("perturbation_radius", perturbed(parameterization=("direct", "exp"), learning_rate=(1e-2,)))
    one = found.squeeze(drop=True)
    assert found["explosion_beta"].sizes["width"] == 2 and one["seeds"].values.tolist() == [[3, 3], [3, 3]]
    direct = one.sel(parameterization="direct")
    # log10 of the error is (3 + horizon + width) place of beta + .2 seed; it passes 6 behind place (6 - .2 seed)/(...)
    expected = 10 ** -(4 - (6 - 0.2 * np.arange(3)) / 4)
    np.testing.assert_allclose(direct["explosion_beta"].sel(width=8, error_horizon=1000), expected, rtol=1e-6)
    np.testing.assert_allclose(direct["median_explosion_beta"].sel(width=8, error_horizon=1000), expected[1])
    assert (direct["width_slope"] < 0).all() and (direct["width_slope_values"] == 6).all()
    assert direct["unstable_beta"].values.ravel().tolist() == [1e-3] * 6
    assert np.isinf(one["median_unstable_beta"].sel(parameterization="exp")).all()
    published = one["published_explosion_beta"]
    assert published.sel(parameterization="direct").values == pytest.approx([0.075, 0.0085], rel=0.01)
    assert published.sel(parameterization="exp").isnull().all()


def test_radius_of_what_is_not_computed_is_nan_with_a_count_that_says_so(perturbed):
    data = perturbed(seed=(0, 1))
    data["outcome"][{"seed": 1}] = LOST
    for name in ("largest_perturbation_error", "perturbed_margin", "trained_decay"):
        data[name] = data[name].where(data["outcome"] != LOST)
    found = reduced("perturbation_radius", data)
    assert (found["seeds"] == 1).all() and found["explosion_beta"].isel(seed=1).isnull().all()
    assert found["median_explosion_beta"].notnull().all() and found["median_slowest_decay"].notnull().all()


def with_values(data, **values):
    """Add variables along the dimensions of the outcome, and a step where they have one axis more."""
    for name, array in values.items():
        dims = data["outcome"].dims if np.ndim(array) == data["outcome"].ndim else (*data["outcome"].dims, "step")
        data[name] = (dims, array, {"units": "1", "long_name": name})
    if "step" in data.dims:
        data = data.assign_coords(step=("step", range(data.sizes["step"]), {"units": "1", "long_name": "step"}))
    return data


def test_area_under_the_curve_is_that_of_scikit_learn_and_drawn_seeds_lie_around_it():
    from sklearn.metrics import roc_auc_score

    random = np.random.default_rng(1)
    bad = random.random((3, 6, 4)) < 0.4
    names = ("edge_ratio", "recurrent_sharpness", "gradient_to_weight_ratio", "gradient_scale_over_weight",
             "mode_curvature")  # fmt: skip
    scores = {name: np.round(random.random((*bad.shape, 2)) + 0.5 * bad[..., None], 1) for name in names}
    data = with_values(outcomes(np.where(bad, 3, 1)), **scores)
    found = reduced("divergence_prediction", data)
    rates = data["learning_rate"].values
    for name, score in scores.items():
        place = list(module("analysis", "divergence_prediction").PREDICTORS).index(name)
        one = found.isel(predictor=place)
        number = score[..., 0] * (1.0 if name == "edge_ratio" else rates)
        assert float(one["area"]) == pytest.approx(roc_auc_score(bad.ravel(), number.ravel()), abs=1e-12)
        assert float(one["low_area"]) <= float(one["area"]) <= float(one["high_area"])
        weights = [(bad[..., k].sum() * (~bad[..., k]).sum()) for k in range(len(rates))]
        each = [roc_auc_score(bad[..., k].ravel(), score[..., k, 0].ravel()) for k in range(len(rates))]
        assert float(one["area_at_one_rate"]) == pytest.approx(np.average(each, weights=weights), abs=1e-12)
    assert float(found["area_at_one_rate"][0]) == 0.5  # the rate does not tell runs at one rate apart


def test_rankings_at_two_rates_agree_reverse_or_say_nothing():
    losses = np.array([[1.0, 9.0, np.inf], [2.0, 5.0, np.inf], [3.0, 1.0, np.inf]])[:, None].repeat(4, 1)
    data = with_values(outcomes(np.where(np.isfinite(losses), 1, 4)), final_loss=losses)
    found = reduced("rate_ranks", data)
    assert found["rank"].sel(learning_rate=1.0).values.tolist() == [1, 2, 3]
    assert found["rank"].sel(learning_rate=10.0).values.tolist() == [3, 2, 1]
    assert (found["rank"].sel(learning_rate=100.0) == 0).all()
    tau = found["tau"].values
    assert np.allclose(tau[:2, :2], [[1, -1], [-1, 1]]) and np.isnan(tau[2]).all()
    assert (found["low_rank"] == found["high_rank"]).all()  # all seeds are alike


def test_ranking_by_the_largest_rate_counts_seeds():
    rates = np.array([[1.0, 1, 1, 1, 1], [4, 4, 4, 4, 4], [2, 9, 2, 2, 2]])[..., None]
    data = with_values(outcomes(np.ones(rates.shape)), largest_stable_learning_rate=rates).squeeze("learning_rate")
    found = reduced("rate_ranking", data)
    assert found["rank"].values.tolist() == [3, 1, 2] and found["gain"].values.tolist() == [1, 4, 2]
    assert found["first_share"].values[0] == 0 and 0.5 < found["first_share"].values[1] < 1
    assert found["high_largest_rate"].values.tolist() == [1, 4, 9]


def test_a_map_without_a_stable_rate_has_no_rank_and_no_gain():
    rates = np.array([[0.0] * 3, [0] * 3, [0, 2, 2]])[..., None]
    data = with_values(outcomes(np.ones(rates.shape)), largest_stable_learning_rate=rates).squeeze("learning_rate")
    found = reduced("rate_ranking", data)
    assert found["rank"].values.tolist() == found["low_rank"].values.tolist() == [0, 0, 1]
    assert found["high_rank"].values[2] in (1, 3)  # last where the seeds without a stable rate are drawn most
    np.testing.assert_array_equal(found["gain"], [np.nan, np.nan, np.inf])  # 0/0 is no ratio
    assert found["first_share"].values[:2].tolist() == [0, 0] and 0.5 < found["first_share"].values[2] < 1
    none = reduced("rate_ranking", data.isel(parameterization=slice(2)))
    assert not none["rank"].any() and not none["high_rank"].any() and not none["first_share"].any()


def test_an_error_that_is_infinite_at_once_explodes_at_the_stability_radius():
    betas = [1e-3, 1e-2, 1e-1]
    curves = {"infinite below": [np.inf] * 3, "infinite between": [1.0, 1.0, np.inf], "grows": [1.0, 1e8, np.inf]}
    radii = [1e-9, 0.03, 0.05]
    along = ("seed", "extent", "width", "beta")
    error = (along, np.array(list(curves.values()))[None, None])
    data = xr.Dataset(
        {
            **{
                name: error for name in ("perturbation_error", "perturbation_error_bound", "sampled_perturbation_error")
            },
            **{name: (along[:3], np.array(radii)[None, None]) for name in ("stability_radius", "euler_radius")},
            "modes_used": (along[:3], np.array([[[1, 2, 4]]])),
        },
        {"seed": [0], "extent": ["infinite"], "width": [1, 2, 4], "beta": betas},
    ).expand_dims(parameterization=["direct"])
    found = module("analysis", "exact_radius").reduce(data).squeeze()
    np.testing.assert_allclose(found["explosion_beta"], [1e-9, 0.03, 10 ** (-3 + 6 / 8)])
    assert found["reference_beta"] == 0.1 and np.isinf(found["reference_error"]).all()


def test_without_a_part_of_the_block_the_ranking_is_held_against_that_of_the_whole(ablated):
    data = ablated(parameterization=("direct", "exp", "best"))
    found = reduced("ablation", data).squeeze()
    assert found["rank_by_rate"].sel(ablation="gate").values.tolist() == [3, 2, 1]
    assert found["rank_by_rate"].sel(ablation="norm").values.tolist() == [1, 2, 3]
    assert found["tau_by_rate"].values.tolist() == pytest.approx([1, 1, -1])
    assert found["rank_by_accuracy"].sel(ablation="none").values.tolist() == [1, 2, 3]
    largest = data["gradient_constant"].sel(quantile=1.0)
    np.testing.assert_allclose(found["initial_constant"], largest.isel(step=0).median("seed").squeeze())
    np.testing.assert_allclose(found["largest_constant"], largest.max("step").median("seed").squeeze())


def test_training_curves_leave_out_what_was_not_reached_and_one_seed_has_no_error():
    runs = outcomes([[[1], [4]], [[1], [6]]]).isel(learning_rate=0)
    dims = ("parameterization", "seed")
    shown = {"units": "1", "long_name": "x"}
    runs["first_bad_step"] = (dims, np.array([[-1, 1], [-1, -1]], np.int32), shown)
    runs = runs.assign_coords(step=("step", [0, 1, 2], shown))
    runs["loss"] = ((*dims, "step"), np.array([[[3.0, 2, 1], [9, 8, 7]], [[3, 3, 3], [0, 0, 0]]]), shown)
    runs["test_loss"] = (dims, np.full((2, 2), 0.5), shown)
    runs["test_accuracy"] = (dims, np.array([[0.9, 0.7], [0.6, 0.0]]), shown)
    runs["test_accuracy_error"] = (dims, np.array([[0.02, 0.04], [0.01, 0.0]]), shown)
    found = reduced("training_curves", runs)
    assert found["median_loss"].values.tolist() == [[6.0, 2.0, 1.0], [3.0, 3.0, 3.0]]
    np.testing.assert_allclose(found["test_metric"], [0.8, 0.6])
    np.testing.assert_allclose(found["error_over_seeds"], [0.1, np.nan])
    np.testing.assert_allclose(found["error_over_rows"], [0.03, 0.01])
    assert found["seeds"].values.tolist() == [2, 1]


def test_scores_are_means_of_the_seeds_that_end_and_what_is_not_reported_is_not_a_number():
    import handmade

    shown = {"units": "1", "long_name": "test R2 at the end"}
    dims = ("model", "seed")
    kinds = {"flag_values": np.arange(7, dtype=np.int8), "flag_meanings": " ".join(handmade.OUTCOMES)}
    runs = xr.Dataset({
        "test_r2": (dims, np.array([[0.9, 0.7], [0.6, np.inf]]), shown),
        "test_r2_error": (dims, np.array([[0.02, 0.04], [0.01, 0.0]]), shown),
        "reported_score": (dims, np.array([[0.95] * 2, [np.inf] * 2]), shown),
        "steps": (dims, np.full((2, 2), 40), shown),
        "parameters": (dims, np.full((2, 2), 7), shown),
        "outcome": (dims, np.array([[1, 1], [1, 4]], np.int8), {**shown, **kinds}),
    }, coords={"model": ("model", ["dlr", "attention"], shown), "seed": ("seed", [0, 1], shown)})  # fmt: skip
    found = reduced("scores", runs)
    np.testing.assert_allclose(found["score"], [0.8, 0.6])
    np.testing.assert_allclose(found["error_over_seeds"], [0.1, np.nan])
    np.testing.assert_allclose(found["error_over_rows"], [0.03, 0.01])
    np.testing.assert_allclose(found["reported_score"], [0.95, np.nan])
    assert found["seeds"].values.tolist() == [2, 1] and found["trivial_score"].isnull().all()


def test_the_length_at_which_a_step_fills_its_memory_lies_on_the_power_law_between_two():
    shown = {"units": "1", "long_name": "x"}
    held = np.array([[1e9, 4e9, 16e9, 64e9], [1e6, 2e6, 4e6, 8e6], [9e9, 10e9, 20e9, 40e9]])
    runs = xr.Dataset(
        {"step_memory": (("model", "length"), held, shown)},
        coords={"model": ("model", ["square", "linear", "none"], shown),
                "length": ("length", [1024, 2048, 4096, 8192], shown)},
    )  # fmt: skip
    found = reduced("memory_limit", runs)
    np.testing.assert_array_equal(found["longest_that_fits"], [2048, 8192, np.nan])
    np.testing.assert_array_equal(found["shortest_that_does_not"], [4096, np.nan, 1024])
    np.testing.assert_allclose(found["length_at_limit"], [2048 * 2**0.5, np.nan, np.nan])
    np.testing.assert_allclose(found["growth"], [2, 1, 1])
