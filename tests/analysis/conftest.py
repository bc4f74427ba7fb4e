import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "figures"))


@pytest.fixture
def training():
    import handmade

    return handmade.training


@pytest.fixture
def perturbed():
    import handmade

    return handmade.perturbation


@pytest.fixture
def ablated():
    import handmade

    return handmade.ablation
