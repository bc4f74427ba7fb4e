"""Sweeps as data: declarations read and checked, planned into work items, run, stored and exported.

Importing this package imports nothing heavy; its names are loaded when first used.
"""

from importlib import import_module as _import_module
from typing import Any

_HOMES = {
    "Plan": "stablessm.sweeps.plan",
    "Spec": "stablessm.sweeps.spec",
    "SpecError": "stablessm.sweeps.errors",
    "StoreError": "stablessm.sweeps.errors",
    "SweepError": "stablessm.sweeps.errors",
    "execute": "stablessm.sweeps.run",
    "load_spec": "stablessm.sweeps.declarations",
    "run_sweep": "stablessm.sweeps.run",
    "spec_from_json": "stablessm.sweeps.declarations",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
