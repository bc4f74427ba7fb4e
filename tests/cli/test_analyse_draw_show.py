"""analyse, draw and show on the datasets of a small sweep made once."""

import csv as reader

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.cli.tables import as_csv, as_latex, escaped

FORMULA = "1/(w^2 + 0.7)"


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A dataset of `lr_stability` with the declaration's spec, its cells made by hand."""
    import handmade

    from stablessm.sweeps.declarations import load_spec

    spec = load_spec("lr_stability")
    made = handmade.training(parameterization=("direct", FORMULA), seed=(0, 1))
    made.attrs = {"name": "lr_stability", "title": "a title", "measurement": "lr_stability", "spec": spec.to_json()}
    folder = tmp_path_factory.mktemp("made")
    datasets.save(made, folder / "raw" / "lr_stability.nc")
    return folder


@pytest.fixture
def folder(raw, tmp_path):
    datasets.save(datasets.load(raw / "raw" / "lr_stability.nc"), tmp_path / "raw" / "lr_stability.nc")
    return tmp_path


def test_analyse_then_draw_some_formats(call, folder):
    code, out, _ = call("analyse", "lr_stability", "--out", folder)
    assert code == 0 and out.strip() == f"saved {folder}/analysis/lr_stability.stable_rates.nc"
    found = datasets.load(folder / "analysis" / "lr_stability.stable_rates.nc")
    assert found.attrs["analysis"] == "stable_rates" and found.attrs["summary"].startswith("Largest stable")
    code, _, _ = call("draw", "lr_stability", "--out", folder, "--format", "png,svg", "--format", "png")
    assert code == 0 and sorted(p.name for p in (folder / "figures").iterdir()) == [
        "lr_stability.png",
        "lr_stability.svg",
    ]


def test_what_is_missing_names_the_command_that_makes_it(call, folder, tmp_path):
    code, _, error = call("draw", "lr_stability", "--out", folder)
    assert code == 2 and f"make it with: stablessm analyse lr_stability --out {folder}" in error
    code, _, error = call("analyse", "lr_stability", "--scale", "full", "--out", folder)
    assert code == 2 and f"stablessm run lr_stability --scale full --out {folder}" in error and error.count("\n") == 1
    assert not (folder / "figures").exists()


def test_an_analysis_of_another_dataset_is_not_drawn(call, folder):
    assert call("analyse", "lr_stability", "--out", folder)[0] == 0
    path = folder / "raw" / "lr_stability.nc"
    datasets.save(datasets.load(path).assign_attrs(title="another"), path)
    code, _, error = call("draw", "lr_stability", "--out", folder)
    assert code == 2 and "was made from another dataset" in error and "stablessm analyse lr_stability" in error


def test_what_does_not_move_is_not_drawn_as_an_animation(call, folder):
    assert call("analyse", "lr_stability", "--out", folder)[0] == 0
    code, out, error = call("draw", "lr_stability", "--format", "gif", "--out", folder)
    assert code == 0 and "declares no figure that is drawn as gif" in out, error
    assert not list((folder / "figures").glob("*.gif"))


@pytest.mark.parametrize("kind", ["raw", "analysis"])
def test_a_damaged_file_is_named_and_kept(call, folder, kind):
    assert call("analyse", "lr_stability", "--out", folder)[0] == 0
    path = folder / {"raw": "raw/lr_stability.nc", "analysis": "analysis/lr_stability.stable_rates.nc"}[kind]
    path.write_bytes(path.read_bytes()[:1000])
    for command in ("analyse", "draw"):
        code, _, error = call(command, "lr_stability", "--out", folder)
        assert code == 2 and path.name in error and len(path.read_bytes()) == 1000


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["draw", "lr_stability", "--format", "jpg"], "must be some of pdf, svg, png, gif, mp4, but got 'jpg'"),
        (["show", "lr_stability.stable_rate"], "the nearest is 'stable_rates'"),
        (["show", "lr_stability", "--variable", "outcom"], "the nearest is 'outcome'"),
        (["show", "lr_stabilty"], "the nearest is 'lr_stability'"),
        (["show", "lr_stability.stable_rates"], "stablessm analyse lr_stability"),
    ],
)
def test_bad_input_is_one_sentence(call, folder, arguments, fragment):
    code, out, error = call(*arguments, "--out", folder)
    assert code == 2 and not out and error.count("\n") == 1 and fragment in error


def test_show_says_what_made_it_and_counts_outcomes(call, folder):
    datasets.save_provenance(folder / "raw" / "lr_stability.nc", {"commit": "abc", "seconds": 3.5, "device": "cpu"})
    code, out, _ = call("show", "lr_stability", "--out", folder)
    assert code == 0
    for word in ("a title", "abc", "3.5", "learning rate", "step_limit", FORMULA, "test accuracy", "0.64 to 0.95"):
        assert word in out, word
    counts = next(line.split() for line in out.splitlines() if line.startswith("all "))
    assert sum(map(int, counts[1:])) == 2 * 2 * 4


def test_show_tells_what_is_not_done_from_nan(call, folder):
    file = folder / "raw" / "lr_stability.nc"
    half = datasets.load(file)
    half["status"] = xr.zeros_like(half.outcome, dtype="int8") + (half.seed == 0)
    half["status"].attrs = {"long_name": "status of the cell", "units": "1"}
    half["test_accuracy"] = half.test_accuracy.where(half.status == 1).assign_attrs(half.test_accuracy.attrs)
    half["test_accuracy"][{"seed": 0, "learning_rate": -1}] = np.nan
    datasets.save(half, file)
    (row,) = [line for line in call("show", file)[1].splitlines() if line.split()[:1] == ["test_accuracy"]]
    assert "2 nan, 8 not done" in row


def test_csv_is_tidy(call, folder):
    assert call("analyse", "lr_stability", "--out", folder)[0] == 0
    assert call("show", "lr_stability", "--csv", folder / "t.csv", "--out", folder)[0] == 0
    with open(folder / "t.csv", newline="") as file:
        rows = list(reader.DictReader(file))
    assert len(rows) == 2 * 2 * 4 and set(rows[0]) >= {"parameterization", "learning_rate", "outcome", "test_accuracy"}
    assert "gradient_to_weight_ratio" not in rows[0]
    assert {row["outcome"] for row in rows} == {"step_limit", "diverged"}
    assert [row["parameterization"] for row in rows[-3:]] == [FORMULA] * 3
    options = ("--variable", "median_largest_rate,rank", "--csv", folder / "r.csv", "--out", folder)
    assert call("show", "lr_stability.stable_rates", *options)[0] == 0
    assert len((folder / "r.csv").read_text().splitlines()) == 1 + 2


def test_a_table_that_cannot_be_written_leaves_the_old_one(call, folder, monkeypatch):
    (folder / "t.csv").write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(datasets.os, "replace", refuse)
    code, _, error = call("show", "lr_stability", "--csv", folder / "t.csv", "--out", folder)
    assert code == 1 and "No space left" in error and (folder / "t.csv").read_text() == "old"


def small(labels=("a_b & c%", "$x^2$ ~#{}\\ <>|")):
    attributes = {"units": "1", "long_name": "x"}
    return xr.Dataset(
        {
            "loss": (("parameterization", "width"), np.array([[0.5], [np.nan]]), {"units": "nat", "long_name": "loss"}),
            "rate": ("parameterization", np.array([1.5e-7, np.inf]), attributes),
            "ok": ("parameterization", np.array([0, 1], np.int8),
                   {**attributes, "flag_values": np.array([0, 1], np.int8), "flag_meanings": "no yes"}),
        },
        {"parameterization": ("parameterization", list(labels), attributes), "width": ("width", [64], attributes)},
    )  # fmt: skip


def test_units_stand_in_the_headings():
    lines = as_csv(small(("exp", "a,b"))).splitlines()
    assert lines[0] == "parameterization,width,loss [nat],rate,ok"
    assert lines[1:] == ["exp,64,0.5,1.5e-07,no", '"a,b",64,,inf,yes']


def test_latex_is_booktabs_and_escaped():
    page = as_latex(small())
    assert page.count("\\toprule") == page.count("\\midrule") == page.count("\\bottomrule") == 2
    assert "% width = 64" in page and r"a\_b \& c\% & $0.5$ \\" in page
    assert r"$1.5 \times 10^{-7}$ & no" in page and r"$\infty$ & yes" in page and "& -- " in page
    assert escaped("$x^2$ ~#{}\\ <>|") == (
        r"\$x\textasciicircum{}2\$ \textasciitilde{}\#\{\}\textbackslash{} \textless{}\textgreater{}\textbar{}"
    )


def test_a_long_table_breaks_over_pages():
    data = xr.Dataset({"x": ("n", np.arange(100.0), {"units": "1", "long_name": "x"})}, {"n": np.arange(100)})
    page = as_latex(data)
    assert "\\begin{longtable}{rr}" in page and "\\endhead" in page


def test_tables_are_as_wide_as_they_need_to_be(call, folder, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = call("show", "lr_stability", "--out", folder)[1].splitlines()
    (ratio,) = [line for line in shown if line.startswith("gradient_to_weight_ratio")]
    assert ratio.split()[-3:] == ["gradient", "over", "weight"] and "parameterization, seed, learning_rate" in ratio
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, call("show", "lr_stability", "--out", folder)[1].splitlines())) <= 60


@pytest.mark.parametrize("maps", [("exp",), ("exp", "best")])
@pytest.mark.parametrize("optimizers", [("adam",), ("adam", "adamw")])
def test_the_summary_of_reproduce_has_a_row_a_map(capsys, maps, optimizers):
    import handmade

    from stablessm.cli.reproduce import _print_matrix

    made = handmade.largest_rate(parameterization=maps, optimizer=optimizers)
    _print_matrix("mine", made["largest_stable_learning_rate"].median("seed", keep_attrs=True))
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[0] for line in lines[-len(maps) :]] == list(maps)
    assert all(len(line.split()) == 1 + len(optimizers) for line in lines[-len(maps) :])
