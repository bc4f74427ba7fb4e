"""The perturbation error: closed forms of one mode, balls, running maximum, Euler's step, and the sweep around it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS, losses
from stablessm.distances import sobolev_distance
from stablessm.layers import LinearRNN
from stablessm.measurements.balls import blocks_of, moved, on_sphere, random_directions, size
from stablessm.measurements.kernel_fit import kernel_fit
from stablessm.measurements.perturbation import PUBLISHED_BETA, PerturbationSettings
from stablessm.measurements.perturbation_programs import PerturbationStart, running_maximum
from stablessm.measurements.perturbation_programs import errors as errors_of
from stablessm.measurements.perturbation_search import SEARCHES
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.run import execute

KEY = jax.random.key(0)
RUN = {
    "name": "few",
    "measurement": "perturbation",
    "axes": {
        "parameterization": ["direct", "exp"],
        "discretisation": ["euler"],
        "target": ["polynomial"],
        "seed": [0, 1],
        "width": [2, 5],
        "perturbed": ["recurrent", "all"],
        "ball": ["inf", "l2"],
        "repeat": {"range": 3},
        "beta": [0.0, 1e-3, 0.3, 30.0],
        "error_horizon": [10, 400],
    },
    "chunk": 1,
    "settings": {"steps": 40, "horizon": 20, "batch": 8},
}


def one_mode(name="direct", decay=0.25, **more):
    map_ = PARAMETERIZATIONS[name]
    model = LinearRNN(map_, -jnp.asarray([decay]), time="continuous", bias=True, key=KEY, **more)
    return eqx.tree_at(lambda m: (m.input_weight, m.readout), model, (jnp.ones((1, 1)), jnp.ones((1, 1))))


errors = eqx.filter_jit(errors_of)


def nothing(difference, offset):
    return jnp.zeros(())


@pytest.mark.parametrize("name", ["direct", "exp", "softplus", "best"])
def test_one_mode_perturbed_has_the_error_of_its_closed_form(name):
    model, beta, length = one_mode(name), 0.1, 4000
    other = moved(model, {"recurrent": jnp.ones(1)}, beta)
    slow, fast = sorted(float(m.parameterization.decay(m.weight)[0]) for m in (model, other))
    found = errors(other, model.kernel(length), (length,), nothing)
    # K_k = (1 - q)/s q^k, q = e^(-s): sum K = 1/s, so that sum |d| = 1/slow - 1/fast plus twice what d has below 0.
    k = np.arange(length)
    d = -np.expm1(-slow) / slow * np.exp(-slow * k) + np.expm1(-fast) / fast * np.exp(-fast * k)
    below = -d[d < 0].sum()
    rise = abs(d[0]) + np.abs(np.diff(d)).sum()
    assert below < 1e-9 or d[0] < 0
    np.testing.assert_allclose(found.distance[0], 1 / slow - 1 / fast + 2 * below + rise, rtol=2e-4)
    np.testing.assert_allclose(
        found.margin, -np.expm1(-float(other.parameterization.decay(other.weight)[0])), rtol=1e-5
    )


def test_readout_and_bias_perturbed_have_the_error_of_their_closed_form():
    model, s = one_mode(), 0.25
    gain, q = (1 - np.exp(-s)) / s, np.exp(-s)
    target = model.kernel(300)
    by_readout = errors(moved(model, {"readout": jnp.ones(1)}, 0.1), target, (300,), nothing)
    # d = 0.1 gain q^k: sum |d| = 0.1/s; |d_0| + sum |d_k - d_(k-1)| = 2 * 0.1 gain
    np.testing.assert_allclose(by_readout.distance, 0.1 / s + 0.2 * gain, rtol=1e-5)
    # e_k = 0.1 gain (1 - q^(k+1))/(1 - q) rises to 0.1/s, its first increment 0.1 gain is the largest
    by_bias = errors(moved(model, {"bias": jnp.ones(1)}, 0.1), target, (1, 300), nothing)
    np.testing.assert_allclose(by_bias.distance, [0.2 * gain, 0.1 / s + 0.1 * gain], rtol=1e-5)
    assert q < 1


def test_distance_is_the_integral_of_continuous_time():
    p, r, dt = 0.5, 1.25, 1e-3
    t = np.arange(40_000) * dt
    rho = np.exp(-p * t) - np.exp(-r * t)  # int |rho| = 1/p - 1/r; rho(0) = 0; int |rho'| = 2 max rho
    found = sobolev_distance(jnp.asarray(rho * dt), jnp.zeros(len(t)), (len(t),), step_size=dt)
    peak = np.log(r / p) / (r - p)
    exact = 1 / p - 1 / r + 2 * (np.exp(-p * peak) - np.exp(-r * peak))
    np.testing.assert_allclose(found, exact, rtol=1e-3)


def test_what_overflows_is_an_infinite_error_and_no_nan():
    target = jnp.asarray((1.0 + np.arange(1000)) ** -1.1)
    form = jax.jit(losses.sampled_form)(jax.random.normal(KEY, (4, 50)))
    two = LinearRNN(PARAMETERIZATIONS["direct"], -jnp.asarray([0.1, 0.2]), time="continuous", bias=True, key=KEY)
    for beta in (1.0, 30.0):
        model = moved(two, {"recurrent": jnp.ones(2), "bias": jnp.asarray([1.0, -1.0])}, beta)
        found = errors(model, target, (50, 1000), lambda d, e: losses.of_form(form, d[:50], e[:50]))
        assert found.margin < 0 and np.isinf(found.distance[-1]) and not np.isnan(found.distance).any()
        assert not np.isnan(found.loss)


@pytest.mark.parametrize("ball", ["inf", "block_l2", "l2"])
@pytest.mark.parametrize("perturbed", ["recurrent", "all"])
def test_directions_lie_on_the_sphere_of_their_ball(ball, perturbed):
    unit = jax.jit(jax.vmap(lambda one: on_sphere(one, perturbed, ball)))(random_directions(KEY, range(20), 7))
    np.testing.assert_allclose(jax.vmap(lambda one: size(one, ball))(unit), 1.0, rtol=1e-6)
    flat = np.stack([np.asarray(unit[name]) for name in blocks_of(perturbed)])  # block, direction, state
    norms = {
        "inf": np.abs(flat).max((0, 2)),
        "block_l2": np.sqrt((flat**2).sum(2)).max(0),
        "l2": np.sqrt((flat**2).sum((0, 2))),
    }
    np.testing.assert_allclose(norms[ball], 1.0, rtol=1e-6)
    assert all((unit[name] == 0).all() for name in unit if name not in blocks_of(perturbed))
    if ball != "l2":  # every block reaches the sphere
        np.testing.assert_allclose(np.abs(flat).max(2) if ball == "inf" else np.sqrt((flat**2).sum(2)), 1, rtol=1e-6)


def test_a_direction_depends_on_its_own_number_alone():
    many, few = random_directions(KEY, range(5), 3), random_directions(KEY, (4, 1), 3)
    np.testing.assert_array_equal(few["readout"], many["readout"][jnp.asarray([4, 1])])
    assert len(np.unique(np.stack(list(many.values())))) == 4 * 5 * 3


def test_running_maximum():
    raw = jnp.asarray([[1.0, 5.0, 2.0, jnp.inf], [3.0, 0.0, 4.0, 1.0]])
    assert running_maximum(raw).tolist() == [3.0, 5.0, 5.0, float("inf")]


def test_sampled_form_is_the_sampled_loss_of_a_model_with_an_offset():
    inputs = 0.5 + jax.random.normal(KEY, (6, 15))
    weights = losses.time_weights(15)
    difference, offset = jnp.linspace(-1, 1, 15), jnp.linspace(0.3, 2, 15)
    outputs = np.stack([np.convolve(one, difference)[:15] + np.asarray(offset) for one in np.asarray(inputs)])
    expected = (np.asarray(weights) * outputs**2).mean()
    form = jax.jit(losses.sampled_form)(inputs, weights=weights)
    np.testing.assert_allclose(losses.of_form(form, difference, offset), expected, rtol=1e-5)
    plain = losses.sampled(difference, jnp.zeros(15), inputs, weights=weights)
    np.testing.assert_allclose(losses.of_form(form, difference, jnp.zeros(15)), plain, rtol=1e-5)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A sweep killed after its first work item and resumed, and its uninterrupted twin."""
    folder = tmp_path_factory.mktemp("few")

    class Killed(BaseException):
        pass

    def stop(state):
        if state.done:
            raise Killed

    with pytest.raises(Killed):
        execute(RUN, out=folder / "killed", progress=stop)
    resumed, whole = execute(RUN, out=folder / "killed"), execute(RUN, out=folder / "whole")
    assert resumed.computed == whole.computed - 1 and resumed.path.read_bytes() == whole.path.read_bytes()
    return whole.dataset


def test_a_resumed_sweep_gives_what_it_declares(few):
    inner = ("width", "perturbed", "ball", "error_horizon", "repeat", "beta")
    assert few["perturbation_error"].dims[-6:] == inner and few["perturbed"].values.tolist() == ["recurrent", "all"]
    assert few["width"].values.tolist() == [2, 5] and few["error_horizon"].attrs["units"] == "step"
    largest, raw = few["largest_perturbation_error"], few["perturbation_error"]
    assert not raw.isnull().any() and not few["perturbation_loss"].isnull().any()
    np.testing.assert_array_equal(largest, np.maximum.accumulate(raw.max("repeat").values, axis=-1))
    assert (raw.isel(error_horizon=1) >= raw.isel(error_horizon=0)).all()
    unmoved = raw.sel(beta=0.0).isel(repeat=0, ball=0, perturbed=0).transpose(*few["fit_error"].dims)
    np.testing.assert_allclose(unmoved, few["fit_error"], rtol=1e-6)
    assert np.isinf(raw.sel(beta=30.0, parameterization="direct", error_horizon=400)).any()
    assert few["trained_decay"].sel(width=2).isel(state=slice(2, None)).isnull().all()
    assert (few["stable_after_training"] == 1).all()


def test_directions_are_the_same_for_all_maps(few):
    """They are part of the start, whose hash must agree across maps."""
    assert "directions" in PerturbationStart._fields
    hashes = few["start_hash"]
    assert (hashes == hashes.isel(parameterization=0)).all() and len(np.unique(hashes)) == 2


def test_ascent_goes_beyond_the_directions_it_starts_from():
    model, length = one_mode("exp", 0.25), 60
    target = model.kernel(length)
    sets = (("recurrent", "inf"), ("all", "l2"))
    drawn = random_directions(KEY, range(3), 1)
    unit = [jax.vmap(lambda one, each=each: on_sphere(one, *each))(drawn) for each in sets]
    starts = jax.tree.map(lambda *blocks: jnp.stack(blocks), *unit)
    betas = jnp.asarray([0.01, 0.3])

    @eqx.filter_jit
    def found(search):
        return SEARCHES[search](
            lambda d, b: errors_of(moved(model, d, b), target, (length,), nothing), sets, starts, betas
        )

    plain, climbed = found("sampled").distance[..., 0], found("ascent").distance[..., 0]
    assert climbed.shape == (2, 3, 2) and (climbed >= plain * (1 - 1e-5)).all()
    assert (climbed[1].max(0) > 1.05 * plain[1].min(0)).all()
    by_hand = errors(moved(model, {"recurrent": -jnp.ones(1)}, 0.3), target, (length,), nothing).distance[0]
    np.testing.assert_allclose(climbed[0, :, 1].max(), by_hand, rtol=1e-5)  # slower is worse


def test_euler_is_stored_and_checked(few):
    euler = few.sel(parameterization="exp")
    assert (euler["perturbed_margin"].sel(beta=30.0) < 0).any()  # although exp cannot leave the stable half-plane
    held = moved(one_mode("exp"), {"recurrent": jnp.ones(1)}, 30.0)
    assert errors(held, jnp.zeros(9), (9,), nothing).margin > 0
    decay = euler["trained_decay"]
    np.testing.assert_allclose(euler["trained_margin"], np.minimum(decay, 2 - decay).min("state"), rtol=1e-5)
    bad = PerturbationSettings(step_size=3.0)
    with pytest.raises(ValueError, match="Euler's step is stable only where decay times step size lies below 2"):
        kernel_fit({"parameterization": PARAMETERIZATIONS["exp"], "target": "polynomial", "width": 2,
                    "discretisation": "euler"}, bad)  # fmt: skip


def test_a_width_alone_equals_the_width_beside_a_larger_one(few, tmp_path):
    """The dead states of a narrower model neither learn nor count."""
    axes = RUN["axes"] | {"width": [5], "parameterization": ["exp"]}
    alone = execute(RUN | {"axes": axes}, out=tmp_path).dataset
    both = few.sel(parameterization=["exp"], width=[5])
    for name in ("final_loss", "fit_error", "largest_perturbation_error", "perturbed_margin"):
        np.testing.assert_allclose(alone[name], both[name], rtol=1e-3, err_msg=name)


@pytest.mark.parametrize(
    ("axes", "sentence"),
    [
        ({"width": [0]}, "the width must be an integer from 1 to 4096"),
        ({"beta": [0.1, 0.01]}, "the values must ascend"),
        ({"beta": [-1.0]}, "must be a finite number"),
        ({"ball": ["l3"]}, "unknown ball 'l3'"),
        ({"perturbed": ["all", "all"]}, "'all' twice"),
        ({"error_horizon": [0]}, "must be an integer from 1 to 1000000"),
        ({"discretisation": ["eular"]}, "the nearest is 'euler'"),
    ],
)
def test_bad_axes_get_a_sentence(axes, sentence):
    with pytest.raises(SpecError, match=sentence):
        load_spec(RUN | {"axes": RUN["axes"] | axes})


def test_inner_axes_are_given_as_axes_grids_or_on_the_command_line():
    spec = load_spec("perturbation", overrides=["width=8", "beta=log(1e-3,1,4)", "repeat=range(2)", "ball=l2"])
    assert spec.settings["width"] == [8] and spec.settings["beta"] == [0.001, 0.01, 0.1, 1.0]
    assert spec.settings["repeat"] == [0, 1] and "width" not in spec.axes
    assert load_spec(spec.document()).digest == spec.digest
    assert load_spec("perturbation").settings["beta"] == list(PUBLISHED_BETA)
    assert len(PUBLISHED_BETA) == 22 and PUBLISHED_BETA[-1] == 1.024
