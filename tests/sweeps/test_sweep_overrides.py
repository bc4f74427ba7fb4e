import pytest

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.overrides import parse_overrides, split_commas


def test_commas_inside_brackets_do_not_split():
    assert split_commas("exp, min(w, max(1, w)), {name='a,b', constants={a=1, b=2}}, [1,2]") == [
        "exp", "min(w, max(1, w))", "{name='a,b', constants={a=1, b=2}}", "[1,2]",
    ]  # fmt: skip
    assert split_commas("  ") == [] and split_commas("a") == ["a"]


def test_axes_and_settings():
    axes, settings = parse_overrides(
        ["seed=0,1", "seed = 5", "learning_rate=log(1e-3, 1, 4)", "steps=500", "settings.mode=plain", "levels=1,2.5",
         "flag=true", "link=continuous,exponential", "width=[3, 4]", "axes.beta=linear(0,1,3)", "repeat=range(4)"]
    )  # fmt: skip
    assert axes == {
        "seed": [0, 1, 5], "learning_rate": {"log": [1e-3, 1, 4]}, "link": ["continuous", "exponential"],
        "width": [3, 4], "beta": {"linear": [0, 1, 3]}, "repeat": {"range": 4},
    }  # fmt: skip
    assert settings == {"steps": 500, "mode": "plain", "levels": [1, 2.5], "flag": True}


def test_maps():
    text = "exp,best(b=0.1),1/(a*w^2+b) (a=1, b=.5, link=one-minus),min(exp(w), 9),{name='best', label='x'}"
    axes, _ = parse_overrides([f"parameterization={text}"])
    assert axes["parameterization"] == [
        "exp",
        {"name": "best", "constants": {"b": 0.1}},
        {"formula": "1/(a*w^2+b)", "constants": {"a": 1, "b": 0.5}, "link": "one-minus"},
        {"formula": "min(exp(w), 9)"},
        {"name": "best", "label": "x"},
    ]


@pytest.mark.parametrize("text", ["seed", "seed=", "=3", ""])
def test_text_without_key_or_value(text):
    with pytest.raises(SpecError, match="expected KEY=VALUE"):
        parse_overrides([text])


def test_collisions():
    with pytest.raises(SpecError, match="--set steps: this setting is given twice"):
        parse_overrides(["steps=1", "steps=2"])
    with pytest.raises(SpecError, match="--set seed: a grid cannot be joined"):
        parse_overrides(["seed=range(3)", "seed=2"])


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("learning_rate=0", "--set learning_rate: the learning rate must be a finite number in (0, 1000], but got 0."),
        ("learning_rate=0.1,nan", "(0, 1000], but got nan"),
        ("learning_rate=0.1,fast", "(0, 1000], but got 'fast'"),
        ("learning_rate=log(1,2)", "takes three numbers"),
        ("seed=1.5", "--set seed: the seed must be an integer"),
        ("seed=1,1", "but got 1 twice"),
        ("parameterization=bst", "--set parameterization: unknown map 'bst'; the nearest is 'best'"),
        ("parameterization=w", "the decay 'w' is not positive everywhere"),
        ("parameterization={name=", "unknown map '{name='"),
        ("parameterization=1/(a*w**2+b)", "needs a value for a, b"),
        ("sed=1", "--set sed: unknown axis or setting 'sed'; the nearest is 'seed'"),
        ("precison=float64", "--set precison: unknown axis or setting 'precison'; the nearest is 'precision'"),
        ("steps=0", "--set steps: the number of steps must be"),
        ("chunk=0", "--set chunk: the chunk must be"),
        ("precision=half", "--set precision: unknown precision 'half'"),
        ("points=many", "--set points: it must be a valid integer"),
        ("mode=3", "--set mode: it must be a valid string, but got 3"),
    ],
)
def test_bad_overrides_are_one_sentence(base, measurements, text, fragment):
    with pytest.raises(SpecError) as caught:
        load_spec(base, overrides=[text], measurements=measurements)
    assert fragment in str(caught.value) and "\n" not in str(caught.value)


def test_overrides_lie_over_the_scale(base, measurements):
    base["scale"] = {"full": {"axes": {"seed": [7]}, "settings": {"steps": 30}}}
    overrides = ["seed=9", "steps=40", "levels=3", "chunk=2"]
    spec = load_spec(base, scale="full", overrides=overrides, measurements=measurements)
    assert spec.axes["seed"] == (9,) and spec.settings["steps"] == 40 and spec.settings["levels"] == [3.0]
    assert spec.chunk == 2
    assert load_spec(spec, chunk=5, measurements=measurements).chunk == 5


def test_a_setting_that_bears_the_name_of_an_axis_takes_one_value():
    assert load_spec("poles_and_residues", overrides=["width=2"]).settings["width"] == 2
    with pytest.raises(SpecError, match="width: poles_and_residues takes one value, but got 2"):
        load_spec("poles_and_residues", overrides=["width=2,3"])
    assert load_spec("exact_perturbation", overrides=["width=2"]).settings["width"] == [2]
