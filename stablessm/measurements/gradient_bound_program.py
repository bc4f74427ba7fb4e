r"""The program of the measurement `gradient_bound`.

One mode: target e^{-2 r t} and model e^{-r t} do not cross, so that the gradient of the L1 loss is the bound, |f'|/f^2
(discrete: |f'|/(1 - |f|)^2), at every decay r. In continuous time each sample of the target is its integral over the
step; then the sum over samples is the integral over time.

Stack: the loss is the largest error over one series against a linear target of polynomial memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import Array

from stablessm import losses
from stablessm.layers import SSM
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.gradient_bound import GradientBoundSettings
from stablessm.measurements.kernel_fit import check_start, decay_of, eigenvalues_of
from stablessm.measurements.map_programs import scale_of
from stablessm.measurements.stacks import StackStart, StackStartOf, gradient_scales, stack_of
from stablessm.models import bounds
from stablessm.parameterizations.links import time_of
from stablessm.parameterizations.views import Views
from stablessm.targets import target_of


def gradient_bound(static: Mapping[str, Any], settings: GradientBoundSettings) -> Program:
    """Program of `gradient_bound`."""
    parameterization, activation = static["parameterization"], static["activation"]
    check_start(
        static.get("fillings", ((parameterization,),)), settings.slowest_decay, settings.fastest_decay
    )  # fmt: skip
    grid = np.geomspace(settings.slowest_decay, settings.fastest_decay, settings.decays)
    rho = target_of("polynomial").kernel(settings.horizon, step_size=settings.step_size)
    transform = scipy.linalg.toeplitz(rho, np.zeros(settings.horizon))

    def measure(traced: Mapping[str, Array], starts: StackStart, index: Array) -> Mapping[str, Array]:
        constants = constants_of(traced)
        dtype = jnp.result_type(float)
        weight = parameterization.weight(decay_of(jnp.asarray(grid, dtype), parameterization.link), **constants)
        model = stack_of(
            parameterization, jax.tree.map(lambda leaf: leaf[index], starts), activation, settings, constants
        )
        inputs = starts.inputs[index]
        wanted = jnp.asarray(transform, dtype) @ inputs
        trained = jax.tree.map(eqx.is_inexact_array, model)
        trained = eqx.tree_at(
            lambda m: [one.constants for one in m.layers],
            trained,
            [dict.fromkeys(constants, False) for _ in model.layers],
        )
        parts, rest = eqx.partition(model, trained)
        gradient = jax.grad(lambda parts: jnp.abs(eqx.combine(parts, rest)(inputs)[0] - wanted).max())(parts)
        constant = jnp.stack(bounds.gradient_constants(model, inputs))
        return {
            "mode_gradient": jnp.abs(_mode_gradients(parameterization, constants, settings, weight, grid)),
            "mode_bound": scale_of(parameterization, weight, **constants),
            "gradient": jnp.stack([jnp.abs(one.weight) for one in gradient.layers]),
            "gradient_bound": constant * jnp.stack([gradient_scales(one) for one in model.layers]),
            "gradient_constant": constant,
            "input_gradient": jnp.stack([jnp.linalg.norm(one.input_weight) for one in gradient.layers]),
            "initial_eigenvalue": jnp.stack([one.eigenvalues() for one in model.layers]),
        }

    coordinates = {
        "decay": grid,
        "layer": 1 + np.arange(settings.depth, dtype=np.int32),
        "state": np.arange(static["width"], dtype=np.int32),
    }
    return Program(coordinates, StackStartOf(static["width"], settings.horizon, settings), measure)


def _mode_gradients(
    parameterization: Views,
    constants: Mapping[str, Array],
    settings: GradientBoundSettings,
    weight: Array,
    rate: np.ndarray,
) -> Array:
    """dL/dw of modes e^{-r t} against e^{-2 r t}, c = U = 1: the states of one linear layer, each with its own loss."""
    link, dtype = parameterization.link, weight.dtype
    time, states = time_of(link), len(rate)
    step = settings.step_size if time == "continuous" else 1.0
    target = np.exp(-2 * rate * step * np.arange(settings.mode_horizon)[:, None])
    target = target * -np.expm1(-2 * rate * step) / (2 * rate) if time == "continuous" else target
    layer = SSM(
        parameterization, eigenvalues_of(jnp.asarray(rate, dtype), link), time=time, inputs=1, activation="identity",
        step_size=step, bias=False, constants=dict(constants), key=jax.random.key(0),
    )  # fmt: skip
    impulse = jnp.zeros((settings.mode_horizon, 1), dtype).at[0].set(1.0)

    def loss(weight: Array) -> Array:
        modes = eqx.tree_at(lambda m: (m.weight, m.input_weight), layer, (weight, jnp.ones((states, 1), dtype)))
        return jax.vmap(losses.absolute, in_axes=1)(modes(impulse)[0], jnp.asarray(target, dtype)).sum()

    return jax.grad(loss)(weight)
