import copy
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def base():
    """A small declaration: 2 maps, 3 seeds, 3 rates; 9 cells a map in 3 work items, the last with 3 of padding."""
    from toy_measurement import BASE

    return copy.deepcopy(BASE)


@pytest.fixture
def measurements():
    from toy_measurement import MEASUREMENTS

    return MEASUREMENTS


@pytest.fixture
def registered(monkeypatch, measurements):
    """The toy measurement as the package's own registry."""
    monkeypatch.setattr("stablessm.measurements.MEASUREMENTS", measurements, raising=False)
    return measurements
