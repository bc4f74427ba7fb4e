r"""The program of the measurement `generalisation`.

With outputs y = rho * x + n the loss on B sequences is (1/(B T)) sum (e - n)^2 = d' S d - 2 d' q + |n|^2/(B T), where
e = d * x, d = K - rho, S is the Gram matrix and q_k = (1/(B T)) sum_{b,t} n_bt x_{b,t-k}: the sequences are seen once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import losses
from stablessm.layers import LinearRNN
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.draws import normal
from stablessm.measurements.fit_programs import ending, train, trainable
from stablessm.measurements.generalisation import GeneralisationSettings
from stablessm.measurements.kernel_fit import Start, StartOf, kernel_fit
from stablessm.targets import target_of
from stablessm.training.run import recorded_steps


class SampleStart(NamedTuple):
    """A start and the training sequences as a quadratic form.

    Attributes:
        fit: of the model.
        matrix: S, shape (T, T).
        cross: q, shape (T,).
        energy: |n|^2/(B T).
    """

    fit: Start
    matrix: Array
    cross: Array
    energy: Array


@dataclass(frozen=True)
class SampleStartOf:
    """seed -> SampleStart."""

    fit: StartOf
    settings: GeneralisationSettings

    def __call__(self, seed: Array) -> SampleStart:
        """Draw model and sequences of a seed (uint32 scalar)."""
        one, start = self.settings, self.fit(seed)
        input_key, noise_key = jax.random.split(jax.random.wrap_key_data(start.key))
        shape = one.sequences, one.horizon
        inputs, noise = normal(input_key, shape), one.noise * normal(noise_key, shape)
        spectrum = jnp.conj(jnp.fft.rfft(inputs, 2 * one.horizon)) * jnp.fft.rfft(noise, 2 * one.horizon)
        cross = jnp.fft.irfft(spectrum, 2 * one.horizon)[:, : one.horizon].mean(0) / one.horizon
        return SampleStart(start, losses.gram_matrix(inputs), cross, (noise**2).mean())


def generalisation(static: Mapping[str, Any], settings: GeneralisationSettings) -> Program:
    """Program of `generalisation`."""
    of_model = settings.model_copy(update={"loss": "white_noise"})  # draws no batches
    fit = kernel_fit(static, of_model)
    target = target_of(static["target"]).kernel(settings.horizon, step_size=settings.step_size)
    kept = np.append(np.asarray(recorded_steps(settings.steps, settings.records), np.int32), settings.steps)

    def prepare(starts: SampleStart, index: Array, constants: Mapping[str, Array]) -> Any:
        model, _ = fit.prepare(starts.fit, index, constants)
        matrix, cross, energy = (leaf[index] for leaf in starts[1:])

        def loss(model: LinearRNN, step: Array) -> Array:
            difference = model.kernel(settings.horizon) - jnp.asarray(target, matrix.dtype)
            value = difference @ (matrix @ difference) - 2 * difference @ cross + energy
            return jnp.maximum(value, 0)  # what rounding leaves below 0 is 0

        return model, loss

    def measure(traced: Mapping[str, Array], starts: SampleStart, index: Array) -> Mapping[str, Array]:
        rho = jnp.asarray(target, starts.matrix.dtype)

        def tested(parts: LinearRNN, gradient: LinearRNN, state: Any) -> Array:
            return losses.white_noise(eqx.combine(parts, rest).kernel(settings.horizon), rho)

        model, _ = prepare(starts, index, constants_of(traced))
        _, rest = eqx.partition(model, trainable(model))
        problem = fit._replace(prepare=prepare)
        model, trajectory, verdict = train(
            static, settings, problem, starts, index, traced, observe=tested, records=settings.records
        )
        last = tested(trajectory.parameters, None, None)
        test = jnp.append(trajectory.observations, last)
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            "test_loss": jnp.where(jnp.isnan(test), jnp.inf, test),
            "zero_loss": jnp.asarray(fit.zero_loss, rho.dtype),
            "initial_eigenvalue": model.eigenvalues(),
        }

    coordinates = {"state": np.arange(static["width"], dtype=np.int32), "step": kept}
    return Program(coordinates, SampleStartOf(fit.start_of, settings), measure)
