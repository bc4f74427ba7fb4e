"""What analyses and figures need is said by each, complete, and held against the measurement before anything runs."""

import ast

import handmade
import matplotlib
import pytest

from stablessm import datasets
from stablessm.cli.pipeline import module
from stablessm.plotting.style import RC
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.needs import needs
from stablessm.sweeps.places import bundled, names

EVERY = [(kind, name) for kind in ("analysis", "figures") for name in names(kind)]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_module_says_what_it_needs(kind, name):
    tree = ast.parse((bundled(kind) / f"{name}.py").read_text())
    assigned = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    said = {one.id for one in assigned if isinstance(one, ast.Name)}
    assert said >= ({"NEEDS", "READS"} if kind == "figures" else {"NEEDS"}), (
        "add the literals NEEDS (names of axes and variables) and, in a figure, READS (stablessm/sweeps/needs.py)"
    )
    assert needs(kind, name).names and set(needs(kind, name).reads) <= {"raw", *names("analysis")}


@pytest.mark.parametrize(("kind", "name"), [one for one in EVERY if needs(*one).reads == ("raw",)])
def test_what_it_says_is_all_it_needs(kind, name):
    made = getattr(handmade, name, handmade.training)
    whole = made(**{"parameterization": ("exp",)}) if made is not handmade.training else made(seed=(0,))
    missing = set(needs(kind, name).names) - set(whole.variables)
    if missing:
        pytest.fail(f"the handmade dataset has no {', '.join(missing)}")
    only = whole[[one for one in needs(kind, name).names if one in whole.data_vars]]
    found = module(kind, name)
    with matplotlib.rc_context(RC):  # draw reads all it will show; to solve its layout is what takes long
        assert found.draw(only).axes if kind == "figures" else found.reduce(only).data_vars


MAPS = 'measurement = "maps"\naxes.parameterization = ["exp"]\n'
FIT = 'measurement = "lr_stability"\naxes.parameterization = ["exp"]\n'


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        (MAPS + 'analyses = ["stable_rates"]', "'analyses': the analysis 'stable_rates' needs learning_rate,"),
        (MAPS + 'figures = ["gradient_scale"]', "'figures': the figure 'gradient_scale' needs gradient_scale,"),
        (FIT + 'figures = ["lr_stability"]', "draws what the analysis 'stable_rates' returns; name that one among"),
        (FIT + 'analyses = ["accuracy"]', "needs test_accuracy, which a sweep of the measurement 'lr_stability'"),
    ],
)  # fmt: skip
def test_a_declaration_that_asks_for_more_is_refused(refused, tmp_path, text, fragment):
    (tmp_path / "mine.toml").write_text(text)
    for command in ("run", "analyse", "draw", "reproduce", "show"):
        assert fragment in refused(command, "mine.toml", "--out", "o")


def test_every_scale_is_checked():
    toy = {"measurement": "maps", "axes": {"parameterization": ["exp"]}, "figures": ["maps"]}
    assert load_spec(toy).figures == ("maps",)
    with pytest.raises(SpecError, match="the figure 'largest_rate' needs optimizer"):
        load_spec({**toy, "figures": ["largest_rate"]}, scale="full")


def test_a_dataset_that_lacks_what_is_needed_is_named(refused, tmp_path):
    lacking = handmade.training(seed=(0,)).drop_vars("outcome")
    lacking.attrs["spec"] = load_spec("lr_stability").to_json()
    datasets.save(lacking, tmp_path / "o" / "raw" / "lr_stability.nc")
    error = refused("analyse", "lr_stability", "--out", "o")
    assert "lr_stability.nc' holds no outcome, which 'stable_rates' needs" in error
    datasets.save(lacking, tmp_path / "o" / "raw" / "maps.nc")
    assert "which 'maps' needs" in refused("draw", "maps", "--out", "o")
