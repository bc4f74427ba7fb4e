"""How a model is trained: optimiser, rates by the role of a weight, schedule, clipping, accumulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax
import optax
from jax.typing import ArrayLike
from pydantic import Field

from stablessm.declared import Declared
from stablessm.layers.roles import FROZEN, REST, roles

_B2 = 0.98


class Recipe(Declared):
    """A recipe; Adam with decoupled weight decay on the weights that have no special role.

    Attributes:
        steps: optimiser steps.
        batch: rows of a batch.
        learning_rate: largest rate, reached at the end of the warm-up.
        recurrent_multiplier: of the rate of recurrent weights.
        step_multiplier: of the rate of the weights of step sizes.
        weight_decay: of the rest.
        warmup: share of the steps over which the rate rises from 0.
        schedule: "cosine" falls to `final` of the rate, "constant" stays, "plateau" falls tenfold whenever the loss has
            not fallen for `patience` means over `window` steps.
        final: share of the rate that is left at the end of a cosine.
        patience: of "plateau".
        window: of "plateau".
        clip: largest global norm of a gradient; None for none.
        accumulate: batches whose gradients are averaged before a step.

    References: Gu, Goel and Re, S4 (ICLR 2022), appendix D: a smaller rate and no decay on Lambda, P, B and dt.
    """

    steps: int = Field(1000, ge=1, le=10**7)
    batch: int = Field(32, ge=1, le=10**6)
    learning_rate: float = Field(4e-3, gt=0, le=1e3)
    recurrent_multiplier: float = Field(0.25, ge=0, le=1e3)
    step_multiplier: float = Field(0.25, ge=0, le=1e3)
    weight_decay: float = Field(0.01, ge=0, le=1)
    warmup: float = Field(0.05, ge=0, lt=1)
    schedule: Literal["cosine", "constant", "plateau"] = "cosine"
    final: float = Field(0.01, ge=0, le=1)
    patience: int = Field(10, ge=1, le=10**6)
    window: int = Field(250, ge=1, le=10**6)
    clip: float | None = Field(1.0, gt=0)
    accumulate: int = Field(1, ge=1, le=10**4)


def learning_rate(recipe: Recipe, peak: ArrayLike | None = None) -> Callable[[Any], Any]:
    """Return the rate at each step, before multipliers and plateaus.

    Args:
        recipe: the recipe.
        peak: the largest rate, traced or not; that of the recipe by default.

    Example:
        >>> rate = learning_rate(Recipe(steps=100, learning_rate=0.1, warmup=0.1, final=0.0))
        >>> [round(float(rate(step)), 3) for step in (0, 10, 55, 100)]
        [0.0, 0.1, 0.05, 0.0]
    """
    rising = round(recipe.warmup * recipe.steps)
    peak = recipe.learning_rate if peak is None else peak
    if recipe.schedule == "cosine":
        later = optax.cosine_decay_schedule(peak, max(1, recipe.steps - rising), recipe.final)
    else:
        later = optax.constant_schedule(peak)
    if not rising:
        return later
    return optax.join_schedules([optax.linear_schedule(0.0, peak, rising), later], [rising])


def transformation(
    recipe: Recipe, parameters: Any, *, rate: ArrayLike | None = None
) -> optax.GradientTransformationExtraArgs:
    """Return the Optax transformation of a recipe, its groups by the roles of the weights.

    Args:
        recipe: the recipe.
        parameters: the model, or what is trained of it; its layers say which role a weight has.
        rate: the largest rate, traced or not; that of the recipe by default.
    """
    rates = learning_rate(recipe, rate)
    groups = {
        REST: optax.chain(optax.add_decayed_weights(recipe.weight_decay), optax.scale_by_learning_rate(rates)),
        "recurrent": _scaled(rates, recipe.recurrent_multiplier),
        "step": _scaled(rates, recipe.step_multiplier),
    }
    labels = roles(parameters)
    has_frozen = FROZEN in jax.tree.leaves(labels)
    if has_frozen:
        groups[FROZEN] = optax.set_to_zero()
    # behind a function, for a model is one itself and would be called
    parts = [optax.scale_by_adam(b2=_B2), optax.partition(groups, lambda _: labels)]
    if recipe.clip is not None:
        parts.insert(0, optax.clip_by_global_norm(recipe.clip))
    if has_frozen:  # before the norm is taken: what does not move has no part in it
        still = {role: optax.set_to_zero() if role == FROZEN else optax.identity() for role in groups}
        parts.insert(0, optax.partition(still, lambda _: labels))
    if recipe.schedule == "plateau":
        parts.append(
            optax.contrib.reduce_on_plateau(factor=0.1, patience=recipe.patience, accumulation_size=recipe.window)
        )
    whole = optax.chain(*parts)
    if recipe.accumulate > 1:
        whole = optax.MultiSteps(whole, recipe.accumulate).gradient_transformation()
    return optax.with_extra_args_support(whole)


def _scaled(rate: Callable[[Any], Any], factor: float) -> optax.GradientTransformation:
    return optax.scale_by_learning_rate(lambda step: factor * rate(step))
