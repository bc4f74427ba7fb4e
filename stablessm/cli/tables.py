"""Datasets as tables: tidy rows for CSV, booktabs for LaTeX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import typer

from stablessm.tabular import INNER, rows

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_SPECIAL = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", **{one: "\\" + one for one in "&%$#_{}"},
}  # fmt: skip
_LONG = 40


def selected(dataset: xr.Dataset, variables: Sequence[str]) -> xr.Dataset:
    """Return the variables of a table.

    Args:
        dataset: what is shown.
        variables: names of them; by default every one that has no dimension beyond the axes of the sweep.

    Raises:
        typer.BadParameter: a name that the dataset does not have.
    """
    from stablessm.sweeps.errors import unknown

    for name in variables:
        if name not in dataset.data_vars:
            raise typer.BadParameter(f"--variable: {unknown('variable', name, map(str, dataset.data_vars))}")
    try:
        axes = set(json.loads(dataset.attrs["spec"])["axes"])
    except (KeyError, TypeError, ValueError):  # a dataset, but not of a sweep
        axes = set(dataset.dims) - set(INNER)
    chosen = variables or [name for name, one in dataset.data_vars.items() if set(one.dims) <= axes]
    return dataset[list(chosen or dataset.data_vars)]


def as_csv(dataset: xr.Dataset) -> str:
    """Return the tidy table as CSV; a heading holds the units in brackets where there are any.

    Args:
        dataset: variables to be shown together.
    """
    table = rows(dataset)
    units = {name: dataset[name].attrs.get("units", "1") for name in table.columns}
    heads = [name if units[name] == "1" else f"{name} [{units[name]}]" for name in table.columns]
    return table.to_csv(index=False, header=heads, lineterminator="\n")


def as_latex(dataset: xr.Dataset) -> str:
    """Return one booktabs table for each set of variables that share their axes; special characters are escaped.

    An axis of one value is told in the comment above and not repeated in each row; a long table is a longtable.

    Args:
        dataset: variables to be shown.
    """
    groups: dict[tuple, list[str]] = {}
    for name, one in dataset.data_vars.items():
        groups.setdefault(one.dims, []).append(name)
    blocks = ["% needs \\usepackage{booktabs,longtable,textcomp}"]
    for dims, names in groups.items():
        single = {name: dataset[name].values[0] for name in dims if dataset.sizes[name] == 1 and name in dataset.coords}
        kept = [name for name in dims if name not in single]
        table = rows(dataset[names])[[*kept, *names]]
        about = ", ".join(f"{name} = {value}" for name, value in single.items())
        blocks.append("\n".join([f"% {about or dataset.attrs.get('name', '')}".replace("\n", " "), *_tabular(table)]))
    return "\n\n".join(blocks) + "\n"


def _tabular(table: pd.DataFrame) -> list[str]:
    numeric = [kind.kind in "fiu" for kind in table.dtypes]
    columns = "".join("r" if one else "l" for one in numeric)
    kind = "longtable" if len(table) > _LONG else "tabular"
    head = [r"\toprule", " & ".join(escaped(str(name)) for name in table.columns) + r" \\", r"\midrule"]
    body = [" & ".join(map(_cell, row)) + r" \\" for row in table.itertuples(index=False)]
    if kind == "longtable":
        head.append(r"\endhead")
    return [rf"\begin{{{kind}}}{{{columns}}}", *head, *body, r"\bottomrule", rf"\end{{{kind}}}"]


def _cell(value: object) -> str:
    """Return a value as LaTeX: four significant digits, powers of ten as such."""
    if not isinstance(value, float | np.floating):
        return escaped(str(value))
    if np.isnan(value):
        return "--"
    if np.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"${mantissa} \times 10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"


def escaped(text: str) -> str:
    """Return a text with every character that LaTeX reads specially escaped."""
    return "".join(_SPECIAL.get(character, character) for character in text)
