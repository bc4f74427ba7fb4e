"""The problem most measurements train on: a linear RNN of given start fits a target memory kernel.

Everything of a run that does not depend on the map is drawn here, once for a seed: the eigenvalues, the other weights
and what the loss needs to know of the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import losses
from stablessm.layers import LinearRNN
from stablessm.measurements.draws import normal, uniform
from stablessm.measurements.initializations import DRAWN, decay_range, drawn_decays, structured_modes
from stablessm.measurements.settings import KernelFitSettings
from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.domain import finite_range
from stablessm.parameterizations.grammar import CHOICE
from stablessm.parameterizations.links import time_of
from stablessm.parameterizations.views import Views
from stablessm.targets import target_of

Fillings = Sequence[Sequence[Parameterization]]


class Start(NamedTuple):
    """What a seed fixes, whatever the map.

    Attributes:
        decay: decays of the modes, shape (width,).
        input_weight: U, shape (width, 1), and (width, 1, 2) where there are phases.
        readout: c, shape (1, width), and (1, width, 2) where there are phases.
        key: PRNG key data of the inputs.
        matrices: Gram matrices of every step's batch, (steps + 1, T, T) for the Gram form, else (0,).
        phase: angles of a mode per sample, shape (width,); None where eigenvalues are real.
    """

    decay: Array
    input_weight: Array
    readout: Array
    key: Array
    matrices: Array
    phase: Array | None = None


@dataclass(frozen=True)
class StartOf:
    """seed -> Start; equal for all maps, links and targets of one sweep, so that a sweep makes each start once.

    Attributes:
        width: number of modes.
        settings: sizes and ranges.
        initialization: where the eigenvalues start, a key of `INITIALIZATIONS`.
    """

    width: int
    settings: KernelFitSettings
    initialization: str = "log_uniform"

    def __call__(self, seed: Array) -> Start:
        """Draw the start of a seed (uint32 scalar)."""
        one = self.settings
        decay_key, input_key, readout_key, data_key = jax.random.split(jax.random.key(seed), 4)
        matrices = jnp.zeros(0)
        if one.loss == "gram":
            matrices = jax.lax.map(
                lambda step: losses.gram_matrix(batch(data_key, step, one), weights=time_weights_of(one)),
                jnp.arange(one.steps + 1),
            )
        pair, scale = ((2,), 0.5**0.5) if one.has_phases else ((), 1.0)
        if self.initialization in DRAWN:
            decay, phase = drawn_decays(self.initialization, decay_key, self.width, one), None
            if one.has_phases:
                phase = jnp.pi * uniform(jax.random.fold_in(decay_key, 1), (self.width,))
        else:
            decay, phase = structured_modes(self.initialization, self.width, one)
        return Start(
            decay=decay,
            input_weight=normal(input_key, (self.width, 1, *pair)) * scale,
            readout=normal(readout_key, (1, self.width, *pair)) * scale / self.width**0.5,
            key=jax.random.key_data(data_key),
            matrices=matrices,
            phase=phase,
        )


def batch(key: Array, step: Array, settings: KernelFitSettings) -> Array:
    """Return the white inputs of a step, shape (batch, horizon), N(0, 1)."""
    return normal(jax.random.fold_in(key, step), (settings.batch, settings.horizon))


def time_weights_of(settings: KernelFitSettings) -> Array | None:
    """Return the weight of each time step in the loss; None where all are 1."""
    return losses.time_weights(settings.horizon, jnp.result_type(float)) if settings.time_weighted else None


def eigenvalues_of(decay: Array, link: str, phase: Array | None = None) -> Array:
    """Return the eigenvalues of a start under a link: -r in continuous time, e^-r in discrete time, r its decays.

    Args:
        decay: r of each mode.
        link: the link.
        phase: frequencies (continuous time) or angles (discrete time); None for real eigenvalues.
    """
    real = -decay if link == "continuous" else jnp.exp(-decay)
    if phase is None:
        return real
    if link == "continuous":
        return jax.lax.complex(real, phase)
    return jax.lax.complex(real * jnp.cos(phase), real * jnp.sin(phase))


def decay_of(decay: Array, link: str) -> Array:
    """Return what a map must reach to start at `eigenvalues_of`: r, and 1 - e^-r under the link one-minus."""
    return -jnp.expm1(-decay) if link == "one-minus" else decay


class KernelFit(NamedTuple):
    """The problem for one map.

    Attributes:
        start_of: seed -> Start.
        prepare: (starts, index, constants) -> (model, loss): the model at its start, and (model, step) -> scalar.
        zero_loss: loss of the zero model under white noise, or its sampled mean.
        left_domain: model -> whether a weight has left the finite range of a user's formula.
    """

    start_of: StartOf
    prepare: Callable[[Start, Array, Mapping[str, Array]], tuple[LinearRNN, Callable[[LinearRNN, Array], Array]]]
    zero_loss: float
    left_domain: Callable[[LinearRNN], Array]


def kernel_fit(static: Mapping[str, Any], settings: KernelFitSettings, *, bias: bool = False) -> KernelFit:
    """Build the problem for one combination of static axes.

    Args:
        static: `parameterization`, `target`, `width` and, where they are axes, `discretisation` and `initialization`.
        settings: the sizes and the loss.
        bias: whether the model has one. It starts at 0, the best there is for a target without offset, and stays there.

    Raises:
        ParameterizationError: the decays of the start are not in the image of the map, or the map is not positive
            and finite there, or Euler's step is unstable there.
    """
    parameterization: Views = static["parameterization"]
    fillings = static.get("fillings", ((parameterization,),))
    initialization = static.get("initialization", "log_uniform")
    slowest, fastest = decay_range(initialization, static["width"], settings)
    check_start(fillings, slowest, fastest)
    samples = target_of(static["target"]).kernel(settings.horizon, step_size=settings.step_size)
    discretisation = static.get("discretisation", "zero_order_hold")
    if discretisation == "euler" and fastest * settings.step_size >= 2:
        raise ParameterizationError(
            f"Euler's step is stable only where decay times step size lies below 2, but the start has "
            f"fastest_decay {fastest:g} and step_size {settings.step_size:g}; choose a smaller one"
        )
    weights = time_weights_of(settings)
    target = jnp.asarray(samples, jnp.result_type(float))
    link, time = parameterization.link, time_of(parameterization.link)
    step_size = settings.step_size if time == "continuous" else 1.0

    def prepare(
        starts: Start, index: Array, constants: Mapping[str, Array]
    ) -> tuple[LinearRNN, Callable[[LinearRNN, Array], Array]]:
        start = jax.tree.map(lambda leaf: leaf[index], starts._replace(matrices=None))
        phase = None if start.phase is None else start.phase / step_size
        model = LinearRNN(
            parameterization,
            eigenvalues_of(start.decay, link, phase),
            time=time,
            step_size=step_size,
            discretisation=discretisation,
            bias=bias,
            constants=dict(constants),
            key=jax.random.wrap_key_data(start.key),
        )
        model = eqx.tree_at(
            lambda m: (m.weight, m.input_weight, m.readout),
            model,
            (parameterization.weight(decay_of(start.decay, link), **constants), start.input_weight, start.readout),
        )
        if phase is not None:
            model = eqx.tree_at(lambda m: m.phase, model, phase)

        def loss(model: LinearRNN, step: Array) -> Array:
            kernel = model.kernel(settings.horizon)
            if settings.loss == "white_noise":
                return losses.white_noise(kernel, target, weights=weights)
            if settings.loss == "gram":
                return losses.gram(kernel, target, starts.matrices[index, step])
            inputs = batch(jax.random.wrap_key_data(start.key), step, settings)
            return losses.sampled(kernel, target, inputs, weights=weights)

        return model, loss

    return KernelFit(
        start_of=StartOf(static["width"], settings, initialization),
        prepare=prepare,
        zero_loss=float(jax.jit(losses.white_noise)(jnp.zeros_like(target), target, weights=weights)),
        left_domain=domain_watch(fillings, slowest),
    )


def check_start(fillings: Fillings, slowest: float, fastest: float) -> None:
    """Raise where a map cannot start with decays between two values; the message names its image.

    Args:
        fillings: for each map, it with each combination of the constants that are swept.
        slowest: smallest decay of the start, per unit time.
        fastest: largest one.

    Raises:
        ParameterizationError: see above.
    """
    for one in itertools.chain(*fillings):
        for decay in map(float, decay_of(np.asarray([slowest, fastest]), one.link)):
            if decay not in one.image:
                constants = ", ".join(f"{name}={value:g}" for name, value in one.values)
                raise ParameterizationError(
                    f"every map must start at the same eigenvalues, but the decay {decay:g} lies outside the image "
                    f"{one.image} of {one.name!r}{f' ({constants})' if constants else ''} under the link {one.link!r}"
                )
            one.weight(decay)  # raises where a formula's widest monotone branch does not reach it


def domain_watch(fillings: Fillings, decay: float) -> Callable[[LinearRNN], Array]:
    """Return the test whether a weight of a user's map has left the range where its formula is finite and positive.

    Where constants are swept, the range is the one all of their values share.
    """
    if all(one.reference != "user" for one in itertools.chain(*fillings)):
        return lambda model: jnp.bool_(False)
    lower, upper = np.transpose([_range_of(one, decay) for one in fillings])

    def left(model: LinearRNN) -> Array:
        low, high = (jnp.asarray(ends, model.weight.dtype)[model.constants.get(CHOICE, 0)] for ends in (lower, upper))
        return ~((model.weight > low) & (model.weight < high)).all()

    return left


def _range_of(fillings: Sequence[Parameterization], decay: float) -> tuple[float, float]:
    if fillings[0].reference != "user":
        return -np.inf, np.inf
    ranges = [finite_range(one, around=float(one.weight(decay_of(jnp.asarray(decay), one.link)))) for one in fillings]
    return max(one.lower for one in ranges), min(one.upper for one in ranges)
