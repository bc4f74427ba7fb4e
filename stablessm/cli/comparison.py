"""The table of `stablessm design --table`: known maps by every criterion."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import xarray as xr


def print_table(link: str, source: Path | None, form: str) -> None:
    """Print the comparison of the maps of a dataset, or of all built-in maps that have the link.

    Args:
        link: of the maps, where they are proved now.
        source: a dataset of the measurement `certificates`, or None.
        form: "--json", "--markdown", "--latex", or "" for text.

    Raises:
        ParameterizationError: an unknown link.
        DesignError: a dataset of another measurement.
        DatasetError: a file that is missing, damaged or foreign.
    """
    from stablessm.design import pages
    from stablessm.design.table import compare

    tables = compare(_certificates(link, source))
    if form == "--json":
        typer.echo(json.dumps(pages.document(tables), indent=2))
    else:
        typer.echo({"--markdown": pages.markdown, "--latex": pages.latex}.get(form, pages.text)(tables))


def _certificates(link: str, source: Path | None) -> xr.Dataset:
    from stablessm import datasets

    if source is not None:
        return datasets.load(source)
    from stablessm.parameterizations import PARAMETERIZATIONS, ParameterizationError
    from stablessm.parameterizations.links import LINKS
    from stablessm.sweeps import run_sweep

    if link not in LINKS:
        raise ParameterizationError(f"--link must be one of {', '.join(LINKS)}, but got {link!r}.")
    maps = [name for name, one in PARAMETERIZATIONS.items() if link in one.links]
    document = {"name": "table", "measurement": "certificates", "axes": {"parameterization": maps, "link": [link]}}
    with tempfile.TemporaryDirectory() as folder:
        return run_sweep(document, out=folder)
