"""Session set-up: tests that need 64-bit floats run in a process of their own."""

import os

import pytest

FLOAT64 = os.environ.get("JAX_ENABLE_X64", "").lower() in ("1", "true", "yes", "on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the other precision: JAX_ENABLE_X64=1 selects those marked float64, its absence the rest.

    Deselected and not skipped: a run that reports "passed" has run each of its tests in the precision it was meant for.
    """
    keep = [item for item in items if ("float64" in item.keywords) == FLOAT64]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(keep)])
    items[:] = keep
