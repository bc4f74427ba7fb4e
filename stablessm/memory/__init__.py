"""What a model remembers: memory functions of any model, and how fast they decay.

The memory functions are JAX; the fits are NumPy and SciPy alone, so that analyses can use them. Importing this package
imports neither.
"""

from importlib import import_module as _import_module
from typing import Any

_HOMES = {
    "answer": "stablessm.memory.queries",
    "heaviside": "stablessm.memory.functions",
    "impulse": "stablessm.memory.functions",
    "memory_function": "stablessm.memory.supremum",
    "of_kernel": "stablessm.memory.functions",
    "context_differences": "stablessm.memory.functions",
    "ContextBound": "stablessm.memory.bound",
    "context_bound": "stablessm.memory.bound",
    "DecayFit": "stablessm.memory.decay",
    "fit_decay": "stablessm.memory.decay",
}
__all__ = [
    "ContextBound",
    "DecayFit",
    "answer",
    "context_bound",
    "context_differences",
    "fit_decay",
    "heaviside",
    "impulse",
    "memory_function",
    "of_kernel",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stablessm.memory' has no attribute {name!r}")
