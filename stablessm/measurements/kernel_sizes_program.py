r"""The program of the measurement `kernel_sizes`.

Of K_j = Re sum_n w_n lambda_n^j the derivatives are lambda_n^j and j w_n lambda_n^(j-1) of the complex sum, whose sizes
are the largest that the real part has over the direction in which a number moves:

    |dK_j/dw_n| = |lambda_n|^j,        |dK_j/dlambda_n| = j |w_n| |lambda_n|^(j-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.layers.dlr import DLR
from stablessm.measurements.base import Program
from stablessm.measurements.comparison import ComparisonSettings
from stablessm.measurements.comparison_program import chosen, fit_of
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.network_fit import Data
from stablessm.measurements.ratios import QUANTILES, quantiles
from stablessm.tasks.architecture import ArchitectureError

_LAGS = 512


def kernel_sizes(static: Mapping[str, Any], settings: ComparisonSettings) -> Program:
    """Program of `kernel_sizes`.

    Raises:
        ArchitectureError: the first layer is no DLR of one factor that is read as real.
        ValueError: as `comparison`.
    """
    one = chosen(static, settings)
    fit = fit_of(one)
    first = fit.model.blocks[0].layer
    if not isinstance(first, DLR) or len(first.factors) > 1 or first.cast != "real":
        raise ArchitectureError("the kernel of a dlr is looked at: the first layer must be one, of the cast 'real'")
    length = fit.task.splits["test"].inputs.shape[1]
    lags = np.unique(np.round(np.linspace(0, length - 1, min(length, _LAGS))).astype(int))

    def sizes(parameters: Any) -> dict[str, Array]:
        return sizes_of(fit.with_parameters(parameters).blocks[0].layer, lags, length)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array, data: Data) -> Mapping[str, Array]:
        parameters = fit.parameters(starts, index)
        trajectory, verdict = fit.train(parameters, starts[1][index], data, rate=one.learning_rate, steps=one.steps)
        both = [sizes(each) for each in (parameters, trajectory.parameters)]
        return {**ending(trajectory, verdict), **{name: jnp.stack([each[name] for each in both]) for name in both[0]}}

    coordinates = {"moment": np.array([0, one.steps]), "lag": lags, "quantile": np.asarray(QUANTILES)}
    return Program(coordinates, fit.start_of, measure, (fit.data,))


def sizes_of(layer: DLR, lags: np.ndarray, length: int) -> dict[str, Array]:
    """Return the sizes of a kernel and of its derivatives at some lags, and quantiles of the moduli.

    Args:
        layer: of one factor, read as real.
        lags: which, ascending integers.
        length: lags of the whole kernel, more than the last of them.
    """
    (factor,) = layer.factors
    log_modulus = factor.poles().log_modulus
    read = jnp.sqrt((factor.readout**2).sum(-1)) if factor.phase is not None else jnp.abs(factor.readout)
    decayed = jnp.exp(log_modulus * lags[:, None])  # (lags, poles)
    before = jnp.exp(log_modulus * np.maximum(lags - 1, 0)[:, None])
    by_pole = lags * _mean_square(before[:, None, :] * read, (1, 2))
    return {
        "kernel": _mean_square(layer.channel_kernels(length) - _at_once(layer, length), 0)[lags],
        "kernel_by_pole": by_pole,
        "kernel_by_readout": _mean_square(decayed, 1),
        "modulus": quantiles(jnp.exp(log_modulus)),
    }


def _at_once(layer: DLR, length: int) -> Array:
    """D, which stands in K_0."""
    return jnp.zeros((layer.inputs, length), layer.feedthrough.dtype).at[:, 0].set(layer.feedthrough)


def _mean_square(values: Array, axes: Any) -> Array:
    return jnp.sqrt(jnp.square(values).mean(axes))
