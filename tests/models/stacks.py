"""Stacks of Eq. 2 layers for tests: every layer at the same decays, biases at random."""

import equinox as eqx
import jax
import jax.numpy as jnp

from stablessm import PARAMETERIZATIONS
from stablessm.layers import SSM
from stablessm.models import Stack


def stack(depth, activation, name="best", *, link="continuous", is_complex=False, step_size=0.5, seed=0, states=6):
    keys = jax.random.split(jax.random.key(seed), 2 * depth + 1)
    decays = jnp.geomspace(0.05, 0.9, states)
    real = -decays if link == "continuous" else jnp.exp(-decays)
    phases = jnp.linspace(0.0, 1.0, states)
    turned = jax.lax.complex(real, phases) if link == "continuous" else real * jnp.exp(1j * phases)
    layers = []
    for place in range(depth):
        layer = SSM(
            PARAMETERIZATIONS[name].replace(link=link),
            turned if is_complex else real,
            time="continuous" if link == "continuous" else "discrete",
            inputs=states if place else 1,
            activation=activation,
            step_size=step_size if link == "continuous" else 1.0,
            key=keys[2 * place],
        )
        bias = 0.5 * jax.random.normal(keys[2 * place + 1], layer.bias.shape)
        layers.append(eqx.tree_at(lambda one: one.bias, layer, bias))
    return Stack(layers, readout=jax.random.normal(keys[-1], (1, states)) / states**0.5, scalar=True)
