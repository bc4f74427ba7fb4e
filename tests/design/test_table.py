"""Which map is best in which sense: a dataset made by hand from the known closed forms."""

import json

import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.design import DesignError, pages
from stablessm.design.table import compare

STATEMENTS = ["stability", "modulus", "gradient_scale", "gradient_over_weight", "lipschitz", "curvature"]


def closed_forms(maps=("direct", "exp", "best"), link="continuous"):
    beta, length = np.geomspace(1e-2, 1e1, 61), np.geomspace(2e-1, 2e4, 51)
    known = {
        "direct": ([0, 0, 2, 0, 0, 0], np.full_like(beta, np.inf), length**2, length**3, 4 / length**3),
        "exp": ([2, 2, 2, 0, 0, 0], np.expm1(beta), length, length / abs(np.log(length)), 4 / length),
        "best": ([2] * 6, np.expm1(2 * np.arcsinh(beta / 2**0.5)), 2 * (length - 0.5 + 0j) ** 0.5, 2 + 0 * length,
                 length / (length - 0.5)),
    }  # fmt: skip
    suprema = {"direct": (np.inf, np.inf, np.inf, 0.0), "exp": (1.0, np.inf, np.inf, 0.0), "best": (2**0.5, 2, 2, 1.0)}
    columns = ("verdict", "modulus", "gradient_scale", "gradient_over_weight", "stable_step")
    inner = ("statement", "beta", *["memory_length"] * 3)
    data = xr.Dataset(coords={"parameterization": list(maps), "link": [link], "statement": STATEMENTS,
                              "beta": beta, "memory_length": length})  # fmt: skip
    for place, (name, dimension) in enumerate(zip(columns, inner, strict=True)):
        values = np.real([known[one][place] for one in maps])
        data[name] = (("parameterization", "link", dimension), values[:, None])
    scalars = ("modulus_slope", "largest_gradient_over_weight", "lipschitz_constant", "smallest_stable_step")
    for place, name in enumerate(scalars):
        data[name] = (("parameterization", "link"), [[suprema[one][place]] for one in maps])
    for one in data.variables.values():
        one.attrs.update(units="1", long_name="known")
    data["verdict"] = data["verdict"].astype(np.int8)
    data["verdict"].attrs.update(
        flag_values=np.arange(3, dtype=np.int8),
        flag_meanings="refuted undecided proved",
        units="1",
        long_name="verdict",
    )
    return data


def test_each_criterion_has_its_own_best():
    (table,) = compare(closed_forms())
    best = {one.name: [table.maps[place] for place in one.first()] for one in table.criteria}
    assert best["g_slope"] == best["g(0.1)"] == best["g(1)"] == ["exp"]
    assert best["g(10)"] == best["over_weight"] == best["lipschitz"] == best["step"] == ["best"]
    assert best["step(1000)"] == best["scale(1000)"] == ["best"]
    assert best["test_ppl"] == ["exp"]  # softplus is not asked for
    text = " ".join(table.summary)
    assert "Not stable for every weight: direct." in text
    assert "exp 1, best 1.414" in text and "exp 20.218, best 20.811, direct 28.167" in text


def test_where_the_moduli_cross():
    """2 asinh(beta/sqrt(2)) = beta has the root 2.98: best is better beyond it only."""
    (table,) = compare(closed_forms())
    (sentence,) = [one for one in table.summary if one.startswith("From beta")]
    beta = float(sentence.split()[3])
    assert abs(2 * np.arcsinh(beta / 2**0.5) - beta) < 0.02 and sentence.endswith("than exp.")


def test_a_bound_that_is_not_known_leaves_the_first_place_open():
    data = closed_forms(("exp", "best"))
    data["largest_gradient_over_weight"][1] = np.nan
    (table,) = compare(data)
    over = next(one for one in table.criteria if one.name == "over_weight")
    assert over.open == (False, True) and not over.first()
    assert any("Gradient over weight bounded: best (not in closed form)" in one for one in table.summary)
    assert "finite" in pages.text([table])


def test_a_map_that_is_not_stable_is_never_best():
    (table,) = compare(closed_forms(("direct",)))
    assert not any(one.first() for one in table.criteria)


@pytest.mark.parametrize("form", ["--json", "--markdown", "--latex", ""])
def test_a_dataset_as_text_json_markdown_and_latex(call, tmp_path, form):
    datasets.save(closed_forms(), tmp_path / "own.nc")
    code, out, _ = call("design", "--table", "--from", "own.nc", *filter(None, [form]))
    assert code == 0
    if form == "--json":
        (table,) = json.loads(out, parse_constant=pytest.fail)["tables"]
        slope = table["criteria"][0]
        assert slope["values"] == {"direct": "inf", "exp": 1.0, "best": 1.4142136} and slope["best"] == ["exp"]
    else:
        mark = {"--markdown": "| **1** |", "--latex": r"\textbf{1} & 1.414 \\", "": "1 *"}[form]
        assert mark in out and "From beta = 2.9" in out
        assert form != "--latex" or out.count("\\begin{tabular}{lrrr}") == 1


@pytest.mark.parametrize(("arguments", "fragment"), [
    (["--table", "--gradient-scale", "w"], "--table takes"),
    (["--table", "--json", "--latex"], "--table takes"),
    (["--table", "--out", "m.toml"], "--table takes"),
    (["--table", "--link", "euler"], "--link must be one of"),
    (["--gradient-scale", "w", "--latex"], "--latex goes with --table"),
    (["--table", "--from", "nothing.nc"], "nothing.nc"),
])  # fmt: skip
def test_bad_input(call, tmp_path, arguments, fragment):
    code, _, error = call("design", *arguments)
    assert code == 2 and error.startswith("Error: ") and error.count("\n") == 1 and fragment in error
    assert not list(tmp_path.iterdir())


def test_another_dataset_or_an_empty_one():
    data = closed_forms()
    with pytest.raises(DesignError, match="not of the measurement certificates"):
        compare(data.drop_vars("modulus"))
    data["status"] = (("parameterization", "link"), np.zeros((3, 1)))
    with pytest.raises(DesignError, match="no map that is done"):
        compare(data)


def test_pages_escape_what_latex_reads():
    data = closed_forms(("exp",)).assign_coords(parameterization=["$a_b$ & |x|"])
    assert r"\$a\_b\$ \& \textbar{}x\textbar{}" in pages.latex(compare(data))
    assert r"\|x\|" in pages.markdown(compare(data))
