"""Benchmark `train`: the kernels of an S4D layer, and the whole training step of a network of two such layers.

The floor of a step is that of a network whose kernels are weights themselves: nothing is spent on making them. What
lies between the floor and a step is what its kernels cost.
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

from stablessm import engine
from stablessm.bench import peers
from stablessm.bench.base import Candidate, Case
from stablessm.bench.programs import absent, plain, program
from stablessm.bench.torch_s4d import training_step
from stablessm.layers import S4D
from stablessm.models import Block, Network
from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.training.recipe import Recipe, transformation

CHANNELS, STATES, DEPTH, LENGTH, CLASSES = 64, 64, 2, 784, 10
BATCHES = (1, 4, 16, 32, 128)


class ByGrid(eqx.Module):
    """An S4D layer whose kernel is summed from the table of all powers, convolved by plain FFT."""

    layer: S4D
    is_causal: bool = eqx.field(static=True, default=True)

    def __call__(self, x: Array, state: Any = None) -> tuple[Array, Any]:
        """Return (y, None) for x of shape (time, channels)."""
        length, u = x.shape[0], x.T
        spectrum = jnp.fft.rfft(u, 2 * length) * jnp.fft.rfft(grid_kernels(self.layer, length), 2 * length)
        return (jnp.fft.irfft(spectrum, 2 * length)[:, :length]).T + self.layer.feedthrough * x, None


class Given(eqx.Module):
    """A layer whose kernels are weights."""

    kernels: Array
    feedthrough: Array
    is_causal: bool = eqx.field(static=True, default=True)

    def __call__(self, x: Array, state: Any = None) -> tuple[Array, Any]:
        """Return (y, None) for x of shape (time, channels)."""
        return engine.convolve(x.T, self.kernels).T + self.feedthrough * x, None


def grid_kernels(layer: S4D, length: int) -> Array:
    """Return the kernels without D, shape (channels, length), as S4D is mostly written; for the map `exp`."""
    weights = layer.weight, layer.frequency, layer.step_weight, layer.input_weight, layer.readout
    return peers.grid_s4d(*weights, length)


def s4d(key: Array, *, channels: int = CHANNELS, states: int = STATES) -> S4D:
    """Return a layer that starts as S4D-Lin does, at n = 1, 2, ...: conjugate pairs without a real pole."""
    poles = -0.5 + 1j * np.pi * np.arange(1, states // 2 + 1)
    return S4D(PARAMETERIZATIONS["exp"], poles, inputs=channels, key=key)


def network(key: Array, *, width: int = CHANNELS, states: int = STATES, depth: int = DEPTH) -> Network:
    """Return the classifier that is trained."""
    keys = jax.random.split(key, 2 * depth + 1)
    blocks = [Block(s4d(one, channels=width, states=states), key=two)
              for one, two in zip(keys[::2], keys[1::2], strict=False)]  # fmt: skip
    return Network(blocks, purpose="classification", outputs=CLASSES, key=keys[-1])


def with_layers(model: Network, make: Callable[[S4D], Any]) -> Network:
    """Return the network with other layers in its blocks."""
    layers = [make(block.layer) for block in model.blocks]
    return eqx.tree_at(lambda one: [block.layer for block in one.blocks], model, layers)


def step_of(model: Network) -> tuple[Callable[..., Any], Any, Any]:
    """Return (step, parameters, state of the optimiser): one step of Adam on a batch, which gives its loss first."""
    parameters, rest = eqx.partition(model, eqx.is_inexact_array)
    optimizer = transformation(Recipe(schedule="constant", warmup=0.0, clip=None), parameters)

    def loss(parameters: Any, x: Array, labels: Array) -> Array:
        logits = jax.vmap(lambda one: eqx.combine(parameters, rest)(one)[0])(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def step(parameters: Any, state: Any, x: Array, labels: Array) -> tuple[Array, Any, Any]:
        value, gradient = jax.value_and_grad(loss)(parameters, x, labels)
        updates, state = optimizer.update(gradient, state, parameters)
        return value, eqx.apply_updates(parameters, updates), state

    return step, parameters, optimizer.init(parameters)


def cases(quick: bool) -> Iterator[Case]:
    """Yield the kernels at 784 and 4096 steps, and the training step at each batch.

    Args:
        quick: 784 steps and batches of 1 and 4, of series of 196 steps.
    """
    for length in (LENGTH,) if quick else (LENGTH, 4096):
        yield from _kernels(length)
    length = LENGTH // 4 if quick else LENGTH
    for batch in BATCHES[:2] if quick else BATCHES:
        yield _step(batch, length, f"{length} steps" if quick else "")


def _kernels(length: int) -> Iterator[Case]:
    """Kernels from the raw weights of a layer, and their gradient in all of these."""
    layer = s4d(jax.random.key(0))
    parts, rest = eqx.partition(layer, eqx.is_inexact_array)
    cotangent = jnp.asarray(np.random.default_rng(0).normal(size=(CHANNELS, length)), jnp.float32)
    forms = {
        "Vandermonde grid (S4D)": lambda layer: grid_kernels(layer, length).at[:, 0].add(layer.feedthrough),
        "engine: two tables": lambda layer: layer.channel_kernels(length),
    }

    def of(form: Callable[[S4D], Array]) -> Callable[[Any], Array]:
        return lambda parts: form(eqx.combine(parts, rest))

    exact = _exact_kernels(layer, length)
    yield Case("kernel", STATES, length, [
        program(name, of(form), (parts,), units=1, exact=exact) for name, form in forms.items()
    ])  # fmt: skip
    yield Case("kernel and gradient", STATES, length, [
        program(name, jax.value_and_grad(lambda parts, form=form: (of(form)(parts) * cotangent).sum()), (parts,),
                units=1)
        for name, form in forms.items()
    ])  # fmt: skip


def _exact_kernels(layer: S4D, length: int) -> np.ndarray:
    """K in float64, D in its first value."""
    weight, step = (np.exp(np.asarray(one, np.float64)) for one in (layer.weight, layer.step_weight))
    b, c = (np.asarray(one, np.float64) for one in (layer.input_weight, layer.readout))
    poles = -weight + 1j * np.asarray(layer.frequency, np.float64)
    log = poles * step[:, None]
    weights = (b[..., 0] + 1j * b[..., 1]) * (c[..., 0] + 1j * c[..., 1]) * np.expm1(log) / poles
    kernels = 2 * np.stack([(np.exp(log * k) * weights).sum(-1).real for k in range(length)], axis=1)
    kernels[:, 0] += np.asarray(layer.feedthrough)
    return kernels


def _step(batch: int, length: int, declared: str) -> Case:
    model, rng = network(jax.random.key(0)), np.random.default_rng(0)
    x = rng.normal(size=(batch, length, 1)).astype(np.float32)
    labels = rng.integers(0, CLASSES, batch).astype(np.int32)
    kinds = {
        "grid in JAX": with_layers(model, ByGrid),
        "stablessm": model,
        "floor: kernel at no cost": with_layers(
            model, lambda layer: Given(grid_kernels(layer, length), layer.feedthrough)
        ),
    }
    candidates: list[Candidate] = []
    for name, one in kinds.items():
        step, parameters, state = step_of(one)
        candidates.append(program(name, step, (parameters, state, x, labels), units=batch, declared=declared))
    torch = training_step(model, x, labels)
    name = "S4D in PyTorch, 1 thread"
    candidates.append(absent(name) if torch is None else plain(name, torch, units=batch, declared=declared))
    return Case(f"training step, batch {batch}", STATES, length, candidates)
