"""What the page is made of: datasets to curves and tables, formulas to MathML, and the command."""

import json
import re

import numpy as np

from stablessm import datasets
from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.report.assembly import STATEMENTS
from stablessm.report.curves import cube, numbers
from stablessm.report.gathering import gather, names
from stablessm.report.packing import drawing
from stablessm.report.tables import number, tables
from stablessm.theory import certified
from stablessm.theory.certificate import IDS
from stablessm.theory.mathml import as_mathml, with_mathml
from stablessm.theory.table import as_dataset


def test_seeds_become_a_median_with_its_range(small):
    found = cube(small[0], "raw")
    loss = found["variables"][0]
    assert (loss["x"], loss["traces"]) == ("step", "parameterization")
    assert loss["dims"] == ["parameterization", "learning_rate", "step"]
    values = small[0]["loss"].isel(width=0)
    assert loss["values"][:20] == numbers(values.median("seed").values[0, 0])
    assert loss["low"][:20] == numbers(values.min("seed").values[0, 0])
    assert loss["values"][60:80] == [None] * 20  # what is not a number is missing, and not 0
    assert found["fixed"] == "number of modes 64"
    json.dumps(found, allow_nan=False)


def test_curves_know_their_spread_codes_and_scales(small):
    by_name = {one["name"]: one for one in cube(small[1], "rates")["variables"]}
    assert set(by_name) == {"median_rate", "mean_score", "outcome"}
    assert by_name["median_rate"]["high"] == [0.01, 15000000.0]
    assert by_name["outcome"]["flags"] == {"0": "converged", "1": "nonfinite"}
    dims = cube(small[1], "rates")["dims"]
    assert dims["learning_rate"]["log"] and dims["learning_rate"]["values"] == [1e-4, 0.01, 1, 100]
    assert not cube(small[0], "raw")["dims"]["step"]["log"]  # evenly spaced
    assert not by_name["mean_score"]["log"]  # a value is negative


def test_long_axes_are_thinned_with_both_ends_kept(small):
    raw = small[0].isel(seed=[0])
    long = raw.interp(step=np.linspace(0, 190, 5001))
    for name, one in raw.variables.items():
        long[name].attrs = one.attrs
    found = cube(long, "raw")
    loss = found["variables"][0]
    values = found["dims"][loss["x"]]["values"]
    assert len(loss["values"]) <= 6000
    assert (values[0], values[-1]) == (0, 190)


def test_tables_put_a_spread_behind_its_value(small):
    rates, scores = tables(small[1], "Rates")
    assert [one.name for one in rates.columns] == ["parameterization", "median_rate"]
    assert [row[1].text for row in rates.rows] == ["0.003 [0.001, 0.01]", "0.3 [–, 1.5·10⁷]"]
    assert (rates.rows[0][1].value, rates.rows[0][1].low, rates.rows[0][1].high) == ("0.003", "0.001", "0.01")
    assert [one.name for one in scores.columns] == ["parameterization", "learning_rate", "mean_score", "outcome"]
    assert len(scores.rows) == 8


def test_numbers_are_read_as_they_are():
    shown = {1e-5: "10⁻⁵", 3.14159: "3.142", np.nan: "–", -np.inf: "−∞", 7: "7", "a_b": "a b"}
    assert [number(one) for one in shown] == list(shown.values())
    assert numbers([1.23456, np.inf, 2.0]) == [1.235, None, 2]


def test_formulas_become_mathml():
    assert as_mathml("1/(a*w**2 + b)").startswith("<math><mfrac><mn>1</mn>")
    assert as_mathml("exp(w)") == "<math><msup><mi>e</mi><mi>w</mi></msup></math>"
    assert as_mathml("<script>(") == "<code>&lt;script&gt;(</code>"


def test_sentences_keep_their_words_and_lose_their_markup():
    found = with_mathml("w = -1e-07, eigenvalue -1e-07 <b>")
    assert "eigenvalue -1e-07 &lt;b&gt;" in found
    assert "<msup><mn>10</mn><mn>−7</mn></msup>" in found
    plain = re.sub(r"<math>.*?</math>", "M", with_mathml("|f'|/f^2 = exp(-w) = 1/s"))
    assert plain == "M = M = M"


def test_certificates_as_a_dataset_hold_every_statement():
    one = certified(PARAMETERIZATIONS["exp"])
    found = as_dataset([one])
    assert found["statement"].values.tolist() == list(IDS) == list(STATEMENTS)
    verdicts = [statement.verdict for statement in one.statements]
    words = str(found["verdict"].attrs["flag_meanings"]).split()
    assert [words[code] for code in found["verdict"].values[0]] == verdicts
    datasets.validate(found)


def test_gathering_tells_scales_and_figures_apart(results):
    assert names(results / "raw", results / "analysis") == ("alone", "small")
    found = gather(results / "raw", results / "analysis", results / "figures", "small")
    assert [one.scale for one in found.runs] == ["full", "quick"]
    assert list(found.runs[1].figures) == ["", "other"]
    assert list(found.runs[0].figures) == [""]
    assert [one.name for one in found.runs[1].sounds] == ["3.sampled.wav"]


def test_drawings_lose_what_is_not_drawn(tmp_path):
    path = tmp_path / "one.svg"
    head = '<?xml version="1.0"?>\n<svg><metadata>x</metadata>\n '
    path.write_text(head + '<path d="M 1.23456 -7.5\nL 10.999999 2" transform="scale(0.085 -0.085)"/></svg>')
    assert drawing(path) == '<svg><path d="M 1.23 -7.5 L 11 2" transform="scale(0.085 -0.085)"/></svg>'


def test_the_command_refuses_in_a_sentence(call, results):
    code, _, told = call("report", "smal", "--out", results)
    assert code == 2 and "unknown experiment 'smal'; the nearest is 'small'" in told
    code, _, told = call("report", "--out", results, "-o", "page.txt")
    assert code == 2 and "report.html" in told
    code, _, told = call("report", "--out", "nothing")
    assert code == 2 and "holds no dataset to report on" in told
    code, _, told = call("report", "digits", "--out", results)
    assert code == 2 and "stablessm run digits" in told


def test_the_page_is_the_same_twice_and_asks_for_nothing(call, results, tmp_path):
    for name in ("one.html", "two.html"):
        code, said, _ = call("report", "--out", results, "-o", name)
        assert code == 0 and "saved" in said
    one, two = ((tmp_path / name).read_text() for name in ("one.html", "two.html"))
    assert one == two
    assert "<b>mine" not in one and "&lt;b&gt;mine &amp; co" in one
    outside = re.sub(r'<script type="application/octet-stream".*?</script>', "", one, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', outside)
