"""`stablessm report`: one page of everything that a folder of results holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.options import Out
from stablessm.cli.quiet import quiet
from stablessm.cli.reproduce import MAIN_JOB

if TYPE_CHECKING:
    from stablessm.report.gathering import Experiment, Run
    from stablessm.report.sections import Map


def report(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="[EXPERIMENT ...]", help="By default all that there are.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page; an older one is replaced.", metavar="FILE")
    ] = Path("report.html"),
    out: Out = None,
) -> None:
    """Write one self-contained HTML page: questions, verdicts, curves that can be changed, figures, tables, provenance.

    It is made of the datasets and figures that are there, at both scales, and needs no network to be read. The claims
    are those that `stablessm reproduce` has decided; maps whose verdicts are not stored are verified here.

    Examples:

        stablessm report

        stablessm report lr_stability digits -o rates.html

        stablessm report --out mine
    """
    from stablessm import __version__
    from stablessm.cli.pipeline import writing
    from stablessm.plotting.saving import write_text
    from stablessm.report import gather, page, section
    from stablessm.report.gathering import in_order, names, pages
    from stablessm.report.sections import claims as as_claims
    from stablessm.report.sections import maps as as_maps
    from stablessm.sweeps.folders import check, check_file

    where = check(out, writing=False)
    _refuse_other(output)
    check_file(output, "--output")
    there = names(where.raw, where.analysis)
    chosen = in_order(_chosen(experiments, there, where.raw), [] if experiments else MAIN_JOB)
    found = [gather(where.raw, where.analysis, where.figures, name) for name in _counted(chosen)]
    by_scale = pages(where.analysis, "claims")
    scale = "quick" if "quick" in by_scale else next(iter(by_scale), "quick")
    decided = as_claims(by_scale[scale]) if by_scale else ()
    if experiments:
        decided = tuple(one for one in decided if set(one.experiments) & set(chosen))
    stored = pages(where.analysis, "verdicts").get("quick")
    maps = as_maps(stored) if stored is not None and not experiments else ()
    from stablessm.theory.mathml import as_mathml, with_mathml

    known = as_maps(stored) if stored is not None else ()
    maps += tuple(_verified(found, known, maps))
    meaning = _meanings()
    text = page(
        [section(one, decided, meaning) for one in found], decided, maps, as_mathml, with_mathml,
        claims_scale=scale, version=__version__,
    )  # fmt: skip
    with writing():
        write_text(output, text)
    typer.echo(f"saved {output} ({len(text.encode()) / 1e6:.1f} MB, {len(found)} experiments)")


def _refuse_other(output: Path) -> None:
    if output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"--output must be the name of a page such as report.html, but got '{output}'")


def _chosen(experiments: list[str] | None, there: Sequence[str], raw: Path) -> list[str]:
    """Return the names asked for, each once, comma lists too; those of all that there are by default."""
    from stablessm.cli.pipeline import MissingDataset
    from stablessm.sweeps.errors import unknown
    from stablessm.sweeps.places import names as bundled_names

    if not there:
        raise MissingDataset(f"'{raw}' holds no dataset to report on; make some with: stablessm run EXPERIMENT")
    wanted = list(dict.fromkeys(part.strip() for entry in experiments or there for part in entry.split(",")))
    for name in wanted:
        if name in bundled_names("experiments") and name not in there:
            raise MissingDataset(f"'{raw}' holds no dataset of '{name}'; make it with: stablessm run {name}")
        if name not in there:
            raise typer.BadParameter(unknown("experiment", name, there))
    return wanted


def _counted(names: Sequence[str]) -> Iterable[str]:
    """Return names with a bar on stderr, in a terminal."""
    if quiet() or not sys.stderr.isatty():
        return names
    from rich.console import Console
    from rich.progress import track

    return track(names, "reading", console=Console(stderr=True), transient=True)


def _verified(found: Sequence[Experiment], known: Sequence[Map], shown: Sequence[Map]) -> Iterator[Map]:
    """Yield the maps of experiments that are not shown yet; what is not known is verified here."""
    from stablessm.parameterizations import Parameterization
    from stablessm.report.sections import maps
    from stablessm.theory import certified
    from stablessm.theory.table import as_dataset

    by_content = {(one.formula, one.link): one for one in known}
    seen = {(one.formula, one.link) for one in shown}
    for label, formula, link, constants in (entry for one in found for run in one.runs for entry in _maps_of(run)):
        if (formula, link) in seen:
            continue
        seen.add((formula, link))
        if (formula, link) in by_content:
            yield by_content[formula, link]
        else:
            one = Parameterization.from_formula(formula, constants=constants, link=link, name=label)
            yield from maps(as_dataset([certified(one)]))


def _maps_of(run: Run) -> Iterator[tuple[str, str, str, dict[str, float]]]:
    """Yield label, formula, link and constants of each map of a sweep."""
    every = [run.raw, *run.analyses.values()]
    dataset = next((one for one in every if one is not None and "formula" in one.coords and "link" in one.coords), None)
    if dataset is None:
        return
    declared = run.declared.get("axes", {}).get("parameterization", [])
    constants = {one.get("label"): one.get("constants", {}) for one in declared if isinstance(one, dict)}
    table = dataset[["formula", "link", "parameterization"]].to_dataframe().reset_index()
    for row in table.itertuples():
        if row.formula:
            yield row.parameterization, row.formula, row.link, constants.get(row.parameterization, {})


def _meanings() -> Callable[[str], str]:
    """Return name of a figure -> what it shows."""
    from stablessm.cli.listing import meanings

    known = meanings("figures")
    return lambda name: known.get(name, name.replace("_", " ")).rstrip(".")
