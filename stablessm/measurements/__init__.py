"""Measurements: values that a sweep evaluates. Importing this package imports neither JAX nor NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.measurements.approximation import APPROXIMATION
from stablessm.measurements.base import Measurement
from stablessm.measurements.certificates import CERTIFICATES
from stablessm.measurements.classification import CLASSIFICATION
from stablessm.measurements.comparison import COMPARISON
from stablessm.measurements.descent import DESCENT, LARGEST_STEP
from stablessm.measurements.exact_perturbation import EXACT_PERTURBATION
from stablessm.measurements.fit import FIT
from stablessm.measurements.generalisation import GENERALISATION
from stablessm.measurements.gradient_bound import GRADIENT_BOUND
from stablessm.measurements.gradient_law import GRADIENT_LAW
from stablessm.measurements.gradient_ratio import GRADIENT_RATIO
from stablessm.measurements.hippo import HIPPO
from stablessm.measurements.kernel_sizes import KERNEL_SIZES
from stablessm.measurements.largest_rate import LARGEST_RATE
from stablessm.measurements.layer_by_layer import LAYER_BY_LAYER
from stablessm.measurements.layer_memory import LAYER_MEMORY
from stablessm.measurements.layer_perturbation import LAYER_PERTURBATION
from stablessm.measurements.lr_stability import LR_STABILITY
from stablessm.measurements.maps import GRADIENT_SCALE, MAPS
from stablessm.measurements.memory import MEMORY
from stablessm.measurements.memory_bound import MEMORY_BOUND
from stablessm.measurements.mode_perturbation import MODE_PERTURBATION
from stablessm.measurements.nonlinear_perturbation import NONLINEAR_PERTURBATION
from stablessm.measurements.one_mode import ONE_MODE
from stablessm.measurements.perturbation import PERTURBATION
from stablessm.measurements.pointwise_network import POINTWISE_NETWORK
from stablessm.measurements.poles_and_residues import POLES_AND_RESIDUES
from stablessm.measurements.representable import REPRESENTABLE_MEMORY
from stablessm.measurements.sharpness import SHARPNESS
from stablessm.measurements.spring import SPRING
from stablessm.measurements.step_memory import STEP_MEMORY
from stablessm.measurements.training import TRAINING

MEASUREMENTS: Mapping[str, Measurement] = MappingProxyType(
    {
        one.name: one
        for one in (
            MAPS,
            GRADIENT_SCALE,
            CERTIFICATES,
            GRADIENT_RATIO,
            GRADIENT_LAW,
            FIT,
            LR_STABILITY,
            LARGEST_RATE,
            SHARPNESS,
            GENERALISATION,
            PERTURBATION,
            NONLINEAR_PERTURBATION,
            APPROXIMATION,
            EXACT_PERTURBATION,
            MEMORY,
            REPRESENTABLE_MEMORY,
            POINTWISE_NETWORK,
            GRADIENT_BOUND,
            MEMORY_BOUND,
            MODE_PERTURBATION,
            POLES_AND_RESIDUES,
            LARGEST_STEP,
            DESCENT,
            ONE_MODE,
            CLASSIFICATION,
            TRAINING,
            COMPARISON,
            STEP_MEMORY,
            KERNEL_SIZES,
            LAYER_BY_LAYER,
            LAYER_PERTURBATION,
            LAYER_MEMORY,
            SPRING,
            HIPPO,
        )
    }
)
