import json

import pytest
from pydantic import ValidationError

from stablessm.sweeps.declarations import load_spec, spec_from_json
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.spec import difference

FORMULA = "1/(a*w**2 + b)"

BAD = {
    "unknown map": (
        {"axes.parameterization": ["bst"]},
        "'toy', key 'axes.parameterization': unknown map 'bst'; the nearest is 'best' (known: ",
    ),
    "unknown measurement": (
        {"measurement": "tyo"},
        "'toy', key 'measurement': unknown measurement 'tyo'; the nearest is 'toy' (known: toy).",
    ),
    "unknown axis": ({"axes.sed": [1]}, "key 'axes.sed': unknown axis 'sed'; the nearest is 'seed'"),
    "axis of another measurement": ({"axes.beta": [1.0]}, "key 'axes.beta': unknown axis 'beta'"),
    "unknown setting": ({"settings.step": 3}, "key 'settings.step': unknown setting 'step'; the nearest is 'steps'"),
    "unknown analysis": ({"analyses": ["nothing"]}, "key 'analyses': unknown analysis 'nothing'"),
    "unknown figure": ({"figures": ["nothing"]}, "key 'figures': unknown figure 'nothing'"),
    "unknown key": ({"axis": {}}, "'toy': unknown key 'axis'; the nearest is 'axes'"),
    "unknown scale": ({"scale": {"large": {}}}, "key 'scale': unknown key 'large' (known: quick, full)"),
    "unknown key of a scale": (
        {"scale": {"full": {"axs": {}}}},
        "key 'scale.full': unknown key 'axs'; the nearest is 'axes'",
    ),
    "wrong type": ({"title": 3}, "key 'title': it must be a valid string, but got 3"),
    "zero rate": (
        {"axes.learning_rate": [0.1, 0]},
        "the learning rate must be a finite number in (0, 1000], but got 0.",
    ),
    "negative rate": ({"axes.learning_rate": [-1.0]}, "(0, 1000], but got -1.0"),
    "large rate": ({"axes.learning_rate": [1001]}, "(0, 1000], but got 1001"),
    "nan rate": ({"axes.learning_rate": [float("nan")]}, "(0, 1000], but got nan"),
    "infinite rate": ({"axes.learning_rate": [float("inf")]}, "(0, 1000], but got inf"),
    "text rate": ({"axes.learning_rate": ["0.1"]}, "(0, 1000], but got '0.1'"),
    "bool rate": ({"axes.learning_rate": [True]}, "(0, 1000], but got True"),
    "wide": ({"axes.width": [4097]}, "the width must be an integer from 1 to 4096, but got 4097"),
    "no width": ({"axes.width": [0]}, "an integer from 1 to 4096, but got 0"),
    "negative seed": ({"axes.seed": [-1]}, "the seed must be an integer from 0 to 4294967295, but got -1"),
    "large seed": ({"axes.seed": [2**32]}, "4294967295, but got 4294967296"),
    "float seed": ({"axes.seed": [1.0]}, "4294967295, but got 1.0"),
    "seed twice": ({"axes.seed": [1, 2, 1]}, "key 'axes.seed': each value may occur once on an axis, but got 1 twice"),
    "no values": ({"axes.seed": []}, "an axis needs at least one value"),
    "no maps": ({"axes.parameterization": []}, "an axis needs at least one value"),
    "unknown grid": ({"axes.seed": {"lin": [1, 2, 3]}}, "an axis must be a list, {log = [lo, hi, n]}"),
    "grid of seeds": ({"axes.seed": {"log": [1, 2, 3]}}, "makes real numbers, but the seed must be an integer"),
    "range of rates": ({"axes.learning_rate": {"range": 3}}, "{range = n} counts 0 to n - 1 on an integer axis"),
    "endless range": ({"axes.seed": {"range": 10**9}}, "n an integer from 1 to 1000000, but got 1000000000"),
    "short grid": (
        {"axes.learning_rate": {"log": [0.1, 1]}},
        "{log = [lo, hi, n]} takes three numbers, but got [0.1, 1]",
    ),
    "grid from zero": ({"axes.learning_rate": {"log": [0, 1, 3]}}, "(0, 1000], but got 0"),
    "grid of one": ({"axes.learning_rate": {"log": [0.1, 1, 1]}}, "must be an integer from 2 to 1000000, but got 1"),
    "grid of equals": ({"axes.learning_rate": {"log": [0.1, 0.1, 3]}}, "but got 0.1 twice"),
    "no steps": (
        {"settings.steps": 0},
        "key 'settings.steps': the number of steps must be an integer from 1 to 10000000, but got 0",
    ),
    "many steps": ({"settings.steps": 10**7 + 1}, "1 to 10000000, but got 10000001"),
    "infinite setting": (
        {"settings.levels": [float("inf")]},
        "key 'settings.levels': it must be a finite number, but got inf",
    ),
    "text for a number": (
        {"settings.points": "three"},
        "key 'settings.points': it must be a valid integer, unable to parse",
    ),
    "bool for a number": ({"settings.points": True}, "key 'settings.points': expected a number, but got True"),
    "chunk": ({"chunk": 0}, "key 'chunk': the chunk must be an integer from 1 to 1000000, or auto, but got 0"),
    "precision": (
        {"axes.precision": ["float16"]},
        "key 'axes.precision': unknown precision 'float16'; the nearest is 'float",
    ),
    "name of a folder": ({"name": "../toy"}, "key 'name': a name is made of a-z, 0-9, _ and -"),
    "empty name": ({"name": ""}, "key 'name': a name is made of"),
    "map key": (
        {"axes.parameterization": [{"name": "exp", "lnk": "x"}]},
        "unknown key of a map 'lnk'; the nearest is 'link'",
    ),
    "map without name": ({"axes.parameterization": [{"link": "continuous"}]}, "a map needs either a name or a formula"),
    "map as number": ({"axes.parameterization": [3]}, "a map must be a name or a table"),
    "illegal link": (
        {"axes.parameterization": [{"name": "tanh", "link": "continuous"}]},
        "'tanh' has the links one-minus, but not 'continuous'",
    ),
    "illegal pair": (
        {"axes.parameterization": ["tanh"], "axes.link": ["one-minus", "exponential"]},
        "'tanh' has the links one-minus, but not 'exponential'",
    ),
    "unknown link": (
        {"axes.link": ["one-mnus"]},
        "key 'axes.link': unknown link 'one-mnus'; the nearest is 'one-minus'",
    ),
    "two links": (
        {"axes.parameterization": [{"name": "exp", "link": "exponential"}], "axes.link": ["continuous"]},
        "the map 'exp' sets a link of its own, but 'link' is an axis",
    ),
    "unknown constant": (
        {"axes.parameterization": [{"name": "best", "constants": {"c": 1}}]},
        "'best' has no constant 'c'",
    ),
    "bad constant": (
        {"axes.parameterization": [{"name": "best", "constants": {"b": -1}}]},
        "must be a positive finite number, but got -1.0",
    ),
    "missing constant": (
        {"axes.parameterization": [{"formula": FORMULA}]},
        f"the formula '{FORMULA}' needs a value for a, b",
    ),
    "broken formula": ({"axes.parameterization": [{"formula": "1/(w"}]}, "the formula '1/(w' cannot be read"),
    "foreign function": ({"axes.parameterization": [{"formula": "open(w)"}]}, "'open' is not one of the functions"),
    "negative formula": (
        {"axes.parameterization": [{"formula": "w**2 - 1"}]},
        "the decay 'w**2 - 1' is not positive everywhere: it is -1 at w = 0",
    ),
    "complex formula": (
        {"axes.parameterization": [{"formula": "sqrt(w) + 1"}]},
        "the decay 'sqrt(w) + 1' is not real everywhere",
    ),
    "map twice": ({"axes.parameterization": ["exp", {"name": "exp"}]}, "but got the map 'exp' twice"),
    "label twice": (
        {"axes.parameterization": [{"name": "exp", "label": "x"}, {"name": "best", "label": "x"}]},
        "but got 'x' twice",
    ),
    "constant of no map": (
        {"axes.constant_b": [0.5], "axes.parameterization": ["exp"]},
        "no map here has the constant 'b'",
    ),
    "zero constant": ({"axes.constant_b": [0.0]}, "the constant b must be a finite number above 0, but got 0.0"),
    "too many cells": (
        {"axes.seed": {"range": 10**6}, "axes.learning_rate": {"log": [0.1, 1, 100]}},
        "a sweep holds at most 10000000 cells",
    ),
    "bad full scale": ({"scale": {"full": {"axes": {"seed": [-1]}}}}, "key 'scale.full.axes.seed': the seed must be"),
}


@pytest.fixture
def swept(measurements):
    """The toy measurement with the axis of a constant."""
    import dataclasses

    return {"toy": dataclasses.replace(measurements["toy"], axes={**measurements["toy"].axes, "constant_b": ()})}


def put(document, changes):
    for key, value in changes.items():
        *tables, last = key.split(".")
        table = document
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return document


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(base, swept, name):
    changes, fragment = BAD[name]
    with pytest.raises(SpecError) as caught:
        load_spec(put(base, changes), measurements=swept)
    assert fragment in str(caught.value)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".") and "..." not in str(caught.value)[-4:]


def test_required_keys(base, measurements):
    del base["measurement"]
    with pytest.raises(SpecError, match=r"^'toy': the key 'measurement' is missing\.$"):
        load_spec(base, measurements=measurements)
    base["measurement"] = "toy"
    del base["axes"]["parameterization"]
    with pytest.raises(SpecError, match=r"key 'axes.parameterization': .* needs a list of maps"):
        load_spec(base, measurements=measurements)
    base["axes"] = {"parameterization": ["exp"]}
    with pytest.raises(SpecError, match="needs values for the axis 'learning_rate'"):
        load_spec(base, measurements=measurements)


def test_files(tmp_path, measurements):
    with pytest.raises(SpecError, match=r"unknown experiment 'nothing'.*or give the path of a TOML file"):
        load_spec("nothing", measurements=measurements)
    with pytest.raises(SpecError, match="there is no declaration"):
        load_spec(tmp_path / "gone.toml", measurements=measurements)
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec(tmp_path, measurements=measurements)
    path = tmp_path / "mine.toml"
    path.write_text("axes = [")
    with pytest.raises(SpecError, match=r"mine\.toml' is not TOML"):
        load_spec(path, measurements=measurements)
    path.write_bytes(b"\xff")
    with pytest.raises(SpecError, match="is not TOML"):
        load_spec(path, measurements=measurements)
    path.write_text('measurement = "toy"\naxes.parameterization = ["exp"]\naxes.learning_rate = [0]')
    with pytest.raises(SpecError, match=r"^'mine\.toml', key 'axes\.learning_rate': "):
        load_spec(str(path), measurements=measurements)
    path.write_text('measurement = "toy"\naxes.parameterization = ["exp"]\naxes.learning_rate = [1]')
    assert load_spec(str(path), measurements=measurements).name == "mine"


def test_defaults_scales_and_order(base, measurements):
    base["axes"]["learning_rate"] = {"log": [1e-3, 1, 4]}
    base["scale"] = {"full": {"axes": {"seed": {"range": 20}}, "settings": {"steps": 500}, "chunk": 7}}
    quick, full = (load_spec(base, scale=scale, measurements=measurements) for scale in ("quick", "full"))
    assert list(quick.axes) == ["parameterization", "width", "seed", "learning_rate"]
    assert quick.axes["learning_rate"] == (0.001, 0.01, 0.1, 1.0) and quick.axes["width"] == (2,)
    assert quick.settings == {"steps": 20, "points": 3, "mode": "plain", "levels": [1.0, 2.0]} and quick.chunk == 4
    assert full.axes["seed"] == tuple(range(20)) and full.settings["steps"] == 500 and full.chunk == 7
    assert full.axes["learning_rate"] == quick.axes["learning_rate"]
    with pytest.raises(SpecError, match="unknown scale 'fast'"):
        load_spec(base, scale="fast", measurements=measurements)
    with pytest.raises(ValidationError):
        quick.chunk = 3


def test_the_default_chunk_holds_a_combination_up_to_64(base, measurements):
    del base["chunk"]
    assert load_spec(base, measurements=measurements).chunk == 9
    base["axes"]["seed"] = {"range": 50}
    assert load_spec(base, measurements=measurements).chunk == 64


def test_numbers_are_kept_exactly(base, measurements):
    rates = [0.1, 0.30000000000000004, 2e-38, 1000]
    base["axes"].update(learning_rate=rates, seed=[2**32 - 1, 0])
    spec = load_spec(base, measurements=measurements)
    assert spec.axes["learning_rate"] == tuple(map(float, rates)) and spec.axes["seed"] == (2**32 - 1, 0)
    assert spec_from_json(spec.to_json(), measurements=measurements).axes == spec.axes


def test_labels(base, measurements):
    base["axes"]["parameterization"] = [
        "exp",
        {"name": "best", "constants": {"b": 0.1}},
        {"name": "best", "constants": {"b": 0.2}},
        {"name": "softplus", "link": "exponential"},
        {"name": "softplus", "link": "one-minus"},
        {"formula": FORMULA, "constants": {"a": 1, "b": 2}},
        {"formula": "exp(2*w)", "label": "mine"},
    ]
    labels = load_spec(base, measurements=measurements).coordinates()["parameterization"]
    assert labels == [
        "exp",
        "best (b=0.1)",
        "best (b=0.2)",
        "softplus (exponential)",
        "softplus (one-minus)",
        FORMULA,
        "mine",
    ]


def test_json_regenerates_the_spec(base, measurements):
    base["axes"]["parameterization"] += [{"formula": FORMULA, "constants": {"a": 1, "b": 2}, "link": "exponential"}]
    base.update(title="A title", scale={"full": {"axes": {"seed": [5]}}})
    spec = load_spec(base, scale="full", overrides=["steps=9"], measurements=measurements)
    again = spec_from_json(spec.to_json(), measurements=measurements)
    assert again == spec and again.to_json() == spec.to_json() and again.digest == spec.digest
    assert json.loads(spec.to_json())["scale"] == "full"
    with pytest.raises(SpecError, match="not JSON"):
        spec_from_json("{", measurements=measurements)


def test_the_digest_counts_what_decides_the_values(base, measurements):
    first = load_spec(base, measurements=measurements)
    base["title"] = "Another title"
    assert load_spec(base, measurements=measurements).digest == first.digest
    for over in ("seed=0,1", "steps=9", "chunk=3", "precision=float64", "parameterization=exp,best(b=0.4)"):
        other = load_spec(base, overrides=[over], measurements=measurements)
        assert other.digest != first.digest and len(difference(first.document(), other.document())) == 1


def test_a_constant_may_be_an_axis(base, swept):
    base["axes"].update(constant_b=[0.1, 0.5], parameterization=["best", {"formula": FORMULA, "constants": {"a": 1}}])
    spec = load_spec(base, measurements=swept)
    assert spec.axes["constant_b"] == (0.1, 0.5) and list(spec.traced_axes) == ["seed", "constant_b", "learning_rate"]


def test_reading_a_declaration_needs_no_jax(base):
    import subprocess
    import sys

    script = (
        "import sys\nfrom stablessm.measurements.base import Measurement, Settings\n"
        "from stablessm.sweeps.declarations import load_spec\n"
        "one = Measurement('m', '', '', {'parameterization': None}, Settings, lambda s: {}, 'x:y')\n"
        "document = {'name': 'm', 'measurement': 'm', 'axes': {'parameterization': ['exp', 'best']}}\n"
        "load_spec(document, measurements={'m': one})\n"
        "assert not {'jax', 'sympy', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("formula", ["exp(-exp(w))", "softplus(w)^3", "tanh(w)+1", "erf(w)+1", "w^2+1e-30"])
def test_a_decay_that_only_rounds_to_zero_is_positive(base, measurements, formula):
    base["axes"]["parameterization"] = [{"formula": formula}]
    assert load_spec(base, measurements=measurements).axes["parameterization"][0].formula == formula


@pytest.mark.parametrize("formula", ["w^2", "relu(w)", "w*0", "max(w-3,0)*max(-w,0)", "abs(w)", "max(w-3,0)"])
def test_a_decay_that_is_zero_somewhere_is_refused(base, measurements, formula):
    base["axes"]["parameterization"] = [{"formula": formula}]
    with pytest.raises(SpecError, match="not positive everywhere: it is 0 at w = "):
        load_spec(base, measurements=measurements)


@pytest.mark.parametrize(
    "formula, weight",
    [("w/w", "0"), ("(exp(w)-1)/w", "0"), ("1/w^2", "0"), ("sqrt(w)^4+1", "-1"), ("(w^2-2)/(w^2-2)", "-1.414")],
)
def test_a_decay_without_a_value_as_it_is_written_is_refused(base, measurements, formula, weight):
    base["axes"]["parameterization"] = [{"formula": formula}]
    with pytest.raises(SpecError, match=f"not real everywhere: as it is written it has no value at w = {weight},"):
        load_spec(base, measurements=measurements)


def test_a_part_that_only_rounds_to_zero_may_be_divided_by(base, measurements):
    base["axes"]["parameterization"] = [{"formula": "exp(w)/exp(w/2)"}, {"formula": "1+log(exp(abs(w)))"}]
    assert len(load_spec(base, measurements=measurements).axes["parameterization"]) == 2
