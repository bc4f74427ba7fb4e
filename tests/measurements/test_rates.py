"""Large learning rates: curvature, the law of one mode, starts, groups of weights, and what they are compared with."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import stablessm
from stablessm.measurements import MEASUREMENTS
from stablessm.measurements.curvature import largest_curvature
from stablessm.measurements.descent_programs import loss_of_mode
from stablessm.measurements.fit_programs import recurrent, trainable
from stablessm.measurements.generalisation_program import SampleStartOf
from stablessm.measurements.kernel_fit import StartOf, kernel_fit
from stablessm.parameterizations import ParameterizationError
from stablessm.training.optimizers import ADAM, CLIP, OPTIMIZERS
from stablessm.training.run import run

SLOPES = {  # |f'| at the decay s
    "direct": lambda s: 1.0,
    "exp": lambda s: s,
    "softplus": lambda s: -np.expm1(-s),
    "best": lambda s: 2 * s**2 * np.sqrt(1 / s - 0.5),
}


def test_lanczos_finds_the_largest_eigenvalue_and_stops_where_the_space_ends():
    key = jax.random.key(3)
    square = jax.random.normal(key, (20, 20))
    hessian = square + square.T
    scales = jnp.where(jnp.arange(20) < 12, jnp.linspace(0.1, 3, 20), 0)

    def loss(w):
        return w["a"] @ hessian @ w["a"] / 2 + (w["b"] ** 4).sum()

    where = {"a": jnp.ones(20), "b": jnp.zeros(3)}
    of = jax.jit(lambda scales: largest_curvature(loss, where, scales=scales, products=23, key=key))
    roots = np.sqrt(np.asarray(scales))
    every, some = {"a": jnp.ones(20), "b": jnp.ones(3)}, {"a": scales, "b": jnp.zeros(3)}
    np.testing.assert_allclose(of(every), np.linalg.eigvalsh(hessian).max(), rtol=1e-5)
    np.testing.assert_allclose(of(some), np.linalg.eigvalsh(roots[:, None] * hessian * roots).max(), rtol=1e-5)
    line = jnp.arange(1.0, 9.0)
    thin = jax.jit(lambda w: largest_curvature(lambda w: (line @ w) ** 2 * w[0], w, key=key))
    ones = np.linalg.eigvalsh(np.asarray(jax.hessian(lambda w: (line @ w) ** 2 * w[0])(jnp.ones(8)))).max()
    assert float(thin(jnp.ones(8))) == pytest.approx(ones, rel=1e-5)  # of rank 2
    assert [float(thin(jnp.full(8, x))) for x in (0.0, np.inf)] == [0.0, np.inf]


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", SLOPES)
def test_sharpness_of_one_mode_at_its_optimum_is_the_law(name):
    map_, alpha = stablessm.PARAMETERIZATIONS[name], 0.05
    optimum = map_.weight(jnp.float32(alpha))
    target = map_.decay(optimum)
    sharp = largest_curvature(lambda w: loss_of_mode(map_, map_.decay(w), target), optimum, key=jax.random.key(0))
    np.testing.assert_allclose(sharp, SLOPES[name](alpha) ** 2 / (2 * alpha**3), rtol=1e-4)


@pytest.mark.slow
def test_sharpness_of_a_sweep_is_that_of_the_dense_hessian(tmp_path):
    axes = {"parameterization": ["best"], "optimizer": ["clipped_gradient_descent"], "width": [3],
            "learning_rate": [0.01], "recurrent_rate": [0.5], "seed": [7]}  # fmt: skip
    settings = {"steps": 6, "records": 2, "horizon": 30, "products": 9}
    document = {"name": "one", "measurement": "sharpness", "axes": axes, "settings": settings}
    found = stablessm.run_sweep(document, out=tmp_path).squeeze().isel(step=0)
    best = stablessm.PARAMETERIZATIONS["best"]
    fit = kernel_fit({"parameterization": best, "target": "polynomial", "width": 3},
                     MEASUREMENTS["sharpness"].settings(**settings))  # fmt: skip
    model, loss = fit.prepare(jax.vmap(fit.start_of)(np.array([7], np.uint32)), 0, {})
    parts, rest = eqx.partition(model, trainable(model))
    flat, back = jax.flatten_util.ravel_pytree(parts)
    of = lambda vector: loss(eqx.combine(back(vector), rest), 0)  # noqa: E731
    hessian, gradient = np.asarray(jax.hessian(of)(flat)), jax.grad(of)(flat)
    own = np.asarray(jax.flatten_util.ravel_pytree(
        jax.tree.map(lambda one, leaf: jnp.full_like(leaf, one), recurrent(parts), parts))[0])  # fmt: skip
    assert own.sum() == 3
    np.testing.assert_allclose(found["sharpness"], np.linalg.eigvalsh(hessian).max(), rtol=1e-4)
    block = hessian[np.ix_(own > 0, own > 0)]
    np.testing.assert_allclose(found["recurrent_sharpness"], np.linalg.eigvalsh(block).max(), rtol=1e-3)
    roots = np.sqrt(np.where(own > 0, 0.5, 1.0) * min(1, CLIP / np.linalg.norm(gradient)))
    edge = 0.01 * np.linalg.eigvalsh(roots[:, None] * hessian * roots).max() / 2
    np.testing.assert_allclose(found["edge_ratio"], edge, rtol=1e-4)
    s = -np.asarray(model.eigenvalues())
    np.testing.assert_allclose(found["mode_curvature"], (SLOPES["best"](s) ** 2 / (2 * s**3)).max(), rtol=1e-4)
    np.testing.assert_allclose(found["gradient_scale_over_weight"], 2, rtol=1e-4)
    with pytest.raises(ParameterizationError, match="needs an optimizer of a fixed learning rate"):
        stablessm.run_sweep({**document, "axes": {**axes, "optimizer": ["adam_plateau"]}}, out=tmp_path / "b")


def test_one_mode_settles_below_the_law_and_not_above(tmp_path):
    axes = {"parameterization": ["exp", "best"], "learning_rate": [0.35, 0.45, 0.9, 1.1]}
    settings = {"shortest_memory": 10, "longest_memory": 10.5, "memory_lengths": 2, "start_ratios": [0.99, 25.0],
                "steps": 400}  # fmt: skip
    document = {"name": "one", "measurement": "one_mode", "axes": axes, "settings": settings}
    found = stablessm.run_sweep(document, out=tmp_path).squeeze().isel(memory_length=0)
    words = np.array(found["behaviour"].attrs["flag_meanings"].split())[found["behaviour"].sel(start_ratio=0.99)]
    law = found["largest_stable_step"].isel(learning_rate=0)
    np.testing.assert_allclose(law, [4 * 0.1, 1 / (1 - 0.5 * 0.1)], rtol=1e-4)
    assert (words[0] == "settles").tolist() == [True, False, False, False]
    assert (words[1] == "settles").tolist() == [True, True, True, False]
    outside = found["behaviour"].sel(start_ratio=25.0)
    assert (outside.sel(parameterization="best") == 5).all() and (outside.sel(parameterization="exp") != 5).all()


def test_edges_of_optimizers_and_a_group_with_a_rate_of_its_own():
    plain = {name for name, one in OPTIMIZERS.items() if one.follows_curvature}
    assert plain == {"gradient_descent", "momentum", "clipped_gradient_descent"}
    for name in ("gradient_descent", "momentum"):
        one = OPTIMIZERS[name]
        ends = [
            run(lambda w, step: 1.5 * w**2, jnp.float32(1), one.transformation(f * one.edge / 3, None),
                steps=300).losses[-1]
            for f in (0.97, 1.03)
        ]  # fmt: skip
        assert ends[0] < 1e-3 and ends[1] > 1e3
    weights, gradient = {"slow": jnp.ones(2), "fast": jnp.ones(2)}, {"slow": jnp.full(2, 3.0), "fast": jnp.full(2, 4.0)}
    for name in ("adam", "clipped_gradient_descent"):
        optimizer = OPTIMIZERS[name].transformation(
            0.1, None, multiplier=0.01, multiplied=lambda tree: {"slow": True, "fast": False}
        )
        updates, state = optimizer.update(gradient, optimizer.init(weights), weights)
        factors = OPTIMIZERS[name].preconditioner(gradient, state)
        for group, share in (("slow", 0.01), ("fast", 1.0)):
            step = -0.1 * share * factors[group] * gradient[group]
            np.testing.assert_allclose(updates[group], step, rtol=1e-5)
    assert ADAM["b1"] == 0.9 and float(optax.tree.norm(gradient)) > CLIP


def test_starts_of_eigenvalues():
    settings = MEASUREMENTS["sharpness"].settings
    real, paired = settings(horizon=50), settings(horizon=50, complex=True)
    seeds = np.arange(2, dtype=np.uint32)
    made = {
        name: jax.vmap(StartOf(6, one, name))(seeds)
        for name, one in (("log_uniform", real), ("uniform", real), ("legs", real), ("lin", paired), ("inv", paired))
    }
    np.testing.assert_allclose(made["legs"].decay[0], np.arange(1, 7) / 50, rtol=1e-6)
    np.testing.assert_allclose(made["lin"].decay, 0.01, rtol=1e-6)
    np.testing.assert_allclose(np.sort(made["lin"].phase[0]), np.pi * np.arange(6) / 50, rtol=1e-6)
    assert (made["inv"].phase > 0).all() and made["legs"].phase is None
    uniform = made["uniform"].decay
    assert ((uniform >= 0.01) & (uniform <= 0.9)).all() and not np.array_equal(uniform[0], uniform[1])
    np.testing.assert_array_equal(made["uniform"].readout, made["log_uniform"].readout)
    best = {"parameterization": stablessm.PARAMETERIZATIONS["best"], "target": "polynomial"}
    with pytest.raises(ValueError, match="'lin' has complex eigenvalues; set complex = true"):
        kernel_fit({**best, "width": 4, "initialization": "lin"}, real)
    with pytest.raises(ValueError, match="lies outside the image"):
        kernel_fit({**best, "width": 101, "initialization": "legs"}, real)


def test_the_form_of_noisy_sequences_is_their_loss():
    settings = MEASUREMENTS["generalisation"].settings(horizon=12, sequences=3, noise=0.5)
    seed = jnp.uint32(4)
    start = SampleStartOf(StartOf(2, settings.model_copy(update={"loss": "white_noise"})), settings)(seed)
    input_key, noise_key = jax.random.split(jax.random.wrap_key_data(start.fit.key))
    x, n = (np.asarray(jax.random.normal(key, (3, 12))) for key in (input_key, noise_key))
    d = np.random.default_rng(0).standard_normal(12)
    errors = np.array([np.convolve(d, row)[:12] for row in x]) - 0.5 * n
    form = d @ np.asarray(start.matrix) @ d - 2 * d @ np.asarray(start.cross) + float(start.energy)
    np.testing.assert_allclose(form, (errors**2).mean(), rtol=1e-5)
