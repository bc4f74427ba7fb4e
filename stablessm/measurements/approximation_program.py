"""The program of `approximation`: fits are made on the host when it is built; what runs is the training beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.approximation import (
    InnerProduct,
    Modes,
    best_amplitudes,
    best_fits,
    law,
    nonnegative_amplitudes,
    rational_fit,
)
from stablessm.approximation.products import AnyTarget
from stablessm.measurements.approximation import STOPS, ApproximationSettings
from stablessm.measurements.base import Program
from stablessm.measurements.published_training import trained_widths, training_of
from stablessm.parameterizations import PARAMETERIZATIONS
from stablessm.targets import Target, target_of

# What training reaches depends little on the map (the fit errors of `perturbation`); exp reaches every decay.
_TRAINED_MAP = "exp"
_POLYNOMIAL = "(1 + c*t)^-p"


def approximation(static: Mapping[str, Any], settings: ApproximationSettings) -> Program:
    """Program of `approximation`."""
    target = target_of(static["target"])
    every = [[_fits(product_of(domain, extent, settings), target, settings) for extent in settings.extent]
             for domain in settings.domain]  # fmt: skip
    known = {name: np.array([[one[name] for one in row] for row in every]) for name in every[0][0]}
    known |= _laws(target, settings)
    of_training = {**static, "parameterization": PARAMETERIZATIONS[_TRAINED_MAP]}
    training = training_of(of_training, settings, max(settings.width))
    nodes = [product_of("discrete", extent, settings).samples(target) for extent in settings.extent]

    def of_trained(traced: Mapping[str, Array], starts: Any, index: Array, early: Array) -> dict[str, Array]:
        models = trained_widths(of_training, settings, training, starts, index, traced, early)
        model = models.model
        held, gain = model.parameterization.zero_order_hold(model.weight, settings.step_size)
        amplitude = gain * model.input_weight[..., 0] * model.readout[..., 0, :]
        errors = []
        for times, weights, values in nodes:
            steps, share, rho = (jnp.asarray(one, held.dtype) for one in (times / settings.step_size, weights, values))
            kernel = jnp.einsum("wmt,wm->wt", held[..., None] ** steps, amplitude)
            errors.append(jnp.sqrt((share * (kernel - rho) ** 2).sum(-1) / (share * rho**2).sum()))
        alive = jnp.arange(max(settings.width)) < jnp.asarray(settings.width)[:, None]
        decay = jnp.where(alive, model.parameterization.decay(model.weight), jnp.inf).min(-1)
        return {"trained_error": jnp.stack(errors), "trained_slowest_decay": decay, "trained_loss": models.loss}

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        dtype = jnp.result_type(float)
        early = jnp.asarray([stop == "previous_width" for stop in STOPS])
        return {
            **{name: jnp.asarray(one, jnp.int32 if name == "modes_used" else dtype) for name, one in known.items()},
            **jax.lax.map(lambda one: of_trained(traced, starts, index, one), early),
        }

    coordinates = {
        "stop": np.asarray(STOPS),
        "domain": np.asarray(settings.domain),
        "extent": np.asarray(settings.extent),
        "fit": np.asarray(settings.fit),
        "width": np.asarray(settings.width, np.int64),
    }
    return Program(coordinates, training.start_of, measure)


def product_of(domain: str, extent: str, settings: Any) -> InnerProduct:
    """Return the inner product of a domain and an extent.

    Args:
        domain: "continuous" or "discrete".
        extent: "infinite", "finite" or "averaged".
        settings: with `horizon` and `step_size`.
    """
    horizon = None if extent == "infinite" else settings.horizon * settings.step_size
    return InnerProduct(domain, horizon, extent == "averaged", settings.step_size)


def _fits(product: InnerProduct, target: AnyTarget, settings: ApproximationSettings) -> dict[str, np.ndarray]:
    best = best_fits(product, target, settings.width)
    size = np.sqrt(product.square(target))
    by_method = [[_fit(name, product, target, *one) for one in zip(settings.width, best, strict=True)]
                 for name in settings.fit]  # fmt: skip

    def every(value: Any) -> np.ndarray:
        return np.array([[value(one) for one in row] for row in by_method])

    return {
        "approximation_error": every(lambda one: product.error(target, one) / size),
        "slowest_decay": every(lambda one: one.decay[0]),
        "fastest_decay": every(lambda one: one.decay[-1]),
        "modes_used": every(lambda one: np.count_nonzero(one.amplitude)),
        "smallest_amplitude": every(lambda one: one.amplitude.min() / max(np.abs(one.amplitude).max(), 1e-300)),
        "product_error": np.array([np.sqrt(product.squared_error(target, one)) / size for one in best]),
    }


def _fit(method: str, product: InnerProduct, target: AnyTarget, width: int, best: Modes) -> Modes:
    if method == "best":
        return best
    slowest, fastest = best.decay[0], best.decay[-1]
    if method == "rational":
        return rational_fit(product, target, width, slowest=slowest, fastest=fastest)
    decay = np.geomspace(slowest, fastest, width) if fastest > slowest else best.decay
    return (best_amplitudes if method == "given_signed" else nonnegative_amplitudes)(product, target, decay)


def _laws(target: AnyTarget, settings: ApproximationSettings) -> dict[str, np.ndarray]:
    if not isinstance(target, Target) or target.formula != _POLYNOMIAL:
        return {
            "law": np.full(len(settings.extent), np.nan),
            **dict.fromkeys(("expected_law", "expected_decay_law"), np.asarray(np.nan)),
        }
    power, scale = target.constants["p"], target.constants["c"]
    finite = law.finite_rate(scale, settings.horizon * settings.step_size)
    return {
        "law": np.array([law.quadrature_rate(power) if one == "infinite" else finite for one in settings.extent]),
        "expected_law": np.asarray(law.best_rate(power)),
        "expected_decay_law": np.asarray(law.slowest_decay_rate(power)),
    }
