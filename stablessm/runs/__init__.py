"""Training runs: declared, taken up where they were, evaluated."""

from typing import Any as _Any

from stablessm.runs.declaration import Declaration as Declaration
from stablessm.runs.declaration import RunError as RunError

_HOMES = {
    "TrainingResult": "training",
    "evaluate": "evaluation",
    "load_declaration": "reading",
    "sample": "sampling",
    "train": "training",
}


def __getattr__(name: str) -> _Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"stablessm.runs.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'stablessm.runs' has no attribute {name!r}")
