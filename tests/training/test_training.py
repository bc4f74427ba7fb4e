"""Outcomes, the frozen run, and the largest stable step of one mode."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.training.outcomes import OUTCOMES, judge
from stablessm.training.run import recorded_steps, run


def outcome(losses, *, bad=-1, left=False, zero=10.0):
    verdict = judge(jnp.asarray(losses), nonfinite_step=jnp.int32(bad), left_domain=jnp.bool_(left),
                    zero_loss=jnp.float32(zero))  # fmt: skip
    return OUTCOMES[int(verdict.outcome)], int(verdict.first_bad_step)


def test_every_outcome():
    falling = np.linspace(1.0, 0.1, 101, dtype=np.float32)
    assert outcome(falling) == ("step_limit", -1)
    assert outcome(np.where(np.arange(101) > 50, 0.2, falling).astype(np.float32)) == ("converged", -1)
    assert outcome(falling, zero=0.05)[0] == "collapsed"
    spike = falling.copy()
    spike[30] = 2e3
    assert outcome(spike) == ("diverged", 30)
    assert outcome(np.linspace(1, 3, 101, dtype=np.float32)) == ("diverged", 1)
    assert outcome(falling, bad=7) == ("nonfinite", 7)
    assert outcome(falling, bad=7, left=True) == ("outside_domain", 7)


def test_a_run_freezes_at_its_first_nonfinite_step_and_holds_no_nan():
    def loss(w, step):
        return jnp.where(step == 5, jnp.nan, w**2)

    seen = run(loss, jnp.float32(1.0), optax.sgd(0.1), steps=20, observe=lambda w, g, state: (w, g), records=4)
    assert int(seen.nonfinite_step) == 5
    assert float(seen.parameters) == pytest.approx(0.8**5)
    assert np.isfinite(seen.losses).all() and seen.losses.shape == (21,)
    assert list(recorded_steps(20, 4)) == [0, 5, 10, 15]
    weights, gradients = seen.observations
    np.testing.assert_allclose(weights, [1.0, *[0.8**5] * 3], rtol=1e-6)
    assert not np.isnan(gradients).any()


def test_a_gradient_that_is_no_number_is_recorded_as_infinite():
    seen = run(lambda w, step: jnp.sqrt(w - 1) * w, jnp.float32(0.5), optax.sgd(0.1), steps=4,
               observe=lambda w, g, state: g, records=4)  # fmt: skip
    assert int(seen.nonfinite_step) == 0 and np.isposinf(seen.observations).all()


@pytest.mark.parametrize(
    ("name", "largest"), [("direct", 5e-4), ("exp", 0.2), ("softplus", 0.210210), ("best", 1.025641)]
)
def test_one_mode_shrinks_just_below_its_largest_stable_step_and_grows_above(name, largest):
    """For target e^(-a t) and one mode e^(-s t) the loss is 1/(2 s) - 2/(a + s) + 1/(2 a), a = 0.05, in float64."""
    alpha, map_ = 0.05, PARAMETERIZATIONS[name]
    with jax.enable_x64(True):
        optimum = map_.weight(jnp.float64(alpha))
        slope = jax.jit(jax.grad(lambda w: 0.5 / map_.decay(w) - 2 / (alpha + map_.decay(w))))
        for factor, grows in ((0.98, False), (1.02, True)):
            weight = optimum + 1e-7
            for _ in range(100):
                weight = weight - factor * largest * slope(weight)
            assert (abs(float(weight - optimum)) > 1e-7) == grows


def test_gradient_scale_is_the_gradient_of_the_l1_loss():
    for name, scale in (("direct", 400.0), ("exp", 20.0), ("softplus", 19.5082302), ("best", 8.83176087)):
        map_ = PARAMETERIZATIONS[name]
        slope = jax.grad(lambda w, m=map_: 1 / m.decay(w))(map_.weight(jnp.float32(0.05)))
        assert abs(float(slope)) == pytest.approx(scale, rel=2e-5)
