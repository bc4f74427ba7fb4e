"""Every figure draws whatever a sweep may hold: one map, many, formulas, one seed, several axes, nothing stable."""

import ast
import io

import handmade
import matplotlib
import pytest
from matplotlib.text import Text

from stablessm.cli.pipeline import module
from stablessm.plotting.saving import drawn
from stablessm.plotting.style import RC
from stablessm.sweeps.needs import needs
from stablessm.sweeps.places import bundled, names

FITS = ("stablessm.memory.bound", "stablessm.memory.decay")  # NumPy and SciPy alone, see tests/memory
MAPPED = [name for name in names("figures") if "parameterization" in needs("figures", name).names]
SWEPT = {"learning_rate": (1e-2, 1e-1), "target": ("exponential", "polynomial"), "optimizer": ("adam", "adamw")}
CASES = {
    "one": {"parameterization": ("exp",), "seed": (0,), "learning_rate": (1e-2,)},
    "many": {"parameterization": handmade.MAPS[::2] + handmade.USER},
    "swept": {**SWEPT, "parameterization": ("exp", "best")},
    "all": {"parameterization": handmade.MAPS + handmade.USER},
    "all swept": SWEPT,
}

SLOW = ("all", "all swept")  # of a figure's time the panels are most


def reads(figure, sizes, change=lambda data: data):
    maps_only = {name: sizes[name] for name in ("parameterization", "link") if name in sizes}
    name = figure.__name__.split(".")[-1]
    of_maps = ("maps", "gradient_scale", "moduli", "stable_step", "representable_memory", "mode_perturbation",
               "largest_step", "poles_and_residues")  # fmt: skip
    own = maps_only if name in of_maps else sizes
    data = change(getattr(handmade, name, handmade.training)(**own))
    return [data if name == "raw" else module("analysis", name).reduce(data) for name in figure.READS]


def sketched(name, sizes, change=lambda data: data):
    """Return the figure as it is before its layout is solved, which is most of the work of drawing it."""
    figure = module("figures", name)
    with matplotlib.rc_context(RC):
        made = figure.draw(*reads(figure, sizes, change))
    made.set_layout_engine("none")
    return made


def shown(figure):
    """Return the texts of a figure without their spaces and line breaks, which a title has where its width asks."""
    return ["".join(text.get_text().split()) for text in figure.findobj(Text)]


@pytest.mark.matrix(4)
@pytest.mark.parametrize("case", ["one", "many", "swept", *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)])
@pytest.mark.parametrize("name", names("figures"))
def test_draws(name, case):
    draw = module("figures", name)
    figure = drawn(draw.draw, *reads(draw, CASES[case]))
    frame = figure.bbox.padded(1)
    for part in [
        *figure.legends,
        *(axes.xaxis.label for axes in figure.axes),
        *(axes._left_title for axes in figure.axes),
    ]:
        box = part.get_window_extent()
        assert box.width == 0 or (frame.containsx(box.x0) and frame.containsx(box.x1)), part
        assert box.height == 0 or (frame.containsy(box.y0) and frame.containsy(box.y1)), part
    (legend,) = figure.legends
    for axes in figure.axes:
        assert not axes.bbox.overlaps(legend.get_window_extent()) and axes.bbox.height > 20
    if case not in ("many", "swept"):  # whose parts are those of one map at one place, only more of them
        figure.savefig(io.BytesIO(), format="png", dpi=40)  # last: texts would keep the sizes they have at 40 dpi


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MAPPED)
def test_no_axis_of_a_sweep_is_dropped(name):
    one, two = sketched(name, {}), sketched(name, {"link": ("continuous", "one-minus")})
    assert len(two.axes) == 2 * len(one.axes)
    assert any("one-minus" in text for text in shown(two))


@pytest.mark.matrix(3)
@pytest.mark.parametrize("code", [3, 4, 5, 6])
@pytest.mark.parametrize("name", ["lr_stability", "gradient_ratio", "digits", "memory", "autocorrelation"])
def test_draws_where_nothing_is_stable_or_computed(name, code):
    def nothing(data):
        data["outcome"][:] = code
        if "first_bad_step" in data:
            data["first_bad_step"][:] = 0
        return data

    sketched(name, {}, nothing).savefig(io.BytesIO(), format="png", dpi=40)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MAPPED)
def test_labels_of_user_maps_are_drawn_as_they_are_written(name):
    figure = sketched(name, {"parameterization": ("direct", handmade.USER[2])})
    figure.savefig(io.BytesIO(), format="png", dpi=40)
    assert any("".join(handmade.USER[2].split()) in text.replace(r"\$", "$") for text in shown(figure))


def test_each_layer_of_a_classifier_has_its_own_ratios():
    figure = module("figures", "digits")
    accuracy, ratios = reads(figure, {})
    layered = ratios.expand_dims(layer=[0, 2])
    with matplotlib.rc_context(RC):
        assert [len(figure.draw(accuracy, one).axes) for one in (ratios, layered)] == [2, 3]


@pytest.mark.parametrize(("kind", "allowed"), [
    ("figures", {"__future__", "matplotlib", "xarray", "numpy", "stablessm.plotting", "itertools", "textwrap"}),
    ("analysis", {"__future__", "xarray", "numpy", "scipy.stats", "typing", "collections", *FITS}),
])  # fmt: skip
def test_analyses_and_figures_import_little_and_open_nothing(kind, allowed):
    for path in bundled(kind).glob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            found = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            for one in found:
                known = one in allowed or one.split(".")[0] in allowed or one.startswith("stablessm.plotting")
                assert known, (path.name, one)
            called = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            assert called not in ("open", "open_dataset", "load_dataset", "savefig", "to_netcdf", "write_text"), (
                path.name
            )
