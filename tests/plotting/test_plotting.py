import hashlib
import itertools
import os
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from stablessm import datasets
from stablessm.datasets import DatasetWriteError
from stablessm.plotting import style
from stablessm.plotting.panels import blocks, caption, circumstances, panels
from stablessm.plotting.saving import FORMATS, drawn, save

SCRIPT = """
import hashlib, sys
import xarray as xr
from stablessm.plotting.saving import FORMATS, drawn, rendered
from stablessm.cli.pipeline import module
sys.path.insert(0, "tests/figures")
import handmade
rates = module("analysis", "stable_rates").reduce(handmade.training())
figure = drawn(module("figures", "lr_stability").draw, rates)
print([hashlib.sha256(rendered(figure, kind)).hexdigest() for kind in FORMATS])
"""


def simple():
    figure = Figure(layout="constrained")
    figure.subplots().plot([1, 2], [3, 4], label="a")
    return figure


def grey(colour):
    """CIE lightness of a colour, 0 to 100."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = np.dot([0.2126, 0.7152, 0.0722], linear)
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


@pytest.mark.slow
def test_two_processes_draw_the_same_bytes(request):
    calls = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True,
                       cwd=request.config.rootpath, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]  # fmt: skip
    assert calls[0].stdout == calls[1].stdout and calls[0].stdout.count("'") == 2 * len(FORMATS)


def test_plotting_reaches_neither_jax_nor_sympy_nor_pyplot():
    script = (
        "import sys, stablessm.plotting.saving, stablessm.plotting.panels, stablessm.plotting.curves\n"
        "assert not {'jax', 'sympy', 'matplotlib.pyplot'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_files_hold_no_date_and_do_not_depend_on_the_style_of_the_process(tmp_path):
    first = save(drawn(simple), tmp_path, "a")
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "other", "savefig.dpi": 300, "axes.facecolor": "red"}):
        second = save(drawn(simple), tmp_path, "b")
    digest = [[hashlib.sha256(path.read_bytes()).hexdigest() for path in paths] for paths in (first, second)]
    assert digest[0] == digest[1]
    assert b"<dc:date>" not in first[1].read_bytes() and b"CreationDate" not in first[0].read_bytes()


def test_a_file_does_not_depend_on_the_files_drawn_before_it(tmp_path):
    def labelled():
        figure = Figure(figsize=(8.6, 3.8), layout="constrained")  # wide enough that the layout takes several passes
        for axes in figure.subplots(1, 2):
            axes.loglog([1e-3, 1.0], [1e-3, 1e5], label="a")
            axes.set(xlabel="learning rate", ylabel="largest gradient over weight")
        figure.suptitle("a title")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center")
        return figure

    every = {path.suffix: path.read_bytes() for path in save(drawn(labelled), tmp_path, "every")}
    backwards = save(drawn(labelled), tmp_path, "backwards", FORMATS[::-1])
    assert [path.name for path in backwards] == [f"backwards.{kind}" for kind in FORMATS[::-1]]
    assert all(path.read_bytes() == every[path.suffix] for path in backwards)


def test_a_refusing_disk_leaves_the_old_figure(tmp_path, monkeypatch):
    (path,) = save(drawn(simple), tmp_path, "a", ["png"])
    old = path.read_bytes()

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(datasets.os, "replace", refuse)
    with pytest.raises(DatasetWriteError, match=r"a\.png' cannot be written: No space left"):
        save(drawn(Figure), tmp_path, "a", ["png"])
    assert path.read_bytes() == old and [one.name for one in tmp_path.iterdir()] == ["a.png"]


def test_no_two_maps_of_a_figure_look_alike_and_each_keeps_its_look():
    built_in = ("direct", "exp", "softplus", "best", "tanh", "sigmoid", "square", "relu", "clip")
    many = (*built_in, "best (b=0.1)", "best (b=1)", *(f"1/(w**2 + {i})" for i in range(12)))
    looks = style.looks(many)
    for one, two in itertools.combinations(looks.values(), 2):
        assert one != two
    assert style.looks(reversed(built_in)) == {name: looks[name] for name in built_in}
    assert style.looks(["best (b=0.1)"])["best (b=0.1)"]["color"] == looks["best"]["color"]
    assert style.looks(["mine"])["mine"] == style.looks(["exp", "mine"])["mine"]


def test_outcomes_are_apart_in_grey():
    light = {name: grey(colour) for name, colour in style.OUTCOME_COLOURS.items() if name != "not_computed"}
    assert min(abs(light[a] - light[b]) for a, b in itertools.combinations(light, 2)) > 10
    assert all(light[name] < 60 for name in style.DARK_OUTCOMES)
    assert all(light[name] > 60 for name in light if name not in style.DARK_OUTCOMES)


def test_labels():
    variable = xr.DataArray(1.0, attrs={"long_name": "cost, where there is one", "units": "$"})
    assert style.label(variable) == r"cost [\$]"
    assert style.text("a" * 100).endswith("…") and len(style.text("a" * 100)) == 40


@pytest.mark.parametrize(("each", "columns", "rows"), [(5, 4, 2), (4, 4, 1), (7, 3, 3), (1, 4, 1)])
def test_blocks_of_panels_do_not_overlap(each, columns, rows):
    figure = Figure()
    found = blocks(figure, 3, each, columns=columns, x="below", y="left")
    places = [axes.get_subplotspec().num1 for block in found for axes in block]
    assert len(set(places)) == len(places) == 3 * each == len(figure.axes)
    assert [len(block) for block in found] == [each] * 3
    wide = -(-each // rows)
    for block in found:
        first = block[0].get_subplotspec().num1
        assert first % wide == 0  # a block begins a row
        for place, axes in enumerate(block):
            assert bool(axes.get_ylabel()) == (place % wide == 0)
            below = [other for other in places if other == axes.get_subplotspec().num1 + wide]
            assert bool(axes.get_xlabel()) == (not below)


def test_panels_cover_every_combination():
    data = xr.Dataset(
        {"x": (("map", "optimizer", "width", "rate"), np.arange(8).reshape(1, 2, 2, 2))},
        {"optimizer": ["gradient_descent", "adam"], "width": [8, 64], "map": ["exp"]},
    )
    found = panels(data, ("map", "rate"))
    spoken = [panel.title.replace("\N{NO-BREAK SPACE}", " ") for panel in found]
    assert spoken == ["gradient descent, width 8", "gradient descent, width 64", "adam, width 8", "adam, width 64"]
    assert [panel.data["x"].values.ravel().tolist() for panel in found] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [panel.title for panel in panels(data, data.dims)] == [""]
    assert circumstances(data.isel(width=[1]), ("map", "rate")).replace("\N{NO-BREAK SPACE}", " ") == "width 64"


def test_a_long_caption_stays_inside_a_narrow_figure():
    names = ["target", "optimizer", "perturbed", "ball", "repeat"]
    data = xr.Dataset(coords={name: (name, ["a rather long name"], {"long_name": name}) for name in names})
    figure = Figure(figsize=(3, 3), layout="constrained")
    figure.subplots()
    caption(figure, data, ())
    figure.draw_without_rendering()
    (words,) = (text for text in figure.texts if "long" in text.get_text())
    box = words.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and words.get_text().count("\n") >= 2
