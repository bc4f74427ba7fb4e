"""The inverse: decay(weight(s)) = s on the image, and an error that names the image outside."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS, Parameterization, ParameterizationError
from tests.parameterizations.reference import IDS, MAPS
from tests.tolerances import assert_close


def _decays(parameterization: Parameterization, count: int = 101) -> np.ndarray:
    image = parameterization.image
    lower, upper = max(image.lower, -50.0), min(image.upper, 50.0)
    inside = np.linspace(lower, upper, count + 2)[1:-1]
    if lower == 0:
        inside = np.concatenate([inside, np.geomspace(1e-6, 1e-2, 21)])
    return inside.astype(np.float32)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_a_decay_survives_the_way_to_its_weight_and_back(parameterization):
    decays = _decays(parameterization)
    weights = parameterization.weight(decays)
    slopes = jax.vmap(jax.grad(parameterization.decay))(weights)
    scale = np.abs(decays) + np.abs(np.asarray(weights) * np.asarray(slopes))
    condition = 0.0
    if parameterization.name in ("tanh", "sigmoid", "best"):  # the quotient (2 - s)/s, and the like, near its zero
        condition = np.abs(decays / (parameterization.image.upper - decays))
    assert weights.dtype == jnp.float32
    assert_close(np.asarray(parameterization.decay(weights)), decays, condition=condition, scale=scale)
    if parameterization.name in ("best", "square"):
        assert (np.asarray(weights) >= 0).all()


@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_a_decay_outside_the_image_is_an_error_that_names_it(parameterization):
    image = parameterization.image
    outside = [end for end in (image.lower - 1, image.upper + 1) if np.isfinite(end)]
    outside += [end for end, closed in ((image.lower, image.lower_closed), (image.upper, image.upper_closed))
                if np.isfinite(end) and not closed]  # fmt: skip
    for decay in [*outside, np.nan]:
        with pytest.raises(ParameterizationError) as caught:
            parameterization.weight(decay)
        assert f"must lie in {image} for '{parameterization.name}'" in str(caught.value)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_the_image_holds_every_decay_that_is_reached(parameterization):
    weights = jnp.concatenate([jnp.linspace(-80, 80, 4001), jnp.float32([1e-3, -1e-3, 1e6, -1e6, 1e18])])
    decays = np.asarray(parameterization.decay(weights))
    image = parameterization.image
    decays = decays[np.isfinite(decays)]
    assert (decays >= np.float32(image.lower)).all()
    assert (decays <= np.float32(image.upper)).all()


def test_closed_ends_of_an_image_are_reached():
    best = PARAMETERIZATIONS["best"]
    assert str(best.image) == "(0, 2]"
    assert float(best.weight(2.0)) == 0.0
    assert str(best.replace(constants={"b": 0.1}).image) == "(0, 10]"
    assert float(PARAMETERIZATIONS["square"].weight(0.0)) == 0.0
    assert_close(np.asarray(PARAMETERIZATIONS["clip"].weight(1e-4)), -1e-4)
    for b in np.linspace(0.11, 3, 14):  # 1/b rounded to float32 lies above 1/b as often as below
        end = best.weight(1 / b, b=float(b))
        assert_close(np.asarray(best.decay(end, b=float(b))), 1 / b)


def test_the_message_of_best():
    message = (
        "`decay` must lie in (0, 2] for 'best' (a=1, b=0.5) under the link 'continuous', but got 3; "
        "choose one inside or change a constant"
    )
    with pytest.raises(ParameterizationError) as caught:
        PARAMETERIZATIONS["best"].weight(3.0)
    assert str(caught.value) == message


def test_the_inverse_is_traced_with_its_constants_and_differentiable():
    best = PARAMETERIZATIONS["best"]

    def inverse(decay, b):
        return best.weight(decay, b=b)

    # w = sqrt((1/s - b)/a): dw/db = -1/(2 w)
    slope = jax.jit(jax.grad(inverse, argnums=1))(jnp.float32(0.5), jnp.float32(0.5))
    assert_close(np.asarray(slope), -1 / (2 * np.sqrt(1.5)), condition=2)
    by_vmap = jax.vmap(inverse, (None, 0))(jnp.float32(0.5), jnp.float32([0.1, 0.5, 1.0]))
    assert_close(np.asarray(by_vmap), np.sqrt([1.9, 1.5, 1.0]), condition=4)


def test_integer_and_list_like_decays():
    assert float(PARAMETERIZATIONS["exp"].weight(1)) == 0.0
    assert PARAMETERIZATIONS["exp"].weight(np.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("formula", ["1/(w^2+b)", "log(b+exp(w))", "b/cosh(w)", "b*w^2*exp(-w)"])
def test_a_formula_is_inverted_under_traced_constants(formula):
    map_ = Parameterization.from_formula(formula)
    decays = jnp.float32([0.05, 0.2, 0.4])

    @jax.jit
    @jax.vmap
    def there_and_back(b):
        return map_.decay(map_.weight(decays, b=b), b=b)

    for row in there_and_back(jnp.float32([0.51, 0.8, 1.0])):
        kept = np.isfinite(row)
        assert_close(np.asarray(row)[kept], np.asarray(decays)[kept], condition=8)
        assert kept.all() or formula.startswith("log")
    outside = jax.jit(lambda b: map_.weight(jnp.float32(1e-3 if formula.startswith("log") else 50.0), b=b))(1.5)
    assert jnp.isnan(outside) or formula.startswith("b*")
    with pytest.raises(ParameterizationError, match="one value of each constant"):
        map_.weight(0.4, b=jnp.ones(2))


@pytest.mark.matrix(5)
@pytest.mark.parametrize(
    "formula",
    [
        "log(1+exp(w))*0.9",
        "softplus(w)/(1+softplus(w)*0.1)+0.0001*exp(-w^2)",
        "1/(w^2+0.5)",
        "max(abs(w),0.01)",
        "0.01+w^2/(1+w^2)",
        "1.011+tanh(w)",
    ],
)
@pytest.mark.parametrize("link", ["continuous", "one-minus", "exponential"])
def test_rounding_of_the_scan_does_not_end_a_branch(formula, link):
    map_ = Parameterization.from_formula(formula, link=link)
    decays = jnp.float32(np.geomspace(0.012, 0.95, 23))
    weights = jax.jit(map_.weight)(decays)
    slope = jax.vmap(jax.grad(map_.decay))(weights)
    assert_close(np.asarray(map_.decay(weights)), decays, condition=4, scale=decays + jnp.abs(weights * slope))
    assert (jnp.diff(weights) > 0).all() or (jnp.diff(weights) < 0).all()
