"""`stablessm show`: what a dataset holds, on the screen, as CSV or as LaTeX."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def show(
    dataset: Annotated[str, typer.Argument(help="Path of a dataset, or the name of a bundled experiment.")],
    csv: Annotated[Path | None, typer.Option(help="Write every variable without inner dimensions here.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the same as a LaTeX table here.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
) -> None:
    """Show what made a dataset, its axes, variables and outcomes; or write its table to a file.

    Examples:

        stablessm show lr_stability

        stablessm show lr_stability --csv lr_stability.csv
    """
    from stablessm import datasets
    from stablessm.cli.pipeline import raw_dataset
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.places import places

    path = Path(dataset)
    found = datasets.load(path) if path.suffix == ".nc" else raw_dataset(load_spec(dataset), places(out))
    if csv is not None:
        _write(csv, table(found).to_csv(index=False, lineterminator="\n"))
    if latex is not None:
        _write(latex, as_latex(table(found)))
    if csv is None and latex is None:
        typer.echo(summary(found))


def table(dataset: xr.Dataset) -> pd.DataFrame:
    """Return one row a cell of the sweep: its axes, then every variable that has no dimension of its own.

    Flags are written by their meaning.
    """
    sizes: dict[tuple, int] = {}
    for variable in dataset.data_vars.values():
        sizes[variable.dims] = sizes.get(variable.dims, 0) + 1
    axes = set(json.loads(dataset.attrs.get("spec", "{}")).get("axes", {})) or set(
        max(sizes, key=sizes.get, default=())
    )
    plain = dataset[[name for name, one in dataset.data_vars.items() if set(one.dims) <= axes]].copy()
    for name, one in plain.data_vars.items():
        if "flag_meanings" in one.attrs:
            import numpy as np

            meanings = _meanings(one)
            words = [meanings.get(value, str(value)) for value in one.values.ravel().tolist()]
            plain[name] = one.copy(data=np.array(words, object).reshape(one.shape))
    return plain.to_dataframe().reset_index()


def _meanings(variable: xr.DataArray) -> dict[int, str]:
    """Return code -> word of a variable with flags."""
    values = [int(value) for value in _flat(variable.attrs["flag_values"])]
    return dict(zip(values, variable.attrs["flag_meanings"].split(), strict=True))


def _flat(values: object) -> list:
    import numpy as np

    return np.atleast_1d(values).tolist()


def as_latex(rows: pd.DataFrame) -> str:
    """Return a booktabs table, special characters escaped."""
    special = {"\\": r"\textbackslash{}", **{c: "\\" + c for c in "&%$#_{}"}, "^": r"\textasciicircum{}"}

    def cell(value: object) -> str:
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        return "".join(special.get(character, character) for character in text)

    lines = [" & ".join(map(cell, row)) + r" \\" for row in rows.itertuples(index=False)]
    head = " & ".join(map(cell, rows.columns)) + r" \\"
    rule = ["\\begin{tabular}{" + "l" * len(rows.columns) + "}", r"\toprule", head, r"\midrule"]
    return "\n".join([*rule, *lines, r"\bottomrule", r"\end{tabular}", ""])


def summary(dataset: xr.Dataset) -> str:
    """Return a page: what made the dataset, its axes, its variables, and how often each outcome occurs."""
    import numpy as np

    lines = [f"{key}: {value}" for key, value in dataset.attrs.items() if key not in ("spec", "checks") and value != ""]
    lines += ["", "axes"]
    for name, coordinate in dataset.coords.items():
        values = np.asarray(coordinate).ravel()
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:6].tolist())
        lines.append(f"  {name} ({values.size}): {shown}{', ...' if values.size > 6 else ''}")
    lines += ["", "variables"]
    for name, one in dataset.data_vars.items():
        lines.append(f"  {name}{tuple(one.dims)}: {one.attrs.get('long_name', '')} [{one.attrs.get('units', '')}]")
        if "flag_meanings" in one.attrs:
            codes = zip(np.atleast_1d(one.attrs["flag_values"]), one.attrs["flag_meanings"].split(), strict=True)
            counts = [f"{meaning} {int((one == code).sum())}" for code, meaning in codes]
            lines.append(f"    {', '.join(count for count in counts if not count.endswith(' 0'))}")
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    try:
        temporary.write_text(text)
        os.replace(temporary, path)
    except OSError as error:
        raise typer.BadParameter(f"'{path}' cannot be written: {error.strerror}") from None
    typer.echo(f"saved {path}")
