"""The programs of the measurements `spring` and `hippo`: the pictures that S4 begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine, s4
from stablessm.measurements.base import Program
from stablessm.measurements.hippo import HippoSettings
from stablessm.measurements.spring import SpringSettings
from stablessm.s4 import legendre
from stablessm.s4.spring import pulses
from stablessm.s4.spring import spring as spring_system
from stablessm.targets import TargetError
from stablessm.targets.sampled import SUNSPOTS
from stablessm.targets.samples import read_samples

SYSTEMS = ("scaled", "fixed")


def _no_start(seed: Array) -> tuple[()]:
    return ()


def spring(static: Mapping[str, Any], settings: SpringSettings) -> Program:
    """Program of `spring`: step by step, and by the engine's convolution."""
    system = spring_system(stiffness=settings.stiffness, damping=settings.damping, mass=settings.mass)
    one = s4.bilinear(system, settings.step_size)
    time = settings.step_size * np.arange(settings.steps)
    force = pulses(time, frequency=settings.frequency, threshold=settings.threshold)
    arrays = (one.matrix, one.drive, force, s4.kernel(one, settings.steps))

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        matrix, drive, force, kernel = (jnp.asarray(array, jnp.result_type(float)) for array in arrays)

        def advance(state: Array, value: Array) -> tuple[Array, Array]:
            state = jnp.matmul(matrix, state, precision=jax.lax.Precision.HIGHEST) + drive * value
            return state, state

        _, states = jax.lax.scan(advance, jnp.zeros_like(drive), force)
        convolved = engine.convolve(force[None], kernel[None])[0]
        return {"force": force, "position": states[:, 0], "speed": states[:, 1], "convolved_position": convolved}

    return Program({"time": time}, _no_start, measure)


def hippo(static: Mapping[str, Any], settings: HippoSettings) -> Program:
    """Program of `hippo`: a few hundred steps of small systems, exact in float64 before anything is compiled."""
    series = read_samples(SUNSPOTS, "SUNACTIVITY").values
    if settings.moments[-1] > len(series):
        raise TargetError(
            f"`moments` must be at most {len(series)}, the steps of the series, but got {settings.moments[-1]}"
        )
    states = np.stack([
        legendre.scaled_states(series, settings.states),
        legendre.fixed_states(series, settings.states, settings.window),
    ])  # fmt: skip
    middles = np.arange(len(series)) + 0.5  # the series is held over each step
    found = {
        "series": series,
        "coefficient": states[:, np.array(settings.moments) - 1],
        "reconstruction": np.full((2, len(settings.moments), len(series)), np.nan),
        "component": np.full((2, settings.states, len(series)), np.nan),
        "error": np.zeros((2, len(settings.moments))),
        "recent_error": np.zeros((2, len(settings.moments))),
    }
    recent = max(1, round(settings.window / 2))
    for place, now in enumerate(settings.moments):
        seen, both = middles[:now], series[:now]
        places = (legendre.scaled_places(seen, now), legendre.fixed_places(seen, now, settings.window))
        for kind, z in enumerate(places):
            parts = states[kind, now - 1][:, None] * legendre.basis(settings.states, z)
            apart, deviation = parts.sum(0) - both, both.std() or 1.0
            found["reconstruction"][kind, place, :now] = parts.sum(0)
            found["error"][kind, place] = np.sqrt((apart**2).mean()) / deviation
            found["recent_error"][kind, place] = np.sqrt((apart[-recent:] ** 2).mean()) / deviation
            if now == settings.moments[-1]:
                found["component"][kind, :, :now] = parts

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        return {name: jnp.asarray(values, jnp.result_type(float)) for name, values in found.items()}

    coordinates = {
        "time": middles,
        "system": np.array(SYSTEMS),
        "moment": np.array(settings.moments, np.int32),
        "state": np.arange(settings.states, dtype=np.int32),
    }
    return Program(coordinates, _no_start, measure)
