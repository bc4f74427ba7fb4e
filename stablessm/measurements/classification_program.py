"""The program of the measurement `classification`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from stablessm.data.images import Images, load_images
from stablessm.layers import LinearRNN
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.classification import ClassificationSettings
from stablessm.measurements.draws import log_uniform, normal, uniform
from stablessm.measurements.fit_programs import ending, trainable
from stablessm.measurements.kernel_fit import check_start, decay_of, domain_watch, eigenvalues_of
from stablessm.measurements.ratios import QUANTILES, gradient_to_weight, quantiles
from stablessm.models import LinearRNNClassifier
from stablessm.models.classifier import classifier
from stablessm.parameterizations.links import time_of
from stablessm.parameterizations.views import Views
from stablessm.training.optimizers import OPTIMIZERS
from stablessm.training.outcomes import judge
from stablessm.training.run import recorded_steps, run


class Start(NamedTuple):
    """What a seed fixes, whatever the map: weights as in `LinearRNN`, and which images make up each step's batch."""

    decay: Array
    phase: Array
    input_weight: Array
    readout: Array
    chosen: Array


@dataclass(frozen=True)
class StartOf:
    """seed -> Start; equal for all maps and links of a sweep."""

    width: int
    features: int
    classes: int
    examples: int
    settings: ClassificationSettings

    def __call__(self, seed: Array) -> Start:
        """Draw the start of a seed (uint32 scalar)."""
        one = self.settings
        decay_key, phase_key, input_key, readout_key, data_key = jax.random.split(jax.random.key(seed), 5)
        pair = (2,) if one.complex else ()
        scale = 0.5**0.5 if one.complex else 1.0
        return Start(
            decay=log_uniform(decay_key, (self.width,), one.slowest_decay, one.fastest_decay),
            phase=np.pi * uniform(phase_key, (self.width,)),
            input_weight=normal(input_key, (self.width, self.features, *pair)) * scale / self.features**0.5,
            readout=normal(readout_key, (self.classes, self.width, *pair)) * scale / self.width**0.5,
            chosen=jax.random.randint(data_key, (one.steps + 1, one.batch), 0, self.examples, jnp.int32),
        )


@lru_cache(maxsize=4)
def _images(name: str) -> Images:
    return load_images(name)


def _sequences(images: Array, sequence: str) -> Array:
    """(n, rows, columns) -> (n, time, features), floats in [0, 1]."""
    scaled = images / 255 if images.dtype == jnp.uint8 else images
    return scaled.reshape(len(images), -1, 1) if sequence == "pixels" else scaled


def _start_model(parameterization: Views, start: Start, constants: Mapping[str, Array], is_complex: bool
                 ) -> LinearRNNClassifier:  # fmt: skip
    """Return the model at the start: the eigenvalues of `start` through the map, everything else from `start`."""
    link = parameterization.link
    eigenvalues = eigenvalues_of(start.decay, link, start.phase if is_complex else None)
    layer = LinearRNN(
        parameterization,
        eigenvalues,
        time=time_of(link),
        inputs=start.input_weight.shape[1],
        outputs=start.readout.shape[0],
        constants=dict(constants),
        key=jax.random.key(0),  # every weight is replaced below
    )
    weight = parameterization.weight(decay_of(start.decay, link), **constants)
    layer = eqx.tree_at(lambda m: (m.weight, m.input_weight, m.readout), layer, (weight, *start[2:4]))
    if is_complex:
        layer = eqx.tree_at(lambda m: m.phase, layer, start.phase)
    return classifier(layer)


def classification(static: Mapping[str, Any], settings: ClassificationSettings) -> Program:
    """Program of `classification`."""
    parameterization: Views = static["parameterization"]
    fillings = static.get("fillings", ((parameterization,),))
    check_start(fillings, settings.slowest_decay, settings.fastest_decay)
    left_domain = domain_watch(fillings, settings.slowest_decay)
    images = _images(settings.data)
    features = 1 if settings.sequence == "pixels" else images.train.shape[2]
    classes = int(images.train_labels.max()) + 1
    kept = np.asarray(recorded_steps(settings.steps, settings.records), np.int32)
    tested = slice(settings.evaluated or None)

    def cross_entropy(model: LinearRNNClassifier, pictures: Array, labels: Array) -> tuple[Array, Array]:
        logits = model(_sequences(pictures, settings.sequence))
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, (logits.argmax(-1) == labels).mean()

    def observe(parts: LinearRNNClassifier, gradient: LinearRNNClassifier, state: Any) -> Mapping[str, Array]:
        slope, weight = gradient.recurrent.weight, parts.recurrent.weight
        return {
            "gradient": jnp.abs(slope),
            "gradient_to_weight_ratio": gradient_to_weight(slope, weight),
        }

    def measure(traced: Mapping[str, Array], starts: Start, index: Array, images: Images) -> Mapping[str, Array]:
        start = Start(*(leaf[index] for leaf in starts[:-1]), chosen=starts.chosen)
        model = _start_model(parameterization, start, constants_of(traced), settings.complex)
        mask = eqx.tree_at(lambda m: m.recurrent, jax.tree.map(eqx.is_inexact_array, model), trainable(model.recurrent))
        parts, rest = eqx.partition(model, mask)

        def loss(parts: LinearRNNClassifier, step: Array) -> Array:
            chosen = starts.chosen[index, step]
            return cross_entropy(eqx.combine(parts, rest), images.train[chosen], images.train_labels[chosen])[0]

        def decayed(parts: LinearRNNClassifier) -> Any:
            return eqx.tree_at(lambda m: m.recurrent.weight, jax.tree.map(lambda _: True, parts), False)

        optimizer = OPTIMIZERS[static["optimizer"]].transformation(traced["learning_rate"], decayed)
        trajectory = run(loss, parts, optimizer, steps=settings.steps, observe=observe, records=settings.records)
        trained = eqx.combine(trajectory.parameters, rest)
        verdict = judge(
            trajectory.losses,
            nonfinite_step=trajectory.nonfinite_step,
            left_domain=left_domain(trained.recurrent),
            zero_loss=jnp.log(jnp.asarray(classes, trajectory.losses.dtype)),
        )
        test_loss, accuracy = cross_entropy(trained, images.test[tested], images.test_labels[tested])
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            "test_loss": jnp.where(jnp.isnan(test_loss), jnp.inf, test_loss),
            "test_accuracy": accuracy,
            "initial_eigenvalue": model.recurrent.eigenvalues().astype(jnp.result_type(complex)),
            **{name: jax.vmap(quantiles)(values) for name, values in trajectory.observations.items()},
        }

    coordinates = {
        "state": np.arange(static["width"], dtype=np.int32),
        "step": kept,
        "quantile": np.asarray(QUANTILES),
    }
    start_of = StartOf(static["width"], features, classes, len(images.train), settings)
    return Program(coordinates, start_of, measure, shared=(images,))
