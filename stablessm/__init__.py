"""stablessm: what the map from weight to eigenvalue does to a state-space model.

Importing the package imports neither JAX nor SymPy; every public name is loaded when first used.
"""

from importlib import import_module as _import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "PARAMETERIZATIONS": "stablessm.parameterizations",
    "Parameterization": "stablessm.parameterizations",
    "ParameterizationError": "stablessm.parameterizations",
    "evaluate": "stablessm.runs",
    "gradient_ratio": "stablessm.measurements.own_weights",
    "verify": "stablessm.theory",
    "run_sweep": "stablessm.sweeps",
    "sample": "stablessm.runs",
    "train": "stablessm.runs",
}
__all__ = [
    "PARAMETERIZATIONS",
    "Parameterization",
    "ParameterizationError",
    "evaluate",
    "gradient_ratio",
    "run_sweep",
    "sample",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stablessm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
