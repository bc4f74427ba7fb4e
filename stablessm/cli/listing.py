"""`stablessm list`: every pluggable thing, with its formula or one-line meaning and its reference."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Annotated

import typer

Rows = list[tuple[str, ...]]


def _parameterizations() -> Rows:
    from stablessm.parameterizations import PARAMETERIZATIONS

    rows: Rows = [("map", "link", "decay s(w)", "constants", "reference")]
    for one in PARAMETERIZATIONS.values():
        constants = ", ".join(f"{name}={value:g}" for name, value in one.constants.items())
        rows += [(one.name, link, formula, constants, one.reference) for link, formula in one.formulas]
    return rows


def _measurements() -> Rows:
    from stablessm.measurements import MEASUREMENTS

    return [("measurement", "meaning", "reference")] + [
        (one.name, one.summary, one.reference) for one in MEASUREMENTS.values()
    ]


def _targets() -> Rows:
    from stablessm.targets import TARGETS

    def constants(one: object) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in getattr(one, "values", ()))

    rows: Rows = [("target", "rho(t)", "constants", "reference")]
    return rows + [(one.name, one.formula, constants(one), one.reference) for one in TARGETS.values()]


def _optimizers() -> Rows:
    from stablessm.training import OPTIMIZERS

    return [("optimizer", "meaning")] + [(one.name, one.summary) for one in OPTIMIZERS.values()]


def _data() -> Rows:
    from stablessm.data import DATA_SETS

    return [("data set", "meaning", "licence", "citation")] + [
        (one.name, one.summary, one.licence, one.citation) for one in DATA_SETS.values()
    ]


def _experiments() -> Rows:
    import tomllib

    from stablessm.sweeps.places import bundled, names

    rows: Rows = [("experiment", "measurement", "title")]
    for name in names("experiments"):
        declaration = tomllib.loads((bundled("experiments") / f"{name}.toml").read_text())
        rows.append((name, declaration.get("measurement", ""), declaration.get("title", "")))
    return rows


def meanings(kind: str) -> dict[str, str]:
    """Return name -> one-line meaning of the bundled analyses or figures.

    Args:
        kind: "analysis" or "figures".
    """
    import ast

    from stablessm.parameterizations.grammar import syntax_tree
    from stablessm.sweeps.places import bundled, names

    trees = {name: syntax_tree((bundled(kind) / f"{name}.py").read_text(), "exec") for name in names(kind)}
    return {name: (ast.get_docstring(tree) or "").split("\n")[0] for name, tree in trees.items()}


def _files(kind: str) -> Callable[[], Rows]:
    return lambda: [(kind, "meaning"), *meanings(kind).items()]


def _benchmarks() -> Rows:
    from stablessm.bench import BENCHMARKS

    return [("benchmark", "meaning")] + [(one.name, one.summary) for one in BENCHMARKS.values()]


def _layers() -> Rows:
    from stablessm.layers import LAYERS

    return [("layer", "meaning", "reference")] + [(one.name, one.summary, one.reference) for one in LAYERS.values()]


def _activations() -> Rows:
    from stablessm.layers import ACTIVATIONS

    rows: Rows = [("activation", "sigma(h)", "Lipschitz constant", "strictly increasing")]
    return rows + [
        (one.name, one.formula, f"{one.lipschitz:.6g}", "yes" if one.strictly_increasing else "no")
        for one in ACTIVATIONS.values()
    ]


def _claims() -> Rows:
    from stablessm.claims import CLAIMS

    return [("claim", "what is claimed", "source", "decided from")] + [
        (one.key, one.text, one.source, ", ".join(one.reads)) for one in CLAIMS.values()
    ]


KINDS: dict[str, Callable[[], Rows]] = {
    "parameterizations": _parameterizations,
    "targets": _targets,
    "measurements": _measurements,
    "optimizers": _optimizers,
    "experiments": _experiments,
    "analyses": _files("analysis"),
    "figures": _files("figures"),
    "data": _data,
    "benchmarks": _benchmarks,
    "layers": _layers,
    "activations": _activations,
    "claims": _claims,
}


def list_(
    kind: Annotated[str | None, typer.Argument(help=f"One of {', '.join(KINDS)}; all of them by default.")] = None,
) -> None:
    """List every pluggable thing, with its formula or one-line meaning and its reference.

    Examples:

        stablessm list

        stablessm list parameterizations
    """
    if kind is not None and kind not in KINDS:
        near = get_close_matches(kind, KINDS, 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise typer.BadParameter(f"KIND must be one of {', '.join(KINDS)}, but got {kind!r}{hint}")
    blocks = [_table(KINDS[one]()) for one in ([kind] if kind else KINDS)]
    typer.echo("\n\n".join(blocks))


def _table(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
