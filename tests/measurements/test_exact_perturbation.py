"""E_m(beta) exactly: closed forms of one mode, certificates, the radius, time dilation, and the sweep around it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.approximation import InnerProduct, best_fits
from stablessm.approximation.nodes import integral
from stablessm.measurements.ascent import climb, steepest
from stablessm.measurements.balls import BALLS, size
from stablessm.measurements.exact_perturbation_program import weights_of
from stablessm.measurements.exact_search import BLOCKS, Sets, errors_of
from stablessm.measurements.mode_bounds import Modes, box_bound, reach, round_bound, stability_radius
from stablessm.measurements.mode_norms import NORMS, Nodes, kernel, norms
from stablessm.sweeps.run import execute
from stablessm.targets import TARGETS

BETAS = (1e-3, 0.05, 0.4)
NAMES = ("direct", "exp", "softplus", "best")
STATES = 4


@pytest.fixture(scope="module")
def nodes():
    def over(horizon):
        return Nodes(*(jnp.asarray(one) for one in integral(lambda t: np.exp(-t), horizon, growth=4.0)))

    return {"infinite": over(None), "finite": over(100.0)}


@pytest.fixture(scope="module")
def errors(nodes):
    """name, modes -> found, bound, sampled, each (perturbed, ball, norm, beta); one program for all maps."""
    sets = Sets(("recurrent", "all"), BALLS, NORMS, BETAS, starts=1, ascents=6)
    drawn = np.random.default_rng(0).standard_normal((3, 8, STATES))
    directions = dict(zip(BLOCKS, map(jnp.asarray, drawn), strict=True))

    @jax.jit
    def run(which, modes):
        def decay(weight):
            return jax.lax.switch(which, [PARAMETERIZATIONS[name].decay for name in NAMES], weight)

        return errors_of(decay, nodes["infinite"], modes, directions, sets, infinite=True)

    def search(name, modes):
        found = run(NAMES.index(name), modes)
        return [
            np.asarray(found[f"{one}perturbation_error{two}"])
            for one, two in (("", ""), ("", "_bound"), ("sampled_", ""))
        ]

    return search


def modes_of(name, decay, amplitude=1.0):
    """Padded by dead modes."""
    weight = PARAMETERIZATIONS[name].weight(jnp.asarray([*decay, *[1.0] * (STATES - len(decay))]))
    alive = jnp.arange(len(weight)) < len(decay)
    size = jnp.where(alive, jnp.sqrt(jnp.abs(jnp.resize(jnp.asarray(amplitude), len(weight)))), 0)
    return Modes(weight, size, jnp.resize(jnp.sign(jnp.asarray(amplitude)), len(weight)) * size)


@pytest.mark.float64
@pytest.mark.parametrize("name", NAMES)
def test_one_mode_in_the_l1_norm_has_its_closed_form(name, errors):
    modes = modes_of(name, [0.3])
    found, bound, sampled = (one[:, :, NORMS.index("l1")] for one in errors(name, modes))
    decay = PARAMETERIZATIONS[name].decay
    for place, beta in enumerate(BETAS):
        moved = min(float(decay(modes.recurrent + change)[0]) for change in (-beta, beta))
        exact = 1 / moved - 1 / 0.3 if moved > 0 else np.inf
        np.testing.assert_allclose(found[0, :, place], exact, rtol=1e-6)  # in every ball
        np.testing.assert_allclose(bound[0, 0, place], exact, rtol=1e-6)
        grown = (1 + beta) ** 2 / moved - 1 / 0.3 if moved > 0 else np.inf
        np.testing.assert_allclose(found[1, 0, place], grown, rtol=1e-6)
        np.testing.assert_allclose(bound[1, 0, place], grown, rtol=1e-6)
    assert (sampled <= found).all()


@pytest.mark.float64
@pytest.mark.parametrize("name", ["exp", "direct"])
def test_what_is_found_lies_below_its_bound_and_above_what_is_sampled(name, errors):
    (fit,) = best_fits(InnerProduct("continuous"), TARGETS["slow_polynomial"], (STATES,))
    low, high, drawn = errors(name, modes_of(name, fit.decay, fit.amplitude))
    assert low.shape == (2, 3, 3, 3) and not np.isnan(low).any()
    if name == "direct":
        assert np.isinf(low).all() and np.isinf(high).all()  # the slowest of the four decays is 3.4e-4
        return
    assert (drawn <= low).all() and (low <= high * (1 + 1e-6)).all() and (low[..., 1:] >= low[..., :-1]).all()
    assert (high[:, 0] < 1.1 * low[:, 0]).all()  # in the inf ball it is nearly attained
    np.testing.assert_allclose(high[:, 0, 0], low[:, 0, 0], rtol=1e-6)  # in L1 it is: all amplitudes are positive
    assert (high[:, 1] < 2 * low[:, 1]).all() and (low[:, 1] <= low[:, 0]).all() and (low[:, 2] <= low[:, 1]).all()


@pytest.mark.float64
def test_a_uniform_shift_of_exp_is_a_dilation_of_time(nodes):
    """K~(t) = K(e^b t): the L1 norm of the change is that of the dilation."""
    decay, amplitude, shift = jnp.array([0.01, 0.2, 1.5]), jnp.array([0.1, -0.4, 1.0]), 0.7
    exp = PARAMETERIZATIONS["exp"]
    weight = exp.weight(decay)
    times = np.asarray(nodes["infinite"].times[:200])
    moved = np.exp(-times[:, None] * np.asarray(exp.decay(weight + shift))) @ np.asarray(amplitude)
    dilated = np.exp(-(np.exp(shift) * times)[:, None] * np.asarray(decay)) @ np.asarray(amplitude)
    np.testing.assert_allclose(moved, dilated, rtol=0, atol=1e-8)
    ratio = norms(nodes["infinite"], *kernel(nodes["infinite"], exp.decay(weight + shift), amplitude))[0] / norms(
        nodes["infinite"], *kernel(nodes["infinite"], decay, amplitude)
    )[0]  # fmt: skip
    assert float(ratio) == pytest.approx(np.exp(-shift), rel=1e-3)  # kinks of |K|


@pytest.mark.float64
def test_the_radius_of_direct_is_the_slowest_decay_and_falls_with_the_width():
    fits = best_fits(InnerProduct("continuous"), TARGETS["slow_polynomial"], (4, 8, 16))
    slowest = np.array([one.decay[0] for one in fits])
    for name in ("direct", "exp"):
        decay = PARAMETERIZATIONS[name].decay
        radius = jax.jit(lambda modes, decay=decay: stability_radius(decay, modes))
        radii = [float(radius(modes_of(name, *one.padded(16)))) for one in fits]
        if name == "direct":
            np.testing.assert_allclose(radii, slowest, rtol=1e-9)
        else:
            assert np.isinf(radii).all()
    assert (slowest[1:] < slowest[:-1] / 50).all()
    exp, fastest = PARAMETERIZATIONS["exp"].decay, float(fits[-1].decay[-1])
    euler = jax.jit(lambda modes: stability_radius(exp, modes, most=2.0))(modes_of("exp", *fits[-1]))
    assert float(euler) == pytest.approx(np.log(2 / fastest), rel=1e-9)


@pytest.mark.float64
def test_no_perturbation_of_many_is_above_the_bounds(nodes):
    modes = modes_of("softplus", [0.02, 0.1, 0.9, 0.4], [0.2, -0.3, 0.8, 0.1])
    decay, beta = PARAMETERIZATIONS["softplus"].decay, 0.3
    own = kernel(nodes["finite"], decay(modes.recurrent), modes.input * modes.readout)
    moving = jnp.ones(3)
    bounds = {"inf": box_bound, "block_l2": round_bound}
    drawn = np.random.default_rng(1).standard_normal((200, 3, STATES))
    for ball, bound in bounds.items():
        most = np.asarray(jax.jit(lambda m, bound=bound: bound(nodes["finite"], decay, m, beta, moving))(modes))

        def change(one, ball=ball):
            part = dict(zip(BLOCKS, one, strict=True))
            whole = {name: beta * block / size({name: block}, ball) for name, block in part.items()}
            w, u, c = (weight + whole[name] for name, weight in zip(BLOCKS, modes, strict=True))
            moved = kernel(nodes["finite"], decay(w), c * u)
            return norms(nodes["finite"], *(a - b for a, b in zip(moved, own, strict=True)))

        assert (np.asarray(jax.jit(jax.vmap(change))(jnp.asarray(drawn))) <= most * (1 + 1e-6)).all()


@pytest.mark.float64
@pytest.mark.parametrize("ball", BALLS)
def test_ascent_finds_the_largest_value_of_a_convex_function(ball):
    """|A x|^2 on a ball: the largest singular value in a round one, a corner in a box."""
    matrix = np.random.default_rng(2).standard_normal((6, 4))
    one = {"recurrent": jnp.ones(4), "input": jnp.zeros(4), "readout": jnp.zeros(4)}
    moving = {"recurrent": 1.0, "input": 0.0, "readout": 0.0}
    starts = [one, *({**one, "recurrent": jnp.asarray(row)} for row in np.eye(4))]
    place = BALLS.index(ball)

    def toward(gradient):
        return steepest(gradient, moving, place)

    @jax.jit
    def search(start):
        return climb(lambda x: ((matrix @ x["recurrent"]) ** 2).sum(), toward(start), toward, steps=60)[0]

    found = max(float(search(start)) for start in starts)
    corners = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1)
    exact = ((matrix @ corners) ** 2).sum(0).max() if ball == "inf" else np.linalg.norm(matrix, 2) ** 2
    assert found == pytest.approx(exact, rel=1e-6)


def test_reach_sees_the_turning_point_of_an_even_map():
    best = PARAMETERIZATIONS["best"].decay
    low, high = reach(best, jnp.asarray([0.3]), 1.0)
    np.testing.assert_allclose([float(low[0]), float(high[0])], [1 / (1.3**2 + 0.5), 2.0], rtol=1e-6)


def test_the_sweep(tmp_path):
    found = execute({
        "name": "few", "measurement": "exact_perturbation",
        "axes": {
            "parameterization": ["direct", "sigmoid"], "target": ["polynomial"], "precision": ["float64"],
            "width": [1, 4], "perturbed": ["recurrent"], "ball": ["inf"], "beta": [1e-3, 0.1], "repeat": [0, 1],
        },
        "settings": {"norm": ["l1"], "ascents": 2, "starts": 0},
    }, out=tmp_path).dataset.squeeze(drop=True)  # fmt: skip
    direct, sigmoid = (found.sel(parameterization=one) for one in ("direct", "sigmoid"))
    np.testing.assert_allclose(direct["stability_radius"], direct["slowest_decay"], rtol=1e-6)
    assert (sigmoid["reached"].sel(width=4) == 0).all() and (sigmoid["reached"].sel(width=1) == 1).all()  # s < 1
    assert sigmoid["perturbation_error"].sel(width=4).isnull().all()
    assert np.isfinite(direct["approximation_error"]).all()
    assert direct["target_norm"].sel(extent="infinite") == pytest.approx(10.0, rel=5e-3)  # nodes end at 2^80
    exploded = direct["beta"] >= direct["stability_radius"]
    infinite = np.isinf(direct["perturbation_error"]).sel(extent="infinite")
    assert (infinite == exploded.sel(extent="infinite")).all()
    assert np.isfinite(direct["perturbation_error"]).sel(extent="finite").all()


def test_no_weight_is_infinite_where_a_decay_lies_at_the_end_of_the_image():
    _, has = weights_of(PARAMETERIZATIONS["sigmoid"], jnp.asarray([0.5, 1.0, 2.0]), {})
    assert has.tolist() == [True, False, False]


def test_the_bound_of_a_round_ball_where_the_inputs_alone_move_is_that_of_the_inputs(nodes):
    moving = jnp.asarray([0.0, 1.0, 0.0])
    modes = Modes(*(jnp.asarray([one]) for one in (0.5, 2.0, 3.0)))
    found = round_bound(nodes["infinite"], lambda w: w, modes, jnp.asarray(0.1), moving)
    np.testing.assert_allclose(found, np.array([2.0, 1.0, 4.0]) * 0.1 * 3.0, rtol=1e-4)  # beta |c| |e^{-t/2}|
