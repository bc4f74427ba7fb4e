"""The programs of the measurements that look at a map alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.maps import GradientScaleSettings, MapsSettings
from stablessm.measurements.ratios import gradient_to_weight
from stablessm.parameterizations import Parameterization


def scale_of(parameterization: Parameterization, weight: Array, **constants: Array) -> Array:
    """Return the gradient scale |dlambda/dw| / margin^2 at each weight.

    In continuous time this is |f'|/f^2; in discrete time |f'|/(1 - |f|)^2. Infinite on the stability boundary, and NaN,
    not defined, where the eigenvalue is not stable.
    """
    margin = parameterization.margin(weight, **constants)
    slope = _slope(parameterization, weight, constants)
    ratio = jnp.abs(slope) / margin / margin
    return jnp.where(margin > 0, ratio, jnp.where(margin == 0, jnp.inf, jnp.nan))


def curvature_of(parameterization: Parameterization, weight: Array, **constants: Array) -> Array:
    """Return |dlambda/dw|^2 / (2 margin^3) at each weight.

    In continuous time this is the curvature of int (rho - rho_hat)^2 for one mode at its optimum, the criterion that
    stays as it is when the weights are shifted. Infinite on the stability boundary, and NaN where the eigenvalue is not
    stable.
    """
    margin = parameterization.margin(weight, **constants)
    slope = _slope(parameterization, weight, constants)
    return jnp.where(margin == 0, jnp.inf, jnp.where(margin > 0, (slope / margin) ** 2 / margin / 2, jnp.nan))


def _slope(parameterization: Parameterization, weight: Array, constants: Mapping[str, Array]) -> Array:
    return jax.vmap(jax.grad(lambda w: parameterization.eigenvalue(w, **constants)))(weight)


def _no_start(seed: Array) -> tuple[()]:
    return ()


def maps(static: Mapping[str, Any], settings: MapsSettings) -> Program:
    """Program of `maps`."""
    parameterization: Parameterization = static["parameterization"]
    grid = np.linspace(-settings.extent, settings.extent, settings.points)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        weight, constants = jnp.asarray(grid, jnp.result_type(float)), constants_of(traced)
        return {
            "decay": parameterization.decay(weight, **constants),
            "eigenvalue": parameterization.eigenvalue(weight, **constants),
            "margin": parameterization.margin(weight, **constants),
            "derivative": _slope(parameterization, weight, constants),
        }

    return Program({"weight": grid}, _no_start, measure)


def gradient_scale(static: Mapping[str, Any], settings: GradientScaleSettings) -> Program:
    """Program of `gradient_scale`. Decays that the map does not reach are NaN: the curve ends there."""
    parameterization: Parameterization = static["parameterization"]
    grid = np.linspace(-settings.extent, settings.extent, settings.points)
    decays = np.geomspace(settings.slowest_decay, settings.fastest_decay, settings.decays)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        constants, dtype = constants_of(traced), jnp.result_type(float)
        results, wanted = {}, jnp.asarray(decays, dtype)
        inverse = jax.jit(lambda decay: parameterization.weight(decay, **constants))(wanted)  # traced: no check
        reached = jnp.abs(parameterization.decay(inverse, **constants) - wanted) <= 1e-3 * wanted
        places = {"": jnp.asarray(grid, dtype), "_of_decay": inverse}
        for suffix, weight in places.items():
            scale = scale_of(parameterization, weight, **constants)
            over = gradient_to_weight(scale, weight)
            ends = reached if suffix else jnp.bool_(True)
            results[f"gradient_scale{suffix}"] = jnp.where(ends, scale, jnp.nan)
            results[f"gradient_over_weight{suffix}"] = jnp.where(ends, over, jnp.nan)
        return results

    return Program({"weight": grid, "decay": decays}, _no_start, measure)
