"""No finite float32 weight gives NaN, in value, gradient or second derivative, alone or through zero-order hold."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.parameterizations import programs
from tests.parameterizations.reference import IDS, MAPS

CONTINUOUS = [one for one in MAPS if one.link == "continuous"]
STEPS = (1.0, 1e-3, 1e3)


def _weights(bits: np.ndarray) -> np.ndarray:
    weights = bits.astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(weights), weights, np.float32(0))


# Every sign and exponent with evenly spread mantissas, and the neighbours of every power of two; subnormals are in.
_EDGES = (np.arange(512, dtype=np.uint64)[:, None] << 23) + np.array([0, 1, 2, (1 << 23) - 1], dtype=np.uint64)
DENSE = _weights(np.concatenate([np.arange(0, 2**32, 150_001, dtype=np.uint64), _EDGES.ravel()]))
BITS = arrays(np.uint32, 256, elements=st.integers(0, 2**32 - 1))
RARELY = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def _no_nan(results: dict[tuple[str, int], np.ndarray], weights: np.ndarray) -> None:
    for key, values in results.items():
        bad = np.isnan(values)
        assert not bad.any(), f"{key} is NaN at {bad.sum()} weights, the first {weights[bad][0]!r}"


@pytest.mark.matrix(3)
@pytest.mark.parametrize("parameterization", MAPS, ids=IDS)
def test_no_view_is_nan_at_any_weight(parameterization):
    _no_nan(programs.views(parameterization, DENSE), DENSE)

    @RARELY
    @given(BITS)
    def at_any_bits(bits):
        _no_nan(programs.views(parameterization, _weights(bits)), _weights(bits))

    at_any_bits()


@pytest.mark.matrix(3)
@pytest.mark.parametrize("parameterization", CONTINUOUS, ids=lambda one: one.name)
def test_zero_order_hold_is_nan_nowhere(parameterization):
    for step_size in STEPS:
        _no_nan(programs.hold(parameterization, DENSE, step_size, 3.0), DENSE)

    @RARELY
    @given(BITS, st.floats(2.0**-20, 2.0**13, width=32), st.floats(-(2.0**13), 2.0**13, width=32))
    def at_any_bits(bits, step_size, frequency):
        _no_nan(programs.hold(parameterization, _weights(bits), step_size, frequency), _weights(bits))

    at_any_bits()
