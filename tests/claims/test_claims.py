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
                explosion[..., None, None],
            ),
            "stability_radius": (("parameterization", "width", "extent"), explosion[:, 0, :, None]),
        },
        {"parameterization": MAPS, "perturbed": ["recurrent", "all"], "width": [8, 64], "extent": ["infinite"]},
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
BOUNDED = {"largest_gradient_over_weight": [np.inf, np.inf, np.inf, 2.0]}
SLOPES = {"modulus_slope": [np.nan, 1.0, 1.0, 1.4]}
NEVER = {"direct": (0.1, 0.01), "slope": -0.5}
EULER, HOLD = (radius(**NEVER, exploding=[("exp", step)]) for step in ("euler", "zero_order_hold"))
CASES = [
    ("definition", certificates(), "confirmed", "best 2.7"),
    ("definition", certificates(g=np.ones((4, 3))), "not_confirmed", ""),
    ("moves_least", certificates(**SLOPES), CONDITIONAL, "beta = 10"),
    ("moves_least", certificates(modulus_slope=[np.nan, 1, 1, 0.5], g=LEAST), "confirmed", ""),
    ("criterion", certificates(**BOUNDED), "confirmed", "best 2"),
    ("criterion", certificates(largest_gradient_over_weight=[np.inf, np.inf, 1.0, 2.0]), "not_confirmed", ""),
    ("largest_step", certificates(smallest_stable_step=[0, 0, 0, 1.0]), "confirmed", ""),
    ("largest_step", certificates(smallest_stable_step=[0, 0.1, 0, 1.0]), "not_confirmed", ""),
    ("larger_rates", rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=[4, 4]), "confirmed", "adam 2 [2, 2]"),
    ("larger_rates", rates(direct=[1, 3], exp=[2, 3], softplus=[2, 2], best=[4, 4]), "not_confirmed", ""),
    ("best_survives_most", rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=[4, 4]), "confirmed", ""),
    ("best_survives_most", rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=[1, 2]), "not_confirmed", ""),
    ("best_survives_most", rates(direct=[1, 1], exp=[2, 3], softplus=[2, 2], best=[1, 4]), "not_confirmed", "ahead on"),
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
    ("direct_does_not_train", accuracies(0.2, 0.9, 0.9, 0.9), "confirmed", "direct 0.200"),
    ("direct_does_not_train", accuracies(0.9, 0.9, 0.9, 0.9), "not_confirmed", ""),
    ("direct_does_not_train", accuracies(0.88, 0.92, 0.92, 0.92), "undecided", ""),
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
