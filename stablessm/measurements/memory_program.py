"""The program of the measurement `memory`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.layers import LinearRNN
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.fit_programs import ending, train
from stablessm.measurements.kernel_fit import Start, kernel_fit
from stablessm.measurements.memory import MemorySettings
from stablessm.memory import probes
from stablessm.memory.functions import of_kernel
from stablessm.parameterizations import Parameterization
from stablessm.targets import TargetError, target_of


def memory(static: Mapping[str, Any], settings: MemorySettings) -> Program:
    """Program of `memory`: the step 0 is the start, the step `steps` the end of training."""
    fit, parameterization = kernel_fit(static, settings), static["parameterization"]
    length = settings.memory_horizon
    lags = np.unique(np.geomspace(1, length, settings.lags).round().astype(np.int32)) - 1
    noise = jnp.asarray(np.random.default_rng(0).standard_normal(length))  # any series would do for a linear model
    probe = probes.joined(probes.heaviside(1.0, length), probes.impulse(1.0, length), probes.context(noise, lags))
    weights = np.linspace(-settings.extent, settings.extent, settings.points)
    target = np.abs(_target(static["target"], settings))

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Mapping[str, Array]:
        constants = constants_of(traced)
        before, trajectory, verdict = train(static, settings, fit, starts, index, traced)
        after = eqx.combine(trajectory.parameters, before)
        both = jax.tree.map(lambda *pair: jnp.stack(pair), before, after)
        remembered = jax.vmap(lambda model: _remembered(model, parameterization, probe, lags))(both)
        curve = parameterization.margin(jnp.asarray(weights, jnp.result_type(float)), **constants)
        return {
            **ending(trajectory, verdict),
            **remembered,
            "horizon": jnp.int32(settings.horizon),
            "target_memory_function": jnp.asarray(target, jnp.result_type(float)),
            "margin_of_weight": curve,
            "initial_eigenvalue": before.eigenvalues(),
        }

    coordinates = {
        "step": np.asarray([0, settings.steps], np.int32),
        "time": np.arange(length) * settings.step_size,
        "lag": lags * settings.step_size,
        "state": np.arange(static["width"], dtype=np.int32),
        "weight": weights,
    }
    return Program(coordinates, fit.start_of, measure)


def _target(name: Any, settings: MemorySettings) -> np.ndarray:
    """Return the target's kernel up to the memory horizon; NaN, not known, behind the end of a target of samples."""
    target, length = target_of(name), settings.memory_horizon
    try:
        return target.kernel(length, step_size=settings.step_size)
    except TargetError:
        known = target.kernel(settings.horizon, step_size=settings.step_size)
        return np.append(known, np.full(length - len(known), np.nan))


def _remembered(
    model: LinearRNN, parameterization: Parameterization, probe: probes.Probe, lags: np.ndarray
) -> dict[str, Array]:
    """Return what one model remembers, and how far the forms that run it are from its kernel."""
    kernel = model.kernel(probe.inputs.shape[1])
    exact = of_kernel(kernel)
    step, pulse, context = probes.run(model, probe)
    apart = jnp.maximum(jnp.abs(step - exact), jnp.abs(pulse - kernel)).max()
    apart = jnp.maximum(apart, jnp.abs(context - exact[lags]).max())
    return {
        "memory_function": _or_infinite(exact),
        "context_difference": _or_infinite(context),
        "disagreement": _or_infinite(apart / exact.max()),
        "eigenvalue": model.eigenvalues(),
        "margin": parameterization.margin(model.weight, **model.constants),
        "recurrent_weight": model.weight,
    }


def _or_infinite(values: Array) -> Array:
    """Return values with infinity for what is no number, as where a kernel that overflows cancels in itself."""
    return jnp.where(jnp.isnan(values), jnp.inf, values)
