import copy
import shutil
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


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The sweep `base` as a run leaves it, run once: called with a folder it puts a copy there and returns the result.

    For tests of what comes after: a sweep that is resumed, has grown, is damaged or merged.
    """
    from toy_measurement import BASE, MEASUREMENTS

    from stablessm.sweeps.run import execute

    home = tmp_path_factory.mktemp("finished")
    result = execute(BASE, out=home, measurements=MEASUREMENTS)

    def put(folder):
        shutil.copytree(home, folder, dirs_exist_ok=True)
        return result._replace(path=folder / result.path.relative_to(home), dataset=result.dataset.copy(deep=True))

    return put


@pytest.fixture
def registered(monkeypatch, measurements):
    """The toy measurement as the package's own registry."""
    monkeypatch.setattr("stablessm.measurements.MEASUREMENTS", measurements, raising=False)
    return measurements
