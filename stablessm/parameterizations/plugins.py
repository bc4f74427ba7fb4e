"""Maps that other packages bring: what they declare as entry points of the group `stablessm.parameterizations`.

An entry point NAME = "module:object" loads a `Parameterization` of that name. Nothing is imported from other packages
until somebody asks for a map that is not built in, or for all maps there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.record import Parameterization

GROUP = "stablessm.parameterizations"


class Catalogue(Mapping[str, Parameterization]):
    """The built-in maps, and behind them those of other packages, in the order of their names.

    Attributes:
        built_in: the maps of this package.
    """

    def __init__(self, built_in: Mapping[str, Parameterization]) -> None:
        """Keep the built-in maps.

        Args:
            built_in: name -> map.
        """
        self.built_in = built_in

    @cached_property
    def _brought(self) -> dict[str, Parameterization]:
        points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
        return {point.name: _loaded(point, self.built_in) for point in points}

    def __getitem__(self, name: str) -> Parameterization:
        """Return the map of a name.

        Raises:
            KeyError: there is none.
            ParameterizationError: a package that brings maps is broken, or its map is no stable one.
        """
        return self.built_in[name] if name in self.built_in else self._brought[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a map of this name."""
        return name in self.built_in or name in self._brought

    def __iter__(self) -> Iterator[str]:
        """Names, the built-in ones first."""
        yield from self.built_in
        yield from self._brought

    def __len__(self) -> int:
        """How many maps there are."""
        return len(self.built_in) + len(self._brought)

    def __repr__(self) -> str:
        """Their names."""
        return f"Catalogue({', '.join(self)})"


def _loaded(point: EntryPoint, built_in: Mapping[str, Parameterization]) -> Parameterization:
    package = point.dist.name if point.dist else point.value
    said = f"the map {point.name!r} of the package {package!r}"
    if point.name in built_in:
        raise ParameterizationError(f"{said} has the name of a built-in map")
    try:
        map_ = point.load()
    except Exception as error:
        raise ParameterizationError(f"{said} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(map_, Parameterization):
        raise ParameterizationError(f"{said} must be a Parameterization, but {point.value} is a {type(map_).__name__}")
    if map_.name != point.name:
        raise ParameterizationError(f"{said} must have that name, but is called {map_.name!r}")
    if map_.missing_constants:
        raise ParameterizationError(f"{said} needs a value for {', '.join(map_.missing_constants)}")
    return map_
