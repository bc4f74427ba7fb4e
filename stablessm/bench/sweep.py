"""Benchmark `sweep`: 4 maps x 8 learning rates x 5 seeds, 64 modes, 100 time steps, 500 Adam steps each.

The peer is what research code does: a Python loop over optimiser steps, each a jitted step that runs the RNN over time
on a batch of 128 white series. The candidates compute the same training in Gram form (the exact sampled loss) and in
closed form under white noise, vmapped over the cells of a work item, with everything a sweep does for a seed included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from stablessm.bench.base import Candidate, Case
from stablessm.layers import LinearRNN
from stablessm.measurements import MEASUREMENTS
from stablessm.measurements.compiling import compiled
from stablessm.measurements.fit_programs import trainable
from stablessm.measurements.kernel_fit import batch, kernel_fit
from stablessm.measurements.settings import RecordedFitSettings
from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.targets import TARGETS

MAPS = ("direct", "exp", "softplus", "best")
RATES = np.geomspace(1e-3, 1e-1, 8)
SEEDS = 5
WIDTH, CHUNK = 64, 8


def cases(quick: bool) -> Iterator[Case]:
    """Yield the one case: the peer and the two forms, compiled and run once; errors are against the peer's loss.

    Args:
        quick: one map instead of four.
    """
    maps = MAPS[:1] if quick else MAPS
    declared = "1 map" if quick else ""
    loop, loop_loss = _python_loop("exp", RATES[3])
    forms = [_form(form, maps) for form in ("gram", "white_noise")]
    gram_loss = _final_loss("exp", RATES[3])
    yield Case("training", WIDTH, RecordedFitSettings().horizon, [
        Candidate("Python loop, RNN over time", loop, 1, "1 configuration"),
        *(
            Candidate(
                name, run, len(maps) * len(RATES) * SEEDS, declared, memory,
                abs(gram_loss - loop_loss) / loop_loss if name == "Gram form (exact)" else None,
            )
            for name, run, memory in forms
        ),
    ])  # fmt: skip


def _static(name: str) -> dict[str, Any]:
    return {"parameterization": PARAMETERIZATIONS[name], "target": "polynomial", "optimizer": "adam", "width": WIDTH}


def _form(loss: str, maps: tuple[str, ...]) -> tuple[str, Callable[[], object], int]:
    """A whole sweep in one form, as the runner does it: starts once, then every work item."""
    settings = RecordedFitSettings(loss=loss)
    programs = [MEASUREMENTS["lr_stability"].build(_static(name), settings) for name in maps]
    seeds = jnp.arange(SEEDS, dtype=jnp.uint32)
    platform = jax.devices()[0].platform
    start = compiled(jax.jit(jax.vmap(programs[0].start)).lower(seeds[:1]), platform)
    traced = {"learning_rate": jnp.asarray(RATES, jnp.float32)}
    index = jnp.zeros(CHUNK, jnp.int32)
    shapes = start(seeds[:1])
    ready = [
        compiled(jax.jit(jax.vmap(one.measure, in_axes=(0, None, 0))).lower(traced, shapes, index), platform)
        for one in programs
    ]

    def run() -> object:
        results = []
        for seed in range(SEEDS):
            starts = start(seeds[seed : seed + 1])
            results += [one(traced, starts, index)["final_loss"] for one in ready]
        return jax.block_until_ready(results)

    run()
    memory = max(one.memory_analysis().temp_size_in_bytes for one in ready)
    return ("Gram form (exact)" if loss == "gram" else "closed form"), run, memory


def _final_loss(name: str, rate: float) -> float:
    settings = RecordedFitSettings(loss="gram")
    program = MEASUREMENTS["lr_stability"].build(_static(name), settings)
    starts = jax.jit(jax.vmap(program.start))(jnp.zeros(1, jnp.uint32))
    return float(jax.jit(program.measure)({"learning_rate": jnp.float32(rate)}, starts, jnp.int32(0))["final_loss"])


def _python_loop(name: str, rate: float) -> tuple[Callable[[], object], float]:
    """The usual research code, from the same start on the same data; also its final loss."""
    settings = RecordedFitSettings(loss="sampled")
    fit = kernel_fit(_static(name), settings)
    starts = jax.jit(jax.vmap(fit.start_of))(jnp.zeros(1, jnp.uint32))
    model, _ = fit.prepare(starts, jnp.int32(0), {})
    parts, rest = eqx.partition(model, trainable(model))
    key = jax.random.wrap_key_data(starts.key[0])
    rho = jnp.asarray(TARGETS["polynomial"].kernel(settings.horizon), jnp.float32)
    optimizer = optax.adam(rate)

    def loss(parts: LinearRNN, x: Array, y: Array) -> Array:
        layer = eqx.combine(parts, rest)
        multiplier, gain = layer.discretised()
        column, row = gain * layer.input_weight[:, 0], layer.readout[0]

        def advance(state: Array, x: Array) -> tuple[Array, Array]:
            state = multiplier * state + x[:, None] * column
            return state, state @ row

        _, predicted = jax.lax.scan(advance, jnp.zeros((x.shape[0], WIDTH)), x.T)
        return ((predicted.T - y) ** 2).mean()

    @jax.jit
    def data(step: Array) -> tuple[Array, Array]:
        x = batch(key, step, settings)
        length = 2 * settings.horizon
        spectrum = jnp.fft.rfft(x, length) * jnp.fft.rfft(rho, length)
        return x, jnp.fft.irfft(spectrum, length)[:, : settings.horizon]

    @jax.jit
    def update(parts: LinearRNN, state: Any, x: Array, y: Array) -> tuple[LinearRNN, Any, Array]:
        value, gradient = jax.value_and_grad(loss)(parts, x, y)
        updates, state = optimizer.update(gradient, state, parts)
        return optax.apply_updates(parts, updates), state, value

    evaluate = jax.jit(loss)

    def run() -> float:
        now, state = parts, optimizer.init(parts)
        for step in range(settings.steps):
            now, state, _ = update(now, state, *data(step))
        return float(evaluate(now, *data(settings.steps)))

    return run, run()
