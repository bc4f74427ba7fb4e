"""Maps for a purpose: from a criterion to the map that meets it, the other way round from `theory`."""

from stablessm.design.errors import DesignError, Unsolved
from stablessm.design.learn import learn
from stablessm.design.scale import from_gradient_scale
from stablessm.design.solution import Design
from stablessm.design.step import from_stable_step

__all__ = ["Design", "DesignError", "Unsolved", "from_gradient_scale", "from_stable_step", "learn"]
