"""Maps from equations: the known ones are found again, and what is found has what was asked for."""

import json
import shlex

import jax
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from stablessm.calculus.limits import normal
from stablessm.design import DesignError, Unsolved, from_gradient_scale, from_stable_step
from stablessm.design.formulas import formula_of
from stablessm.measurements.map_programs import scale_of
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.sweeps.declarations import load_spec
from stablessm.theory import verify
from stablessm.theory.problem import W


def same(design, name, **exact):
    """Whether a design is a built-in map, up to the weight's sign."""
    own = PARAMETERIZATIONS[name].replace(link=design.map.link).expression
    own = own.subs({sympy.Symbol(one, positive=True): value for one, value in exact.items()})
    return any(normal(design.map.expression - own.subs(W, sign * W)) == 0 for sign in (1, -1))


@pytest.mark.parametrize(("scale", "link", "constants", "name", "exact"), [
    ("2*a*w", "continuous", {}, "best", {}),
    ("2*a*abs(w)", "continuous", {}, "best", {}),
    ("2*a*w", "one-minus", {}, "best", {}),
    ("exp(-w)", "continuous", {"b": 0}, "exp", {}),
    ("sigmoid(w)/softplus(w)^2", "continuous", {"b": 0}, "softplus", {}),
])  # fmt: skip
def test_gradient_scales_of_known_maps(scale, link, constants, name, exact):
    assert same(from_gradient_scale(scale, link=link, constants=constants), name, **exact)


@pytest.mark.parametrize(("step", "name", "exact"), [
    ("k", "best", {"a": 1 / sympy.Symbol("k", positive=True), "b": 0}),
    ("1/(a*(1 - b*s))", "best", {}),
    ("4*s", "exp", {}),
    ("4*s^3", "direct", {}),
    pytest.param("4*s^3/(1 - exp(-s))^2", "softplus", {}, marks=pytest.mark.slow),
])  # fmt: skip
def test_stable_steps_of_known_maps(step, name, exact):
    design = from_stable_step(step)
    assert same(design, name, **exact)
    assert f"this is {name}" in " ".join(design.notes)


def test_a_discrete_step():
    design = from_stable_step("c*(1 - (1 - s)^2)^3/(1 + (1 - s)^2)", link="one-minus", constants={"c": 4.0})
    assert normal(design.map.expression.diff(W) ** 2 - 1 / sympy.Symbol("c", positive=True)) == 0


def test_a_constant_step_has_a_pole_that_verify_finds():
    design = from_stable_step("2")
    assert verify(design.map)["stability"].verdict == "refuted"
    assert any("infinite decay at a finite weight" in note for note in design.notes)


@settings(max_examples=6, deadline=None)
@given(st.tuples(*[st.integers(1, 40)] * 3), st.sampled_from(["continuous", "one-minus", "exponential"]))
def test_what_is_found_has_the_scale_that_was_asked_for(coefficients, link):
    """Against JAX: the derivative of the eigenvalue over the squared margin, at weights with lambda >= 0."""
    first, third, shortest = (one / 10 for one in coefficients)
    shortest += 1.0  # where lambda >= 0 the published form and the one with 1 - |f| agree
    design = from_gradient_scale(f"{first}*w + {third}*w^3", link=link, constants={"b": shortest})
    weight = np.array([-2.5, -0.3, 0.2, 1.0, 3.0], np.float32)
    wanted = np.abs(first * weight + third * weight**3)
    np.testing.assert_allclose(scale_of(design.map, jax.numpy.asarray(weight)), wanted, rtol=2e-5)


@pytest.mark.parametrize(("scale", "fragment"), [
    ("1", "negative towards w = -oo"),
    ("1/w^2", "no finite value everywhere"),
    ("1/(1+w^2)", "atan"),
    ("relu(w)", "no closed form in one piece"),
])  # fmt: skip
def test_scales_without_a_map(scale, fragment):
    with pytest.raises(Unsolved, match=fragment):
        from_gradient_scale(scale)


def test_steps_without_a_map():
    with pytest.raises(Unsolved, match="has no closed form"):
        from_stable_step("exp(s)")


@pytest.mark.slow
def test_a_step_whose_weight_cannot_be_inverted():
    with pytest.raises(Unsolved, match="LambertW"):
        from_stable_step("4*s*(1 + s)^2")


def test_an_integral_that_takes_too_long(monkeypatch):
    def endless(*_):
        while True:
            pass

    monkeypatch.setattr(sympy, "integrate", endless)
    for ask in (from_gradient_scale, from_stable_step):
        with pytest.raises(Unsolved, match="not found within 0.2 s of processor time".replace(".", "[.]")):
            ask("2", limit=0.2)


@pytest.mark.parametrize("ask", [from_gradient_scale, from_stable_step])
def test_questions_that_are_none(ask):
    with pytest.raises(DesignError, match="no constant 'q'"):
        ask("2", constants={"q": 1.0})
    with pytest.raises(DesignError):
        ask("0")
    with pytest.raises(ValueError, match="a link must be one of"):
        ask("2", link="euler")
    with pytest.raises(ValueError, match="must be a positive finite number"):
        ask("k", constants={"k": -1.0}) if ask is from_stable_step else ask("k*w", constants={"k": -1.0})


def test_formulas_are_read_back_as_what_was_written():
    decay = sympy.sqrt(sympy.pi) * sympy.erf(W) + sympy.asinh(W) ** 2 + sympy.log(1 + sympy.exp(W)) + 3
    text = formula_of(decay)
    assert "softplus(w)" in text and "asinh" not in text
    back = Parameterization.from_formula(text).expression
    assert abs(float((back - decay).subs(W, sympy.Rational(7, 5)))) < 1e-15


def test_a_declaration_is_one_that_run_takes(call, tmp_path):
    asked = ["--gradient-scale", "exp(-w)", "--constant", "b=0", "--out", "gentle.toml"]
    code, out, _ = call("design", *asked, "--label", "gentle")
    assert code == 0 and "stability" in out and "{formula = " in out
    assert call("run", "gentle.toml", "--out", "o")[0] == 0
    (words,) = [shlex.split(line)[4:] for line in out.splitlines() if line.startswith("on the command line")]
    assert call("run", "maps", *words, "--set", "parameterization=direct", "--out", "p")[0] == 0
    assert (
        call("design", *asked)[0] == 0 and 'label = "gentle"' not in (tmp_path / "gentle.toml").read_text()
    )  # its own file


def test_the_link_goes_with_the_map(call, tmp_path):
    """1/(1 - lambda) = 1 + e^-w under the exponential link is the sigmoid gate, s = softplus(w)."""
    asked = ["--gradient-scale", "exp(-w)", "--constant", "b=0", "--link", "exponential"]
    code, out, _ = call("design", *asked, "--out", "gate.toml")
    assert code == 0 and "--formula 'softplus(w)' --link exponential" in out
    (one,) = load_spec(tmp_path / "gate.toml").axes["parameterization"]
    assert (one.formula, one.link) == ("softplus(w)", "exponential")
    assert call("run", "gate.toml", "--out", "o")[0] == 0
    code, out, _ = call("verify", "--maps", "gate.toml", "--json")
    assert code == 0 and json.loads(out)["maps"][0]["link"] == "exponential"


@pytest.mark.parametrize(("arguments", "code", "fragment"), [
    ([], 2, "give one of"),
    (["--gradient-scale", "w", "--stable-step", "4*s"], 2, "give one of"),
    (["--gradient-scale", "foo(w)"], 2, "--gradient-scale: the formula 'foo(w)' cannot be read"),
    (["--stable-step", "1/w"], 2, "--stable-step: a stable step is a function of the decay s"),
    (["--gradient-scale", "w", "--constant", "b=-1"], 2, "positive finite number"),
    (["--gradient-scale", "w", "--link", "euler"], 2, "a link must be one of"),
    (["--gradient-scale", "w", "--out", "map.txt"], 2, "--out takes the name of a declaration"),
    (["--gradient-scale", "w", "--out", "own.toml"], 2, "not made by design"),
    (["--gradient-scale", "1/(1+w^2)", "--out", "m.toml"], 1, "atan"),
    (["--stable-step", "2", "--out", "m.toml"], 1, "not stable for every weight"),
])  # fmt: skip
def test_what_is_refused_writes_nothing(call, tmp_path, arguments, code, fragment):
    (tmp_path / "own.toml").write_text("name = 'own'\n")
    found, _, error = call("design", *arguments)
    assert found == code and error.startswith("Error: ") and error.count("\n") == 1 and fragment in error
    assert [path.name for path in tmp_path.iterdir()] == ["own.toml"]
    assert (tmp_path / "own.toml").read_text() == "name = 'own'\n"
