"""Targets as values of an axis: names, formulas and files, what is stored of them, and a file that changes."""

import json

import jax.numpy as jnp
import pytest

from stablessm.measurements import MEASUREMENTS
from stablessm.measurements.base import Measurement, Program, Settings, Variable
from stablessm.sweeps import StoreError, load_spec, run_sweep, spec_from_json
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.plan import Plan
from stablessm.targets import TARGETS, SampledTarget

BASE = {
    "name": "fit",
    "measurement": "lr_stability",
    "axes": {"parameterization": ["exp"], "width": [2], "learning_rate": [0.01]},
    "settings": {"steps": 2, "horizon": 4, "records": 2},
}


class TotalSettings(Settings):
    horizon: int = 4


def total(static, settings):
    kernel = static["target"].kernel(settings.horizon)
    return Program({}, lambda seed: (), lambda traced, starts, index: {"total": jnp.asarray(kernel).sum()})


TOTAL = Measurement(
    "total",
    "",
    "",
    {"target": None},
    TotalSettings,
    lambda _: {"total": Variable("sum of the kernel")},
    f"{__name__}:total",
)


def declared(targets, **settings):
    return {**BASE, "axes": {**BASE["axes"], "target": targets}, "settings": {**BASE["settings"], **settings}}


def records(spec):
    return [Plan(spec).static(number)["target"] for number in range(len(Plan(spec).combinations))]


@pytest.fixture
def samples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rho.csv"
    path.write_text("t,a,b\n0,1,2\n1,0.5,2\n2,0.25,1\n3,0.125,1\n")
    return path


def test_every_form_becomes_a_record_and_a_label(samples):
    spec = load_spec(
        declared(
            [
                "sine",
                {"name": "polynomial", "constants": {"p": 2}},
                {"formula": "exp(-t)*cos(k*t)", "constants": {"k": 3}, "label": "damped"},
                {"file": "rho.csv", "column": "a"},
                {"name": "autocorrelation", "file": "rho.csv", "column": "b"},
            ]
        )
    )
    labels = ["sine", "polynomial (p=2)", "damped", "rho.csv:a", "autocorrelation of rho.csv:b"]
    assert spec.coordinates()["target"] == labels
    kernels = [one.kernel(4) for one in records(spec)]
    assert kernels[0] == pytest.approx(TARGETS["sine"].kernel(4))
    assert kernels[1].tolist() == [1, 0.25, 1 / 9, 1 / 16]
    assert kernels[3].tolist() == [1, 0.5, 0.25, 0.125]
    assert kernels[4] == pytest.approx([1, 0.25, -0.5, -0.25])
    again = spec_from_json(spec.to_json())
    assert again.document() == spec.document() and again.digest == spec.digest  # who decided the chunk is not stored


def test_the_command_line_gives_the_same(samples):
    texts = [
        "target=sine,polynomial(p=2),exp(-t)*cos(k*t)(k=3, label=damped),rho.csv(column=a)",
        "target={name='autocorrelation', file='rho.csv', column='b'}",
        "target=autocorrelation(file=rho.csv, column=a)",
    ]
    spec = load_spec(BASE, overrides=texts)
    labels = spec.coordinates()["target"]
    assert labels[:4] == ["sine", "polynomial (p=2)", "damped", "rho.csv:a"]
    assert labels[4:] == ["autocorrelation of rho.csv:b", "autocorrelation of rho.csv:a"]
    one = samples.parent / "one.csv"
    one.write_text("1\n2\n3\n4\n")
    (record,) = records(load_spec(BASE, overrides=["target=one.csv"]))
    assert isinstance(record, SampledTarget) and record.kernel().tolist() == [1, 2, 3, 4]


def test_a_built_in_by_its_name_is_stored_as_its_name():
    plain = load_spec(declared(["airy"], horizon=20))
    assert (
        plain.document()["axes"]["target"]
        == ["airy"]
        == load_spec(declared([{"name": "airy"}], horizon=20)).document()["axes"]["target"]
    )
    assert records(plain) == [TARGETS["airy"]]


def test_a_relative_path_starts_from_the_folder_of_the_declaration(samples, tmp_path, monkeypatch):
    text = (
        'measurement = "lr_stability"\n[axes]\nparameterization = ["exp"]\n'
        'target = [{file = "rho.csv", column = "a"}]\n[settings]\nhorizon = 4\n'
    )
    (tmp_path / "fit.toml").write_text(text)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    here, there = load_spec(tmp_path / "fit.toml"), load_spec("../fit.toml")
    assert records(there)[0].kernel(2).tolist() == [1, 0.5]
    assert here.digest == there.digest


@pytest.mark.parametrize(
    ("targets", "fragment"),
    [
        (["polynmial"], "unknown target 'polynmial'; the nearest is 'polynomial'"),
        ([{"name": "nothing"}], "unknown target 'nothing'"),
        ([{"nme": "sine"}], "unknown key of a target 'nme'"),
        ([{"label": "x"}], "needs one of name, formula and file"),
        ([{"name": "sine", "formula": "t"}], "needs one of name, formula and file"),
        ([{"name": "sine", "file": "rho.csv"}], "needs one of name, formula and file"),
        ([{"name": "sine", "column": "a"}], "got no file"),
        ([{"file": "rho.csv", "column": "a", "constants": {"p": 1}}], "samples have no constants"),
        ([{"file": 3}], "expected a text"),
        ([{"formula": "exp(-t)", "constants": 3}], "expected a table of numbers"),
        ([{"formula": "exp(-k*t)"}], "needs a value for k"),
        ([{"name": "polynomial", "constants": {"p": 0}}], "positive finite number"),
        ([3], "a target must be a name, a file"),
        ([], "at least one value"),
        (["sine", "sine"], "'sine' twice"),
        ([{"file": "rho.csv", "column": "a", "label": "sine"}, "sine"], "'sine' twice"),
        (["rho.csv"], r"has 3 columns \(t, a, b\)"),
        (["none.csv"], "there is no file 'none.csv'"),
        (["rho.txt"], r"must end in \.csv or \.npy"),
        (["shift"], "horizon of at least 20"),
        ([{"formula": "log(t)"}], "not a finite real number at t = 0"),
        ([{"formula": "step(t - 9)"}], "nothing to fit"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_that_names_the_key(samples, targets, fragment):
    with pytest.raises(SpecError, match=f"'fit', key 'axes.target.*{fragment}"):
        load_spec(declared(targets))


def test_too_short_a_file_is_refused_before_anything_runs(samples):
    with pytest.raises(SpecError, match=r"--set target: the horizon is 100, but 'rho.csv' holds only 4"):
        load_spec(BASE, overrides=["target=rho.csv(column=a)", "horizon=100"])


def test_a_changed_file_is_another_sweep(samples, tmp_path):
    def totals(file):
        return {"name": "fit", "measurement": "total", "axes": {"target": [{"file": file, "column": "a"}]}}

    def run(file="rho.csv", **options):
        return run_sweep(totals(file), out="out", measurements={"total": TOTAL}, **options)

    first = run()
    assert first.total.item() == 1.875
    assert first.target.values.tolist() == ["rho.csv:a"]
    stored = first.attrs["spec"]
    assert len(json.loads(stored)["axes"]["target"][0]["sha256"]) == 64
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "rho.csv").write_bytes(samples.read_bytes())
    moved = run("copies/rho.csv")
    assert moved.total.identical(first.total) and "copies/rho.csv" in moved.attrs["spec"]
    before = (tmp_path / "out/raw/fit.nc").read_bytes()

    samples.write_text(samples.read_text().replace("0.125", "0.126"))
    with pytest.raises(StoreError, match=r"different sweep \(axes.target: .*SHA-256 .* -> .*SHA-256 .*--fresh"):
        run()
    with pytest.raises(SpecError, match=r"'rho\.csv' has changed"):
        spec_from_json(stored, measurements={"total": TOTAL})
    assert (tmp_path / "out/raw/fit.nc").read_bytes() == before
    assert run(fresh=True).total.item() == pytest.approx(1.876)


# What these need of a target is its integral over all times, and a sentence says so.
INTEGRATED = ("approximation", "exact_perturbation")


@pytest.mark.parametrize("name", [one for one, m in MEASUREMENTS.items() if "target" in m.axes])
def test_every_measurement_takes_a_file_where_a_name_goes(samples, name):
    measurement, short = MEASUREMENTS[name], {"horizon": 4, "error_horizon": [2, 4], "probe_horizon": 4}
    axes = {"parameterization": ["exp"], "width": [2], "target": [{"file": "rho.csv", "column": "a"}]}
    spec = load_spec(
        {
            "name": "one",
            "measurement": name,
            "axes": {axis: values for axis, values in axes.items() if axis in measurement.axes},
            "settings": {name: value for name, value in short.items() if name in measurement.settings.model_fields},
        }
    )

    def build():
        return measurement.build(Plan(spec).static(0), measurement.settings(**spec.settings))

    if name in INTEGRATED:
        with pytest.raises(ValueError, match="known at its samples alone"):
            build()
    else:
        assert callable(build().measure)
