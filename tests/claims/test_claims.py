"""Claims: each verdict follows the data, whatever they say; the committed page is what the committed datasets give."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.claims import CLAIMS, decide
from stablessm.claims.page import as_dataset, as_markdown
from stablessm.claims.record import CONDITIONAL, VERDICTS

MAPS = ["direct", "exp", "softplus", "best"]
MODELS = ["dlr", "dlr_product", "dss_exp", "dlr_deep", "attention", "attention_feed_forward", "hybrid"]
ATOMIC = ("shift", "sort", "select", "mips", "context_shift", "solve", "select_fixed", "solve_fixed")
ROOT = Path(__file__).resolve().parents[2]


def certificates(**values):
    """Numbers of one cell for each map; `g` is the modulus over three betas."""
    g = np.array(values.pop("g", [[np.inf] * 3, [0.1, 1.7, 22e3], [0.1, 1.7, 22e3], [0.2, 2.7, 200.0]]))
    made = {name: ("parameterization", np.asarray(numbers, float)) for name, numbers in values.items()}
    made["modulus"] = (("parameterization", "beta"), g)
    made["stable_step"] = (("parameterization", "memory_length"), np.ones((4, 1)))
    coords = {"parameterization": MAPS, "beta": [0.1, 1.0, 10.0], "memory_length": [1000.0]}
    return xr.Dataset(made, coords).expand_dims(link=["continuous"], axis=1)


def rates(**by_map):
    values = np.array([by_map[one] for one in MAPS], float)[:, None]  # (map, optimizer, seed)
    made = xr.Dataset(
        {"largest_stable_learning_rate": (("parameterization", "optimizer", "seed"), values)},
        {"parameterization": MAPS, "optimizer": ["adam"], "seed": range(values.shape[-1])},
    )
    return made.expand_dims(width=[64], target=["polynomial"], link=["continuous"])


def surviving(*best):
    return rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=best)


def mixed():
    """Stable maps ahead under one optimiser and behind under the other."""
    adam = rates(direct=[1, 1], exp=[2, 2], softplus=[2, 2], best=[2, 2])
    momentum = rates(direct=[2, 2], exp=[1, 1], softplus=[1, 1], best=[1, 1])
    return xr.concat([adam, momentum.assign_coords(optimizer=["momentum"])], "optimizer")


def radius(direct, slope, exploding=()):
    """Betas of explosion by width; `exploding` lists the (map, step) whose error passes the threshold."""
    steps, widths = ["zero_order_hold", "euler"], [8, 64]
    explosion = np.full((4, 2, 2), np.inf)
    for label, step in exploding:
        explosion[MAPS.index(label), steps.index(step)] = 0.5
    along = ("parameterization", "discretisation", "width")
    loss = np.broadcast_to(np.array(direct), (4, 2, 2))
    return xr.Dataset(
        {
            "explosion_beta": ((*along, "error_horizon"), explosion[..., None]),
            "median_loss_explosion_beta": (along, loss),
            "published_explosion_beta": (("parameterization", "width"), np.full((4, 2), 0.1)),
            "width_slope": (("parameterization", "discretisation", "error_horizon"), np.full((4, 2, 1), slope)),
            "width_slope_error": (("parameterization", "discretisation", "error_horizon"), np.full((4, 2, 1), 0.01)),
        },
        {"parameterization": MAPS, "discretisation": steps, "width": widths, "error_horizon": [1000]},
    )


def exact(direct=(1e-3, 1e-9), readout=np.inf, recurrent=np.inf):
    """Best approximations: radius and beta of explosion of direct, and beta of explosion of the stable maps."""
    stable = np.full((3, 2, 2), [[recurrent] * 2, [readout] * 2])
    explosion = np.concatenate([np.broadcast_to(np.array(direct), (1, 2, 2)), stable])
    return xr.Dataset(
        {
            "explosion_beta": (
                ("parameterization", "perturbed", "width", "extent", "norm"),
                np.repeat(explosion[..., None, None], 2, axis=3),
            ),
            "stability_radius": (("parameterization", "width", "extent"), np.repeat(explosion[:, 0, :, None], 2, 2)),
        },
        {
            "parameterization": MAPS,
            "perturbed": ["recurrent", "all"],
            "width": [8, 64],
            "extent": ["infinite", "finite"],
        },
    )


def poles(late):
    values = np.array([[0.01, one] for one in late])
    made = {"change_by_poles": (("parameterization", "time"), values)}
    made["change_by_residues"] = (("parameterization", "time"), np.full((4, 2), 1.0))
    return xr.Dataset(made, {"parameterization": MAPS, "time": [1.0, 100.0]})


def accuracies(*values):
    made = {
        "best_accuracy": ("parameterization", list(values)),
        "best_accuracy_error": ("parameterization", [0.004] * 4),
    }
    return xr.Dataset(made, {"parameterization": MAPS})


LEAST = [[1.0] * 3] * 3 + [[0.5] * 3]


def of_rates(variables, axes, dims=("parameterization", "learning_rate")):
    made = {name: (dims[: np.ndim(values)], np.asarray(values, float)) for name, values in variables.items()}
    return xr.Dataset(made, axes)


def converging(best, largest, where=1e-1):
    """Test losses at 1e-3, at 0.1 and at 10; the least of them, and where it is; steps."""
    along = {"parameterization": MAPS, "learning_rate": [1e-3, 1e-1, 10.0]}
    losses = [[1.0, best, largest]] * 4
    steps = {"median_steps": [[300.0, 60.0, 60.0]] * 4, "least_steps": [60.0] * 4}
    least = {"least_test_loss": [min(1.0, best, largest)] * 4, "rate_of_least_test_loss": [where] * 4}
    return of_rates({"median_test_loss": losses, **least, **steps}, along)


def recurrent(ratio, stable):
    """At a tenth of the rate and at the whole: upper end of the loss ratio, and the largest stable rate."""
    axes = {"parameterization": MAPS, "recurrent_rate": [0.1, 1.0]}
    ends = {f"{end}loss_ratio": [[one, 1.0] for one in ratio] for end in ("", "low_", "high_")}
    made = of_rates({**ends, "largest_stable_rate": stable}, axes, ("parameterization", "recurrent_rate"))
    return made.assign_coords(learning_rate=[1.0])


def areas(low, curvature):
    names = ["rate times gradient over weight", "rate times scale of it (theory)", "rate times recurrent sharpness"]
    made = {
        f"{end}area_at_one_rate": [[value], [0.65], [curvature]]
        for end, value in (("", 0.7), ("low_", low), ("high_", 0.9))
    }
    return of_rates(made, {"predictor": names, "optimizer": ["adam"]}, ("predictor", "optimizer"))


def ranks(best, width=0):
    """Ranks of best at the rates 0.1 and 1, those of the others 2, with intervals of so many ranks more."""
    rank = np.array([[2, 2]] * 3 + [best])
    along = ("parameterization", "learning_rate")
    made = {"tau": (("learning_rate", "other_rate"), np.eye(2))}
    made |= {"rank": (along, rank), "low_rank": (along, rank), "high_rank": (along, rank + width)}
    made |= {"median_loss": (along, 0.1 * rank)}
    return xr.Dataset(made, {"parameterization": MAPS, "learning_rate": [0.1, 1.0], "other_rate": [0.1, 1.0]})


def halves(half, whole):
    """Largest stable rates of best with b = 1/2 and 1 under one-minus, with intervals of 10%."""
    made = {
        f"{end}_largest_rate": [[half * by], [whole * by]] for end, by in (("median", 1), ("low", 0.9), ("high", 1.1))
    }
    axes = {"parameterization": ["best", "best (b=1)"], "optimizer": ["adam"]}
    return of_rates(made, axes, ("parameterization", "optimizer")).expand_dims(link=["one-minus"])


def mode(eigenvalue):
    return of_rates(
        {"smallest_eigenvalue": [[eigenvalue]]}, {"parameterization": ["best"], "learning_rate": [1.0]}
    ).expand_dims(link=["one-minus"])


def scores(trivial=0.0, **by_task):
    """R2 by task, or by task and model; a hundredth to both sides over seeds."""
    values = np.array(list(by_task.values()), float)
    dims = ("task", "model")[: values.ndim]
    made = {"score": values, "smallest_score": values - 0.01, "largest_score": values + 0.01,
            "trivial_score": np.full_like(values, trivial), "steps": np.full(values.shape, 400)}  # fmt: skip
    axes = {"task": list(by_task), "model": MODELS}
    return xr.Dataset({name: (dims, one) for name, one in made.items()}, {name: axes[name] for name in dims})


def all_tasks(convolution=0.01, attention=0.5, dss=0.0, feed_forward=0.0):
    row = [convolution, convolution, convolution + dss, convolution, attention, attention + feed_forward, attention]
    return scores(**dict.fromkeys(ATOMIC, row))


def reached(**more):
    names = "shift_4096", "shift_1024_width_8", "mips_attention", "mips_dlr", "select_attention_2_layers", "select_dlr"
    return scores(**(dict(zip(names, (0.97, 0.98, 0.93, 0.04, 0.95, 0.05), strict=True)) | more))


def guided(few=0.8, product=0.98, fixed=0.98):
    named = {"shift_512": 0.99, "shift_512_few_poles": few, "shift_512_few_poles_product": product}
    return scores(**named, select_fixed=fixed, solve_fixed=fixed)


def limits(attention=11e3, dlr=np.nan):
    made = {"length_at_limit": [dlr, attention], "growth": [1.0, 2.0], "longest_that_fits": [32768, 8192]}
    return xr.Dataset({name: ("model", np.array(values, float)) for name, values in made.items()},
                      {"model": ["dlr", "attention"]})  # fmt: skip


TENTH = [[0.3, 0.03], [0.3, 0.3], [0.3, 0.3], [0.3, 0.3]]
BOUNDED = {"largest_gradient_over_weight": [np.inf, np.inf, np.inf, 2.0]}
SLOPES = {"modulus_slope": [np.nan, 1.0, 1.0, 1.4]}
NEVER = {"direct": (0.1, 0.01), "slope": -0.5}
EULER, HOLD = (radius(**NEVER, exploding=[("exp", step)]) for step in ("euler", "zero_order_hold"))
CASES = [
    ("definition", certificates(), "confirmed", "best 2.7"),
    ("definition", certificates(g=np.ones((4, 3))), "not_confirmed", ""),
    ("moves_least", certificates(**SLOPES), CONDITIONAL, "beta = 1.57"),
    ("moves_least", certificates(modulus_slope=[np.nan, 1, 1, 0.5], g=LEAST), "confirmed", ""),
    ("criterion", certificates(**BOUNDED), "confirmed", "best 2"),
    ("criterion", certificates(largest_gradient_over_weight=[np.inf, np.inf, 1.0, 2.0]), "not_confirmed", ""),
    ("largest_step", certificates(smallest_stable_step=[0, 0, 0, 1.0]), "confirmed", ""),
    ("largest_step", certificates(smallest_stable_step=[0, 0.1, 0, 1.0]), "not_confirmed", ""),
    ("larger_rates", rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=[4, 4]), "confirmed", "adam 2 [2, 2]"),
    ("larger_rates", rates(direct=[1, 3], exp=[2, 3], softplus=[2, 2], best=[4, 4]), "not_confirmed", ""),
    ("best_survives_most", [surviving(4, 4), ranks([1, 1])], "confirmed", ""),
    ("best_survives_most", [surviving(1, 2), ranks([1, 1], width=1)], "not_confirmed", "on no seed"),
    ("best_survives_most", [surviving(1, 4), ranks([1, 3])], "not_confirmed", "ahead on some"),
    ("best_survives_most", [surviving(1, 4), ranks([3, 1])], CONDITIONAL, "rate 1: direct 0.2"),
    ("larger_rates", mixed(), CONDITIONAL, "with momentum direct survives more"),
    ("lines_shift_left", [radius(**NEVER), exact()], "confirmed", "m = 64: 0.01"),
    ("lines_shift_left", [radius((0.1, 0.12), 0.0), exact()], CONDITIONAL, "m = 64: 0.12"),
    ("lines_shift_left", [radius((0.1, 0.12), 0.0), exact((0.1, 0.1))], "not_confirmed", "m = 64: 0.12"),
    ("radius_falls", exact(), "confirmed", "stable maps: infinite"),
    ("radius_falls", exact((0.1, 0.1)), "not_confirmed", ""),
    ("radius_falls", exact(recurrent=0.1), "not_confirmed", "stable maps: 0.1"),
    ("stable_never_explodes", [radius(**NEVER), exact()], "confirmed", ""),
    ("stable_never_explodes", [radius(**NEVER), exact(readout=0.1)], CONDITIONAL, "readout"),
    ("stable_never_explodes", [EULER, exact()], CONDITIONAL, "exp"),
    ("stable_never_explodes", [radius(**NEVER), exact(recurrent=0.1)], "not_confirmed", ""),
    ("stable_never_explodes", [HOLD, exact()], "not_confirmed", "exp"),
    ("poles_and_residues", poles([9, 9, 9, 9]), "confirmed", ""),
    ("poles_and_residues", poles([9, 0.1, 0.1, 0.1]), CONDITIONAL, "t = 100"),
    ("poles_and_residues", poles([0.1] * 4), "not_confirmed", ""),
    ("large_rates_help", converging(0.1, 5.0), CONDITIONAL, "least 0.1 at 0.1"),
    ("large_rates_help", converging(0.1, 0.1), "confirmed", ""),
    ("large_rates_help", converging(2.0, 5.0, where=1e-3), "not_confirmed", ""),
    ("recurrent_rate_needless", recurrent([0.5, 2, 2, 2], TENTH), "confirmed", ""),
    ("recurrent_rate_needless", recurrent([2, 2, 2, 2], TENTH), CONDITIONAL, "0.3 instead of 0.03"),
    ("recurrent_rate_needless", recurrent([2, 2, 0.5, 2], TENTH), "not_confirmed", ""),
    ("ratio_predicts", areas(0.6, 0.5), "confirmed", "0.70 [0.60, 0.90]"),
    ("ratio_predicts", areas(0.6, 0.9), CONDITIONAL, "curvature predicts better"),
    ("ratio_predicts", areas(0.4, 0.9), "not_confirmed", ""),
    ("rankings_change", ranks([1, 3]), "confirmed", "over seeds: best"),
    ("rankings_change", ranks([1, 3], width=2), "not_confirmed", "over seeds: none"),
    ("through_minus_one", [halves(0.1, 0.3), mode(-0.9)], "confirmed", ""),
    ("through_minus_one", [halves(0.3, 0.3), mode(-0.99999)], CONDITIONAL, "1e-05 of -1"),
    ("through_minus_one", [halves(0.3, 0.3), mode(0.0)], "not_confirmed", ""),
    ("direct_does_not_train", accuracies(0.2, 0.9, 0.9, 0.9), "confirmed", "direct 0.200"),
    ("direct_does_not_train", accuracies(0.9, 0.9, 0.9, 0.9), "not_confirmed", ""),
    ("direct_does_not_train", accuracies(0.88, 0.92, 0.92, 0.92), "undecided", ""),
    ("dlr_at_least_dss", all_tasks(), "confirmed", "shift 0.01 0.01"),
    ("dlr_at_least_dss", all_tasks(dss=0.1), "not_confirmed", "DSS is ahead on shift, sort"),
    ("convolutions_fail", [all_tasks(), reached()], "confirmed", "context shift 0.01, 0.50"),
    ("convolutions_fail", [all_tasks(attention=0.02), reached()], CONDITIONAL, "mips, select alone"),
    ("convolutions_fail", [all_tasks(attention=0.02), reached(select_dlr=0.9)], CONDITIONAL, "mips alone"),
    ("convolutions_fail", [all_tasks(convolution=0.4), reached()], "not_confirmed", "fail on none"),
    ("fixed_ones_are_easy", [all_tasks(), guided()], "confirmed", "wider 0.980"),
    ("fixed_ones_are_easy", [all_tasks(), guided(fixed=0.9)], "not_confirmed", ""),
    ("feed_forward_adds_nothing", all_tasks(), "confirmed", ""),
    ("feed_forward_adds_nothing", all_tasks(feed_forward=0.1), "not_confirmed", "ahead on shift"),
    ("product_needs_fewer_poles", guided(), "confirmed", "128 poles 0.800"),
    ("product_needs_fewer_poles", guided(few=0.9), "not_confirmed", ""),
    ("few_features", [reached(), guided()], "confirmed", "at least 0.970"),
    ("few_features", [reached(shift_1024_width_8=0.9), guided()], "undecided", ""),
    ("few_features", [reached(shift_1024_width_8=0.5), guided()], "not_confirmed", ""),
    ("long_shift", reached(), CONDITIONAL, "at least 0.960"),
    ("long_shift", reached(shift_4096=0.9), "not_confirmed", ""),
    ("memory_stops_attention", limits(), "confirmed", "11000 steps"),
    ("memory_stops_attention", limits(dlr=2e4), "not_confirmed", ""),
]  # fmt: skip


@pytest.mark.parametrize(("key", "data", "verdict", "words"), CASES)
def test_the_verdict_follows_the_data(key, data, verdict, words):
    given = data if isinstance(data, list) else [data]
    found = decide(CLAIMS[key], dict(zip(CLAIMS[key].reads, given, strict=True)))
    assert found.verdict == verdict, found
    assert words in f"{found.numbers} {found.condition}"


def test_what_is_not_there_is_not_measured():
    for claim in CLAIMS.values():
        found = decide(claim, {})
        assert found.verdict == "not_measured" and f"stablessm reproduce {claim.experiments[0]}" in found.numbers
    several = certificates(**BOUNDED).isel(link=[0, 0]).assign_coords(link=["continuous", "one-minus"])
    assert decide(CLAIMS["criterion"], {"certificates": several}).verdict == "confirmed"  # the link it is about
    more = (
        rates(direct=[1], exp=[1], softplus=[1], best=[1])
        .isel(link=[0, 0])
        .assign_coords(link=["continuous", "one-minus"])
    )
    assert "several values of link" in decide(CLAIMS["larger_rates"], {"largest_rate": more}).numbers
    few = certificates(**BOUNDED).isel(parameterization=[0, 1])
    found = decide(CLAIMS["criterion"], {"certificates": few})
    assert found.verdict == "not_measured" and "parameterization" in found.numbers


def test_the_committed_page_is_what_the_committed_datasets_give(tmp_path):
    folders = (ROOT / "experiments" / "results", ROOT / "analysis" / "results")
    names = dict.fromkeys(one for claim in CLAIMS.values() for one in claim.reads)
    files = {name: folders["." in name] / f"{name}.nc" for name in names}
    evidence = {name: datasets.load(path) for name, path in files.items() if path.exists()}
    findings = {key: decide(claim, evidence) for key, claim in CLAIMS.items()}
    absent = {key for key, one in findings.items() if one.verdict == "not_measured"}
    assert all(not set(CLAIMS[key].reads) <= evidence.keys() for key in absent)
    assert as_markdown(findings, "quick") == (ROOT / "analysis" / "results" / "claims.md").read_text()
    made = as_dataset(findings, "quick")
    xr.testing.assert_identical(datasets.load(ROOT / "analysis" / "results" / "claims.nc"), made)
    assert made["verdict"].attrs["flag_meanings"].split() == list(VERDICTS)
