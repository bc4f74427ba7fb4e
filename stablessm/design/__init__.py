"""Maps for a purpose: from a criterion to the map that meets it, the other way round from `theory`. See README.md.

Importing the package imports neither SymPy nor JAX; every public name is loaded when first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from stablessm.design.errors import DesignError, Unsolved

if TYPE_CHECKING:
    from stablessm.design.learning import learn
    from stablessm.design.scale import from_gradient_scale
    from stablessm.design.solution import Design
    from stablessm.design.step import from_stable_step

_HOMES = {"Design": "solution", "from_gradient_scale": "scale", "from_stable_step": "step", "learn": "learning"}
__all__ = ["Design", "DesignError", "Unsolved", "from_gradient_scale", "from_stable_step", "learn"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(f"stablessm.design.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'stablessm.design' has no attribute {name!r}")
