"""Random stacks of Eq. 2 layers: what a seed fixes, and the stack that a map makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers import SSM
from stablessm.measurements.draws import uniform
from stablessm.measurements.gradient_bound import StackSettings
from stablessm.measurements.kernel_fit import decay_of, eigenvalues_of
from stablessm.models import Stack
from stablessm.parameterizations.links import time_of
from stablessm.parameterizations.views import Views


class StackStart(NamedTuple):
    """What a seed fixes of a stack of scalar series, whatever the map; a list has one entry a layer.

    Attributes:
        decay: decays of the states, shape (width,), log-uniform.
        input_weight: U, shape (width, 1) in the first layer, then (width, width); uniform, of variance 1 / inputs.
        bias: b, shape (width,), uniform, of variance 1/4.
        readout: c of each layer, were it the last, shape (1, width), uniform, of variance 1 / width.
        inputs: a series, uniform in (-1, 1), shape (horizon,).
    """

    decay: list[Array]
    input_weight: list[Array]
    bias: list[Array]
    readout: list[Array]
    inputs: Array


@dataclass(frozen=True)
class StackStartOf:
    """seed -> StackStart; equal for all maps, links and activations of one sweep."""

    width: int
    horizon: int
    settings: StackSettings

    def __call__(self, seed: Array) -> StackStart:
        """Draw the start of a seed (uint32 scalar): all numbers at once, which compiles soonest."""
        one, width = self.settings, self.width
        drawn = uniform(jax.random.key(seed), (one.depth * width * (width + 3) + self.horizon,))
        layers = drawn[self.horizon :].reshape(one.depth, width, width + 3)
        bottom, top = jnp.log(jnp.asarray([one.slowest_decay, one.fastest_decay], drawn.dtype))
        spread = 12**0.5 * (layers - 0.5)  # of variance 1
        sizes = [width if place else 1 for place in range(one.depth)]
        return StackStart(
            decay=list(jnp.exp(bottom + (top - bottom) * layers[:, :, 0])),
            input_weight=[part[:, 3 : 3 + size] / size**0.5 for part, size in zip(spread, sizes, strict=True)],
            bias=list(0.5 * spread[:, :, 1]),
            readout=list(spread[:, None, :, 2] / width**0.5),
            inputs=2 * drawn[: self.horizon] - 1,
        )


def stack_of(
    parameterization: Views, start: StackStart, activation: str, settings: StackSettings, constants: Mapping[str, Array]
) -> Stack:
    """Return the stack that starts there, scalar series in and out.

    Args:
        parameterization: the map.
        start: of one seed.
        activation: sigma of every layer.
        settings: the sizes.
        constants: values of the map's constants.
    """
    link, layers = parameterization.link, []
    time = time_of(link)
    for decay, weight, bias in zip(start.decay, start.input_weight, start.bias, strict=True):
        layer = SSM(
            parameterization,
            eigenvalues_of(decay, link),
            time=time,
            inputs=weight.shape[1],
            activation=activation,
            step_size=settings.step_size if time == "continuous" else 1.0,
            constants=dict(constants),
            key=jax.random.key(0),  # every weight is replaced
        )
        raw = parameterization.weight(decay_of(decay, link), **constants)
        layers.append(eqx.tree_at(lambda one: (one.weight, one.input_weight, one.bias), layer, (raw, weight, bias)))
    return Stack(layers, readout=start.readout[-1], scalar=True)


def slopes(layer: SSM) -> Array:
    """Return f'(w) of every recurrent weight of a layer."""
    return jax.vmap(jax.grad(lambda w: layer.parameterization.eigenvalue(w, **layer.constants)))(layer.weight)


def gradient_scales(layer: SSM) -> Array:
    """Return |f'|/margin^2 of every recurrent weight of a layer, the margin that of lambda and not of its step."""
    return jnp.abs(slopes(layer)) / layer.parameterization.margin(layer.weight, **layer.constants) ** 2
