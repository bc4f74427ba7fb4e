"""What can be proved about a parameterization, from its one formula. See README.md for how.

Importing the package does not import SymPy; every public name is loaded when first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stablessm.theory.cache import certified as certified
    from stablessm.theory.certificate import Certificate as Certificate
    from stablessm.theory.certificate import document as document
    from stablessm.theory.statement import CounterExample as CounterExample
    from stablessm.theory.statement import Statement as Statement
    from stablessm.theory.verification import verify as verify

_HOMES = {
    "certified": "cache",
    "Certificate": "certificate",
    "document": "certificate",
    "CounterExample": "statement",
    "Statement": "statement",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(f"stablessm.theory.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'stablessm.theory' has no attribute {name!r}")
