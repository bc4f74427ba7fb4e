"""The programs of the measurements that train a linear RNN on a target kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.layers import LinearRNN
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.bracketing import bracketed
from stablessm.measurements.fit import FitSettings
from stablessm.measurements.kernel_fit import KernelFit, Start, kernel_fit
from stablessm.measurements.largest_rate import BisectionSettings
from stablessm.measurements.map_programs import scale_of
from stablessm.measurements.ratios import QUANTILES, gradient_to_weight, quantiles
from stablessm.measurements.settings import KernelFitSettings, RecordedFitSettings
from stablessm.targets import target_of
from stablessm.training.optimizers import OPTIMIZERS
from stablessm.training.outcomes import Verdict, is_stable, judge
from stablessm.training.run import Trajectory, recorded_steps, run

Results = Mapping[str, Array]


def train(
    static: Mapping[str, Any],
    settings: KernelFitSettings,
    fit: KernelFit,
    starts: Start,
    index: Array,
    traced: Mapping[str, Array],
    **watch: Any,
) -> tuple[LinearRNN, Trajectory, Verdict]:
    """Train one cell; returns its model at the start, its trajectory and its verdict.

    Args:
        static: static axes, of which the optimiser is used here.
        settings: sizes and steps.
        fit: the problem.
        starts: stacked starts.
        index: which of them.
        traced: `learning_rate`, `recurrent_rate` where it is an axis, and the constants.
        **watch: `enough`, `observe` and `records` of `training.run.run`.
    """
    model, loss = fit.prepare(starts, index, constants_of(traced))
    parts, rest = eqx.partition(model, trainable(model))

    def recurrent_excluded(parts: LinearRNN) -> Any:
        decayed = jax.tree.map(lambda _: True, parts)
        return eqx.tree_at(lambda m: m.weight, decayed, False)

    optimizer = OPTIMIZERS[static["optimizer"]].transformation(
        traced["learning_rate"], recurrent_excluded, multiplier=traced.get("recurrent_rate"), multiplied=recurrent
    )
    trajectory = run(
        lambda parts, step: loss(eqx.combine(parts, rest), step), parts, optimizer, steps=settings.steps, **watch
    )
    verdict = judge(
        trajectory.losses,
        nonfinite_step=trajectory.nonfinite_step,
        left_domain=fit.left_domain(eqx.combine(trajectory.parameters, rest)),
        zero_loss=jnp.asarray(fit.zero_loss, trajectory.losses.dtype),
    )
    return model, trajectory, verdict


def recurrent(parts: LinearRNN) -> Any:
    """Return the mask of the weights that the eigenvalues are made of: those of the map and, if any, the phases."""
    mask = jax.tree.map(lambda _: False, parts)
    mask = eqx.tree_at(lambda m: m.weight, mask, True)
    return mask if parts.phase is None else eqx.tree_at(lambda m: m.phase, mask, True)


def trainable(model: LinearRNN) -> LinearRNN:
    """Return the mask of what is trained: every array but the map's constants."""
    mask = jax.tree.map(eqx.is_inexact_array, model)
    return eqx.tree_at(lambda m: m.constants, mask, jax.tree.map(lambda _: False, model.constants))


def _coordinates(static: Mapping[str, Any], settings: KernelFitSettings, **more: Any) -> dict[str, Any]:
    return {"state": np.arange(static["width"], dtype=np.int32), **more}


def ending(trajectory: Trajectory, verdict: Verdict) -> dict[str, Array]:
    """Return the variables of `outcome_variables`."""
    return {
        "outcome": verdict.outcome,
        "first_bad_step": verdict.first_bad_step,
        "initial_loss": trajectory.losses[0],
        "final_loss": trajectory.losses[-1],
    }


def _ratios(parts: LinearRNN, gradient: LinearRNN, state: Any) -> Results:
    """What is observed of the recurrent weights along training."""
    size, ratio = jnp.abs(gradient.weight), gradient_to_weight(gradient.weight, parts.weight)
    return {"gradient": size, "gradient_to_weight_ratio": ratio}


def lr_stability(static: Mapping[str, Any], settings: RecordedFitSettings) -> Program:
    """Program of `lr_stability`."""
    fit = kernel_fit(static, settings)
    kept = np.append(np.asarray(recorded_steps(settings.steps, settings.records), np.int32), settings.steps)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Results:
        model, trajectory, verdict = train(static, settings, fit, starts, index, traced)
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            "initial_eigenvalue": model.eigenvalues(),
        }

    return Program(_coordinates(static, settings, step=kept), fit.start_of, measure)


def gradient_ratio(static: Mapping[str, Any], settings: RecordedFitSettings) -> Program:
    """Program of `gradient_ratio`."""
    fit = kernel_fit(static, settings)
    kept = np.asarray(recorded_steps(settings.steps, settings.records), np.int32)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Results:
        model, trajectory, verdict = train(
            static, settings, fit, starts, index, traced, observe=_ratios, records=settings.records
        )
        seen = trajectory.observations
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            "initial_eigenvalue": model.eigenvalues(),
            **{f"initial_{name}": values[0] for name, values in seen.items()},
            **{name: jax.vmap(quantiles)(values) for name, values in seen.items()},
        }

    coordinates = _coordinates(static, settings, step=kept, quantile=np.asarray(QUANTILES))
    return Program(coordinates, fit.start_of, measure)


def gradient_law(static: Mapping[str, Any], settings: RecordedFitSettings) -> Program:
    """Program of `gradient_law`."""
    fit = kernel_fit(static, settings)
    kept = np.asarray(recorded_steps(settings.steps, settings.records), np.int32)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Results:
        model, trajectory, verdict = train(
            static, settings, fit, starts, index, traced,
            observe=lambda parts, gradient, state: (parts.weight, gradient_to_weight(gradient.weight, parts.weight)),
            records=settings.records,
        )  # fmt: skip
        weight, ratio = trajectory.observations
        scale = jax.vmap(lambda one: scale_of(model.parameterization, one, **constants_of(traced)))(weight)
        over = gradient_to_weight(scale, weight)
        return {
            **ending(trajectory, verdict),
            "gradient_to_weight_ratio": ratio,
            "gradient_scale_over_weight": jnp.where(jnp.isnan(over), jnp.inf, over),
            "initial_eigenvalue": model.eigenvalues(),
        }

    return Program(_coordinates(static, settings, step=kept), fit.start_of, measure)


def fit(static: Mapping[str, Any], settings: FitSettings) -> Program:
    """Program of `fit`."""
    problem = kernel_fit(static, settings)
    kept = np.asarray(recorded_steps(settings.steps, settings.records), np.int32)
    target = target_of(static["target"]).kernel(settings.horizon, step_size=settings.step_size)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Results:
        model, trajectory, verdict = train(
            static, settings, problem, starts, index, traced, observe=_ratios, records=settings.records
        )
        _, rest = eqx.partition(model, trainable(model))
        trained = eqx.combine(trajectory.parameters, rest)
        kernel = trained.kernel(settings.horizon)
        rho = jnp.asarray(target, kernel.dtype)
        error = jnp.linalg.norm(kernel - rho) / jnp.linalg.norm(rho)
        return {
            **ending(trajectory, verdict),
            "fit_error": jnp.where(jnp.isfinite(error), error, jnp.inf),
            "target_kernel": rho,
            "fitted_kernel": jnp.where(jnp.isfinite(kernel), kernel, jnp.inf),
            "loss": trajectory.losses[kept],
            "initial_eigenvalue": model.eigenvalues(),
            "final_eigenvalue": trained.eigenvalues(),
            **{name: jax.vmap(quantiles)(values) for name, values in trajectory.observations.items()},
        }

    time = np.arange(settings.horizon) * settings.step_size
    coordinates = _coordinates(static, settings, step=kept, quantile=np.asarray(QUANTILES), time=time)
    return Program(coordinates, problem.start_of, measure)


def largest_rate(static: Mapping[str, Any], settings: BisectionSettings) -> Program:
    """Program of `largest_rate`: scan upward, then halve the first bracket stable | unstable on the log scale.

    Rates below the first stable one, too small to learn at, end no run.
    """
    fit = kernel_fit(static, settings)
    rates = np.geomspace(settings.lowest_rate, settings.highest_rate, settings.scan)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Results:
        def stable(rate: Array) -> Array:
            _, _, verdict = train(static, settings, fit, starts, index, {**traced, "learning_rate": rate})
            return is_stable(verdict.outcome)

        low, high, reentry = bracketed(stable, rates, settings.bisections)
        model, _ = fit.prepare(starts, index, constants_of(traced))
        return {
            "largest_stable_learning_rate": low,
            "smallest_unstable_learning_rate": high,
            "reentry": reentry,
            "initial_eigenvalue": model.eigenvalues(),
        }

    return Program(_coordinates(static, settings), fit.start_of, measure)
