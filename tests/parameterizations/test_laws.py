"""The laws of a parameterization, crossed with every map and every legal link."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stablessm import PARAMETERIZATIONS, Parameterization, ParameterizationError
from stablessm.parameterizations.grammar import parse
from tests.parameterizations.reference import IDS, MAPS, VIEWS, decay, exact, view
from tests.tolerances import assert_close

WEIGHTS = tuple(float(np.float32(x)) for x in (-30.0, -7.3, -1.9, -0.31, 0.27, 0.83, 2.7, 9.1, 31.0))
every_map = pytest.mark.parametrize("map_", MAPS, ids=IDS)


def bit_patterns(stride: int) -> np.ndarray:
    bits = np.arange(0, 2**32, stride, dtype=np.uint64).astype(np.uint32).view(np.float32)
    special = np.array([0, -0.0, 1, -1, 3.4e38, -3.4e38, 1e-38, 1e-45, 1e-4, -1e-4], np.float32)
    return np.concatenate([bits[np.isfinite(bits)], special])


def derivatives(function, count: int = 2):
    functions = [function]
    for _ in range(count):
        functions.append(jax.grad(functions[-1]))
    return jax.jit(lambda w: [jax.vmap(one)(w) for one in functions])


def functions_of(map_: Parameterization) -> dict:
    found = {name: getattr(map_, name) for name in VIEWS}
    if map_.link == "continuous":
        for step in (1.0, 1e-3):
            found |= {
                f"multiplier {step}": lambda w, step=step: map_.zero_order_hold(w, step)[0],
                f"gain {step}": lambda w, step=step: map_.zero_order_hold(w, step)[1],
                f"real gain {step}": lambda w, step=step: map_.zero_order_hold(w, step, frequency=3.0)[1].real,
                f"imaginary gain {step}": lambda w, step=step: map_.zero_order_hold(w, step, frequency=3.0)[1].imag,
            }
    return found


@pytest.mark.slow  # test_finite.py asks the same of programs that test_values.py compiles too
@every_map
def test_no_nan_for_any_float32_weight(map_):
    weights = jnp.asarray(bit_patterns(2**16 + 1))
    for name, function in functions_of(map_).items():
        for order, values in enumerate(derivatives(function)(weights)):
            assert not np.isnan(np.asarray(values)).any(), (name, order)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(MAPS))
def test_no_nan_at_drawn_weights(weight, map_):
    for name in VIEWS:
        value, slope = jax.value_and_grad(getattr(map_, name))(jnp.float32(weight))
        assert not jnp.isnan(value), name
        assert not jnp.isnan(slope), name


@pytest.mark.slow  # test_values.py holds more weights and the second derivative to closer bounds
@every_map
@pytest.mark.parametrize("order", [0, 1])
def test_value_and_derivative_against_mpmath(map_, order):
    for name in ("decay", "eigenvalue", "margin"):
        values, condition = exact(view(map_.name, map_.link, name), WEIGHTS, order)[:2]
        actual = derivatives(getattr(map_, name), 1)(jnp.asarray(WEIGHTS, jnp.float32))[order]
        finite = np.isfinite(values)
        # exp(-s) multiplies the rounding of s by s
        s = np.asarray(exact(decay(map_.name, map_.link), WEIGHTS, 0)[0])
        assert_close(
            np.asarray(actual)[finite],
            np.asarray(values)[finite],
            condition=(np.asarray(condition) + np.minimum(np.abs(s), 1e6))[finite],
        )


@pytest.mark.slow  # test_inverse.py has more decays of each image
@every_map
def test_inverse_on_the_image(map_):
    decays = jnp.asarray([0.011, 0.1, 0.5, 0.93], jnp.float32)
    weights = map_.weight(decays)
    slope = jax.vmap(jax.grad(map_.decay))(weights)
    condition = np.abs(np.asarray(slope * weights / decays)) + 1 / np.asarray(decays)
    assert_close(np.asarray(map_.decay(weights)), np.asarray(decays, float), condition=condition)
    if np.isfinite(map_.image.upper):
        with pytest.raises(ParameterizationError, match="must lie in") as caught:
            map_.weight(map_.image.upper * 1.5)
        assert str(map_.image) in str(caught.value)


def test_published_starting_weights():
    wanted = {"direct": -0.5, "exp": -0.6931471806, "softplus": -0.4327521296, "best": 1.2247448714}
    for name, weight in wanted.items():
        assert float(PARAMETERIZATIONS[name].weight(0.5)) == pytest.approx(weight, rel=1e-6)
    assert float(PARAMETERIZATIONS["best"].weight(0.5, b=0.1)) == pytest.approx(1.3784048752, rel=1e-6)


def test_margin_survives_where_the_eigenvalue_has_lost_it():
    tanh = PARAMETERIZATIONS["tanh"]
    assert 1 - float(tanh.eigenvalue(jnp.float32(10.0))) == 0
    assert float(tanh.margin(jnp.float32(10.0))) == pytest.approx(2 / (1 + np.exp(20.0)), rel=1e-6)
    assert float(tanh.margin(jnp.float32(8.0))) == pytest.approx(2 / (1 + np.exp(16.0)), rel=1e-6)


def test_direct_is_the_eigenvalue_itself_in_discrete_time():
    weights = jnp.asarray([0.05, 0.4, 0.99], jnp.float32)
    for link in ("one-minus", "exponential"):
        assert np.array_equal(PARAMETERIZATIONS["direct"].replace(link=link).eigenvalue(weights), weights)


def test_zero_order_hold_against_known_values():
    direct = PARAMETERIZATIONS["direct"]
    assert float(direct.zero_order_hold(-0.3, 0.1)[1]) == pytest.approx(0.09851489, rel=1e-6)
    z = -1e-5 * (1 + 1j)
    _, gain = direct.zero_order_hold(jnp.float32(-1e-5), 1.0, frequency=jnp.float32(-1e-5))
    assert complex(gain) == pytest.approx((1 + z / 2 + z * z / 6), abs=1e-7)


def test_constants_are_traced_and_vmapped_once():
    best, traces = PARAMETERIZATIONS["best"], []

    def decay(weight, b):
        traces.append(None)
        return best.decay(weight, b=b)

    weights, constants = jnp.linspace(-2.0, 2.0, 5), jnp.asarray([0.1, 0.5, 1.0])
    together = jax.jit(jax.vmap(jax.vmap(decay, (0, None)), (None, 0)))(weights, constants)
    assert len(traces) == 1
    loop = np.array([[float(best.decay(w, b=float(b))) for w in weights] for b in constants])
    np.testing.assert_allclose(together, loop, rtol=1e-6)
    slope = jax.grad(lambda b: best.decay(jnp.float32(1.0), b=b))(jnp.float32(0.5))
    assert float(slope) == pytest.approx(-1 / 1.5**2, rel=1e-6)


def test_equal_content_equal_hash():
    one, two = (PARAMETERIZATIONS["best"].replace(constants={"b": 0.25}) for _ in range(2))
    assert one == two and hash(one) == hash(two) and one != PARAMETERIZATIONS["best"]


@pytest.mark.parametrize("name", ["exp", "softplus", "best", "sigmoid", "square", "relu"])
def test_a_formula_gives_the_numbers_of_its_built_in(name):
    known = PARAMETERIZATIONS[name]
    user = Parameterization.from_formula(known.formula, constants=known.constants, link=known.link)
    weights = jnp.asarray(WEIGHTS, jnp.float32)
    for which in VIEWS:
        assert np.array_equal(getattr(user, which)(weights), getattr(known, which)(weights))


@pytest.mark.parametrize(
    ("text", "name"), [("log(1+exp(w))", "softplus"), ("1/(1+exp(-w))", "sigmoid"), ("exp(w)/(1+exp(w))", "sigmoid")]
)
def test_elementary_text_is_lowered_safely(text, name):
    weights = jnp.asarray(bit_patterns(2**20 + 1))
    user = Parameterization.from_formula(text)
    values, slopes, _ = derivatives(user.decay)(weights)
    assert not np.isnan(values).any() and not np.isnan(slopes).any()
    np.testing.assert_allclose(values, PARAMETERIZATIONS[name].decay(weights), rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("log(1+w^2)", {}),
        ("w^4+c", {"c": 0.005}),
        ("1/cosh(w)", {}),
        ("w^2/(1+w^2)", {}),
        ("exp(-w^2)+c", {"c": 0.005}),
    ],
)
def test_user_maps_invert_under_jit(text, constants):
    user, decays = Parameterization.from_formula(text, constants=constants), jnp.asarray([0.01, 0.1, 0.5, 0.8])
    weights = jax.jit(user.weight)(decays)
    assert (np.asarray(weights) >= 0).all()
    np.testing.assert_allclose(user.decay(weights), decays, rtol=2e-5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "non-empty"),
        ("w +", "cannot be read"),
        ("((2**64)**64)**64", "a number in it is too large"),
        ("w + exp(1e30)", "a number in it is too large"),
        ("w * exp(-1e9)", "a number in it is too small"),
        ("w + 1e-400", "a number in it is too small"),
        ("1e-300*1e-300 + w", "a number in it is too small"),
        ("w + (1.0000001**64)**64", "a number in it has more than 2000 digits"),
        ("w # + 1", "'#' is not part of a formula"),
        ("__import__('os')", "not one of the functions"),
        ("w.real", "neither a number"),
        ("(lambda: 1)()", "neither a number"),
        ("1 if w else 2", "neither a number"),
        ("w < 1", "neither a number"),
        ("'a'", "neither a number"),
        ("1j*w", "neither a number"),
        ("True", "not a number"),
        ("expp(w)", "did you mean exp"),
        ("exp(w, w)", "takes one argument"),
        ("min(w)", "two or more"),
        ("exp", "needs an argument"),
        ("exp(x=w)", "neither a number"),
        ("9**9**9", "exponent"),
        ("1/0", "divides by zero"),
        ("(" * 400 + "w" + ")" * 400, "cannot be read"),
        ("w" * 2000, "characters"),
    ],
)
def test_what_the_grammar_refuses(text, reason):
    with pytest.raises(ParameterizationError, match=reason):
        Parameterization.from_formula(text).expression  # noqa: B018


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="w0123456789.+-*/^()ab ,expminlog_sqrt[]{}'\"=:", max_size=40))
def test_any_text_parses_or_is_refused(text):
    with contextlib.suppress(ParameterizationError):
        parse(text)


def test_constants_and_links_are_checked():
    best = PARAMETERIZATIONS["best"]
    for constants in ({"q": 1.0}, {"b": -1.0}, {"b": float("nan")}, {"b": float("inf")}, {"b": 0.0}):
        with pytest.raises(ParameterizationError):
            best.replace(constants=constants)
    with pytest.raises(ParameterizationError, match="continuous, one-minus, exponential"):
        best.replace(link="continous")
    with pytest.raises(ParameterizationError, match="needs a value"):
        Parameterization.from_formula("w^2 + c").decay(1.0)
