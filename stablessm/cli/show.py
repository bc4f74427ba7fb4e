"""`stablessm show`: what a dataset holds, on the screen, as CSV or as LaTeX."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stablessm.cli.options import Out

if TYPE_CHECKING:
    import xarray as xr


def show(
    dataset: Annotated[
        str, typer.Argument(help="Path of a dataset, an experiment, or EXPERIMENT.ANALYSIS for what it returned.")
    ],
    csv: Annotated[Path | None, typer.Option(help="Write a tidy table here: one row a cell of the sweep.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write booktabs tables here.")] = None,
    variable: Annotated[
        list[str] | None, typer.Option("--variable", help="Variables of the table; may be repeated, or a comma list.")
    ] = None,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Out = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the run of an experiment, or of a store.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="How often to look, with --watch.")] = 2.0,
) -> None:
    """Show what made a dataset, its axes, variables and outcomes; or write its table to a file.

    A table holds every variable without dimensions of its own, flags by their meaning.

    Examples:

        stablessm show lr_stability

        stablessm show lr_stability --csv lr_stability.csv

        stablessm show lr_stability.stable_rates --variable median_largest_rate,rank --latex rates.tex

        stablessm show lr_stability --scale full --watch
    """
    from stablessm.cli.destinations import check_destinations
    from stablessm.cli.pipeline import writing
    from stablessm.cli.tables import as_csv, as_latex, selected
    from stablessm.plotting.saving import write_text
    from stablessm.sweeps.folders import check

    check(out, writing=False)
    if watch:
        if csv is not None or latex is not None or variable:
            raise typer.BadParameter("--watch follows a run: it takes no --csv, --latex or --variable")
        if not 0.1 <= every <= 3600:
            raise typer.BadParameter(f"--every must be a number of seconds from 0.1 to 3600, but got {every:g}")
        _watch(dataset, scale, out, every)
        return
    path, found = _found(dataset, scale, out)
    names = [part.strip() for entry in variable or () for part in entry.split(",")]
    chosen = selected(found, names)
    check_destinations({"--csv": csv, "--latex": latex}, path)
    for file, write in ((csv, as_csv), (latex, as_latex)):
        if file is not None:
            with writing():
                write_text(file, write(chosen))
            typer.echo(f"saved {file}")
    if csv is None and latex is None:
        _print(path, found[names] if names else found)
        _tell_of_store(path.with_suffix(".zarr"))


def _tell_of_store(folder: Path) -> None:
    """Say where the store beside a dataset is not whole any more: the dataset is, but merging and growing need both."""
    from stablessm.sweeps.errors import SpecError, StoreError
    from stablessm.sweeps.snapshot import lost

    if not (folder / "sweep.json").is_file():
        return
    try:
        said = lost(folder)
    except (StoreError, SpecError) as error:
        typer.echo(f"note: the dataset is whole, but {error}")
        return
    if said:
        typer.echo(f"note: the dataset is whole, but {said}; stablessm run computes them again")


def _watch(name: str, scale: str, out: Path | None, seconds: float) -> None:
    from stablessm.cli.pipeline import MissingDataset
    from stablessm.cli.progress import follow
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.places import places

    path = Path(name)
    if path.suffix != ".zarr":
        spec = load_spec(name, scale=scale)
        name, path = spec.name, places(out).store(spec.name, spec.scale)
    try:
        os.lstat(path)
    except FileNotFoundError:
        raise MissingDataset(f"'{path}' is not there: no run of it has begun in this folder") from None
    except OSError:  # said when it is read
        pass
    follow(name, path, seconds)


def _found(name: str, scale: str, out: Path | None) -> tuple[Path, xr.Dataset]:
    """Return the dataset that is meant, and its file."""
    from stablessm import datasets
    from stablessm.cli.pipeline import analysis_dataset, analysis_path, arguments, raw_dataset
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.errors import unknown
    from stablessm.sweeps.places import names, places

    path = Path(name)
    if path.suffix == ".nc":
        return path, datasets.load(path)
    where = places(out)
    experiment, dot, analysis = name.partition(".")
    if dot and experiment in names("experiments"):
        spec = load_spec(experiment, scale=scale)
        if analysis not in spec.analyses:
            raise typer.BadParameter(unknown(f"analysis of '{experiment}'", analysis, spec.analyses))
        given = arguments(experiment, scale, out)
        return analysis_path(spec, where, analysis), analysis_dataset(spec, where, analysis, given=given)
    spec = load_spec(name, scale=scale)
    return where.dataset(spec.name, spec.scale), raw_dataset(spec, where, given=arguments(name, scale, out))


def _print(path: Path, dataset: xr.Dataset) -> None:
    """Print a page: what made the dataset, its axes, how often each outcome occurs, its variables."""
    from rich.markup import escape
    from rich.table import Table

    from stablessm.cli.console import table_console

    console = table_console()
    for title, heads, body in _tables(path, dataset):
        table = Table(*heads, title=title, title_justify="left", box=None, show_header=any(heads), padding=(0, 2, 0, 0))
        for row in body:
            table.add_row(*map(escape, row))
        console.print(table)
        console.print()


def _tables(path: Path, dataset: xr.Dataset) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    from stablessm.tabular import meanings

    yield str(path), ("", ""), _made_by(path, dataset)
    axes = [
        (str(name), str(one.size), _values(one), one.attrs.get("long_name", "")) for name, one in dataset.coords.items()
    ]
    yield "axes", ("name", "values", "", "meaning"), axes
    for name, one in dataset.data_vars.items():
        if "flag_meanings" in one.attrs and name != "status":
            codes = meanings(one)
            counts = {word: (one == code) for code, word in codes.items() if (one == code).any()}
            maps = one["parameterization"].values if "parameterization" in one.dims else []
            body = [
                (str(label), *(str(int(where.sel(parameterization=label).sum())) for where in counts.values()))
                for label in maps
            ]
            body.append(("all", *(str(int(where.sum())) for where in counts.values())))
            yield f"{name}: {one.attrs['long_name']}", ("", *counts), body
    variables = [
        (str(name), _dimensions(one), one.attrs["units"], _range(one, dataset.get("status")), one.attrs["long_name"])
        for name, one in dataset.data_vars.items()
    ]
    yield "variables", ("name", "dimensions", "units", "range", "meaning"), variables


def _made_by(path: Path, dataset: xr.Dataset) -> list[tuple[str, ...]]:
    """Return what made it: attributes, and what the provenance file beside it adds."""
    hidden = ("spec", "checks", "source")
    made = {key: value for key, value in dataset.attrs.items() if key not in hidden and value != ""}
    beside = path.with_suffix(".provenance.json")
    try:
        about: Any = json.loads(beside.read_text())
    except (OSError, ValueError):
        about = {}
    about = about if isinstance(about, dict) else {}
    made |= {key: about[key] for key in ("commit", "finished", "seconds", "device", "executor") if about.get(key)}
    checks = dataset.attrs.get("checks")
    made |= {f"checked {key}": value for key, value in (checks if isinstance(checks, dict) else {}).items()}
    return [(str(key), str(value)) for key, value in made.items()]


def _dimensions(variable: xr.DataArray) -> str:
    """Return its dimensions of more than one value."""
    return ", ".join(str(name) for name, size in variable.sizes.items() if size > 1) or "one value"


def _values(coordinate: xr.DataArray) -> str:
    values = coordinate.values.ravel().tolist()
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:4], "...", shown[-1]])


def _range(variable: xr.DataArray, status: xr.DataArray | None) -> str:
    """Return the range of its numbers in the cells that are done, and how many are strange or not there yet."""
    import numpy as np
    import xarray as xr

    if "flag_meanings" in variable.attrs or variable.dtype.kind not in "fiu" or variable.dtype == np.uint64:
        return ""
    done = np.ones(variable.shape, bool)
    if status is not None and set(status.dims) <= set(variable.dims):
        done = xr.broadcast(status == 1, variable)[0].transpose(*variable.dims).values
    values = variable.values[done]
    finite = values[np.isfinite(values)]
    span = f"{finite.min():.4g} to {finite.max():.4g}" if finite.size else "nothing finite"
    strange = {
        "inf": int(np.isinf(values).sum()), "nan": int(np.isnan(values).sum()), "not done": int((~done).sum()),
    }  # fmt: skip
    return ", ".join([span, *(f"{count} {kind}" for kind, count in strange.items() if count)])
