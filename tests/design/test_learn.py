"""Learned maps: best is found again, nothing beats what no map can beat, and bounds that are claimed hold."""

import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.design import DesignError, Unsolved, learn
from stablessm.design.purposes import PURPOSES, least_possible
from stablessm.design.slope import enclosures_for
from stablessm.measurements.map_programs import scale_of
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization

NONE = float("inf")


@pytest.fixture(scope="module")
def best():
    return learn("gradient-over-weight", family="best", memory=(1.0, 101.0), slope=NONE, name="found")


def test_best_is_found_again(best):
    """a = (hi - lo)/R^2 and b = lo, to the reserve in the range of memory; nothing tells the search."""
    assert best.map.name == "found"
    np.testing.assert_allclose([best.map.constants["a"], best.map.constants["b"]], [1.0, 1.0], rtol=5e-4)
    assert "1 times the least that any map can have (2)" in best.answer
    assert "proved by" in best.checked and "g(beta) <= exp(1.001*beta) - 1" in best.checked


def test_the_supremum_said_is_that_of_the_map(best):
    weight = jnp.linspace(0.05, 10.0, 300)
    ratio = scale_of(best.map, weight) / weight
    assert f"supremum {float(ratio.max()):.3f}"[:14] in best.answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("purpose", "within"), [("gradient-over-weight", 1.07), ("stable-step", 1.2), ("modulus", 1.1)]
)
def test_units_come_close_to_what_any_map_can_do(purpose, within):
    found = learn(purpose)
    ratio = float(found.answer.split()[2])
    assert 1 - 1e-3 < ratio < within
    assert enclosures_for(found.map, 2.0) is not None


@pytest.mark.slow
def test_units_find_best_where_best_is_the_optimum():
    found = learn("gradient-over-weight", memory=(1.0, 101.0), slope=NONE).map
    weight = np.linspace(0.0, 10.0, 101)
    np.testing.assert_allclose(1 / np.asarray(found.decay(jnp.asarray(weight))), 1 + weight**2, rtol=2e-3)


@pytest.mark.parametrize(("name", "formula", "memory", "weights"), [
    ("modulus", "exp(-0.5*w)", (1.0, np.exp(5.0)), (0.0, 10.0)),
    ("gradient-scale", "1/(3 + 2*w)", (3.0, 23.0), (0.0, 10.0)),
    ("gradient-over-weight", "1/(2 + 3*w^2)", (2.0, 302.0), (0.0, 10.0)),
    ("stable-step", "1/(2 + 3*w)^2", (4.0, 32.0**2), (0.0, 10.0)),
])  # fmt: skip
def test_the_least_value_is_attained_by_the_map_known_for_it(name, formula, memory, weights):
    """At weights inside the interval, from JAX: Q is constant there and equals the least value; K = inf and K large."""
    own, weight = Parameterization.from_formula(formula), jnp.asarray([2.0, 5.0, 9.0])
    margin = own.margin(weight)
    ratio = scale_of(own, weight) * margin
    values = PURPOSES[name].factor(1 / margin, weight, "continuous") * ratio ** PURPOSES[name].power
    least = [least_possible(PURPOSES[name], "continuous", memory, weights, slope) for slope in (NONE, 50.0)]
    np.testing.assert_allclose(values, [least[0]] * 3, rtol=1e-5)
    np.testing.assert_allclose(*least, rtol=2e-3)


def test_a_bound_on_the_slope_costs():
    for one in PURPOSES.values():
        values = [least_possible(one, "continuous", (1.0, 1000.0), (0.0, 10.0), slope) for slope in (NONE, 2.0, 0.7)]
        assert values == sorted(values)


@pytest.mark.parametrize(("formula", "bound", "holds"), [
    ("1/(w^2 + 1)", 1.001, True), ("1/(w^2 + 1)", 0.999, False), ("exp(w)", 1.0001, True), ("w^2", 100.0, False),
    ("1/sqrt(1 + (w - 3)^2)", 0.501, True), ("1 + sigmoid(w)", 1.0, False),
])  # fmt: skip
def test_enclosures_prove_what_is_so_and_nothing_else(formula, bound, holds):
    """The last is bounded too, but not rational: not proved here."""
    assert (enclosures_for(Parameterization.from_formula(formula), bound) is not None) == holds


def test_enclosures_in_discrete_time():
    steep = PARAMETERIZATIONS["best"].replace(link="one-minus")
    assert enclosures_for(steep.replace(constants={"b": 2.0}), 0.71) is not None  # sqrt(a/b) = 0.7071
    assert enclosures_for(steep.replace(constants={"b": 0.6}), 9.0) is None  # the margin is 2 - s near 0


@pytest.mark.parametrize(("arguments", "fragment"), [
    ({"purpose": "stable-stp"}, "did you mean 'stable-step'"),
    ({"memory": (10.0, 1.0)}, "memory: two numbers"),
    ({"memory": (0.0, 1.0)}, "LOW > 0"),
    ({"weights": (0.0, NONE)}, "weights: two numbers"),
    ({"slope": 0.5}, "takes a slope of ln|f| above 0.6215"),
    ({"link": "one-minus", "memory": (1.0, 10.0)}, "above 1 step"),
    ({"family": "exp(w)"}, "no constant that could be learned"),
])  # fmt: skip
def test_what_cannot_be_learned(arguments, fragment):
    with pytest.raises(DesignError) as refused:
        learn(**{"purpose": "modulus"} | arguments)
    assert fragment in str(refused.value)


@pytest.mark.slow
def test_a_family_that_does_not_reach():
    with pytest.raises(Unsolved, match="no map of the family"):
        learn("modulus", family="c*exp(-w)", slope=3.0, memory=(1.0, 1e6))


@pytest.mark.slow
def test_a_learned_map_is_one_that_run_takes(call, tmp_path):
    code, out, _ = call("design", "--criterion", "gradient-over-weight", "--family", "best", "--memory", "1,101",
                        "--slope", "none", "--out", "learned.toml")  # fmt: skip
    assert code == 0 and "1 times the least that any map can have (2)" in out
    assert call("run", "learned.toml", "--out", "o")[0] == 0


@pytest.mark.parametrize(("arguments", "fragment"), [
    (["--criterion", "modulas"], "--criterion: a criterion must be one of"),
    (["--criterion", "modulus", "--memory", "1"], "--memory takes LOW,HIGH"),
    (["--criterion", "modulus", "--memory", "5,1"], "--memory: two numbers"),
    (["--criterion", "modulus", "--slope", "nan"], "--slope takes a positive number or none"),
    (["--criterion", "modulus", "--slope", "0.1"], "--slope: reaching memory lengths"),
    (["--criterion", "modulus", "--constant", "b=1"], "--constant does not go with --criterion"),
    (["--gradient-scale", "w", "--slope", "1"], "--slope goes with --criterion"),
    (["--criterion", "modulus", "--family", "foo(w)"], "'foo' is not one of the functions"),
])  # fmt: skip
def test_bad_input(call, tmp_path, arguments, fragment):
    code, _, error = call("design", *arguments, "--out", "m.toml")
    assert code == 2 and error.startswith("Error: ") and error.count("\n") == 1 and fragment in error
    assert not list(tmp_path.iterdir())
