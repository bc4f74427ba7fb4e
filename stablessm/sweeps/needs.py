"""What analyses and figures need of a sweep, held against what its measurement gives before anything runs.

Each module in `analysis/` and `figures/` says it itself, as literals that are read and not run:

    NEEDS = ("outcome", "learning_rate", "seed")    names in the dataset: axes, inner dimensions, variables
    READS = ("stable_rates",)                       figures only: "raw", or the analyses whose datasets it draws
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stablessm.parameterizations.grammar import syntax_tree
from stablessm.sweeps import places
from stablessm.sweeps.errors import Where

if TYPE_CHECKING:
    from stablessm.measurements.base import Variable


class Needs(NamedTuple):
    """What a module says it needs.

    Attributes:
        names: axes, inner dimensions and variables of every dataset it is given.
        reads: "raw" or names of analyses; of an analysis always "raw".
    """

    names: tuple[str, ...]
    reads: tuple[str, ...]


def needs(kind: str, name: str) -> Needs:
    """Return what a bundled analysis or figure needs.

    Args:
        kind: "analysis" or "figures".
        name: stem of its file.
    """
    said: dict[str, Any] = {"NEEDS": (), "READS": ("raw",)}
    tree = syntax_tree((places.bundled(kind) / f"{name}.py").read_text(encoding="utf-8"), "exec")
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in said:
            said[node.targets[0].id] = ast.literal_eval(node.value)
    return Needs(tuple(said["NEEDS"]), tuple(said["READS"]))


def refuse_unmet(
    analyses: Sequence[str],
    figures: Sequence[str],
    *,
    axes: Iterable[str],
    variables: Mapping[str, Variable],
    measurement: str,
    where: Where,
) -> None:
    """Raise a `SpecError` where an analysis or a figure asks for more than the sweep will hold.

    Args:
        analyses: names of bundled analyses.
        figures: names of bundled figures.
        axes: names of the axes of the sweep.
        variables: what the measurement returns.
        measurement: its name, for the sentence.
        where: the place of the declaration.
    """
    given = {*axes, *variables, *(dimension for one in variables.values() for dimension in one.dims)}
    for key, kind, folder, names in (
        ("analyses", "analysis", "analysis", analyses),
        ("figures", "figure", "figures", figures),
    ):
        for name in names:
            wanted = needs(folder, name)
            missing = [one for one in wanted.names if one not in given]
            if missing:
                raise where.at(key).error(
                    f"the {kind} {name!r} needs {', '.join(missing)}, which a sweep of the measurement "
                    f"{measurement!r} over these axes does not hold"
                )
            unread = [one for one in wanted.reads if one != "raw" and one not in analyses]
            if unread:
                raise where.at(key).error(
                    f"the {kind} {name!r} draws what the analysis {unread[0]!r} returns; "
                    "name that one among the analyses"
                )
