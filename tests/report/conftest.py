"""A small folder of results, and the page that is made of it."""

import json
import struct
import wave

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.theory.certificate import IDS, Certificate
from stablessm.theory.statement import CounterExample, Statement
from stablessm.theory.table import as_dataset

RATES = [1e-4, 1e-2, 1.0, 100.0]
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="720pt" height="200pt" viewBox="0 0 720 200">'
    '<rect width="720" height="200" fill="#{}"/></svg>'
)


def variable(dims, values, long_name, **more):
    return dims, np.asarray(values), {"long_name": long_name, "units": "1", **more}


def sweep(name, scale="quick"):
    """A sweep of two maps, one of them the user's, and its analysis with a spread."""
    maps = ["direct", "<b>mine & co</b>"]
    spec = {
        "name": name, "title": "Does <it> survive?", "description": "Two maps & four rates.",
        "axes": {"parameterization": [{"name": "direct", "label": "direct", "constants": {}}], "learning_rate": RATES},
        "settings": {"steps": 100},
    }  # fmt: skip
    coords = {
        "parameterization": variable("parameterization", maps, "map"),
        "learning_rate": variable("learning_rate", RATES, "learning rate"),
        "seed": variable("seed", [0, 1, 2], "seed"),
        "step": variable("step", np.arange(0, 200, 10), "step"),
        "width": variable("width", [64], "number of modes"),
    }
    shape = ("parameterization", "width", "seed", "learning_rate", "step")
    loss = np.random.default_rng(0).lognormal(size=(2, 1, 3, 4, 20))
    loss[0, 0, :, 3] = np.nan
    attrs = {"name": name, "title": spec["title"], "scale": scale, "spec": json.dumps(spec), "version": "0.1.0"}
    raw = xr.Dataset({"loss": variable(shape, loss, "training loss")}, coords, attrs)
    pair = ("parameterization", "learning_rate")
    flags = {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "converged nonfinite"}
    reduced = xr.Dataset(
        {
            "median_rate": variable("parameterization", [0.003, 0.3], "largest stable rate"),
            "smallest_rate": variable("parameterization", [0.001, np.nan], "least"),
            "greatest_rate": variable("parameterization", [0.01, 1.5e7], "greatest"),
            "mean_score": variable(pair, [[0.5, 0.9, 10.0, np.nan], [0.25, 0.5, 0.75, -1.0]], "score [%]"),
            "outcome": variable(pair, np.array([[0, 0, 0, 1], [0, 0, 1, 1]], np.int8), "outcome", **flags),
        },
        {key: coords[key] for key in pair},
        {**attrs, "summary": "Rates by map."},
    )
    return raw, reduced


@pytest.fixture(scope="session")
def small():
    return sweep("small")


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A folder of results as `--out` makes it."""
    out = tmp_path_factory.mktemp("results")
    for scale, end in (("quick", ""), ("full", "-full")):
        raw, reduced = sweep("small", scale)
        datasets.save(raw, out / "raw" / f"small{end}.nc")
        datasets.save(reduced, out / "analysis" / f"small{end}.rates.nc")
    datasets.save_provenance(out / "raw" / "small.nc", {"commit": "abc123", "packages": {"jax": "1"}})
    datasets.save(sweep("alone")[0].drop_vars("loss").assign(row=variable("row", [1], "row")), out / "raw" / "alone.nc")
    figures = out / "figures"
    figures.mkdir()
    for name in ("small", "small.other", "small-full"):
        (figures / f"{name}.svg").write_text(SVG.format("0072B2"))
    sounds = out / "raw" / "small.samples"
    sounds.mkdir()
    with wave.open(str(sounds / "3.sampled.wav"), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
        file.writeframes(struct.pack("<800h", *([1000, -1000] * 400)))
    refuted = Statement("criterion", "refuted", "|f'|/f^2 = exp(-w)", None, CounterExample(1.0, None))
    shown = [Statement(one, "proved", "0 < s < oo") for one in IDS[:-1]]
    best = PARAMETERIZATIONS["best"]
    verdicts = Certificate("best", best.formula, "continuous", (("a", 1.0),), (*shown, refuted))
    datasets.save(as_dataset([verdicts]), out / "analysis" / "verdicts.nc")
    claims = {
        "text": ["it <grows>"], "source": ["a paper"], "numbers": ["1 & 2"], "condition": ["if small"],
        "reads": ["small.rates, absent"],
    }  # fmt: skip
    datasets.save(
        xr.Dataset(
            {
                **{key: variable("claim", value, key) for key, value in claims.items()},
                "verdict": variable("claim", np.array([1], np.int8), "verdict", flag_values=np.array([0, 1], np.int8),
                                    flag_meanings="confirmed not_confirmed"),
            },
            {"claim": variable("claim", ["grows"], "claim")},
        ),
        out / "analysis" / "claims.nc",
    )  # fmt: skip
    return out
