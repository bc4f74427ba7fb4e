"""The page of claims, from the datasets that a folder of results holds."""

from __future__ import annotations

from pathlib import Path

from stablessm.sweeps.places import Places


def evidence_files(where: Places, scale: str) -> dict[str, Path]:
    """Return the files that claims are decided from, those that are there, by the name a claim has for them.

    Args:
        where: the folders of results.
        scale: quick or full.
    """
    from stablessm.claims import CLAIMS
    from stablessm.sweeps.places import stem

    found = {}
    for name in dict.fromkeys(one for claim in CLAIMS.values() for one in claim.reads):
        experiment, _, analysis = name.partition(".")
        path = where.dataset(experiment, scale)
        if analysis:
            path = where.analysis / f"{stem(experiment, scale)}.{analysis}.nc"
        if path.exists():
            found[name] = path
    return found


def write_claims(where: Places, scale: str) -> list[Path]:
    """Decide every claim and write the page and its dataset.

    Args:
        where: the folders of results.
        scale: quick or full.

    Raises:
        DatasetError: a file is damaged or foreign.
        WriteError: the disk refuses.
    """
    from stablessm import datasets
    from stablessm.claims import CLAIMS, decide
    from stablessm.claims.page import as_dataset, as_markdown
    from stablessm.sweeps.places import stem
    from stablessm.writing import write_whole

    evidence = {name: datasets.load(path) for name, path in evidence_files(where, scale).items()}
    findings = {key: decide(claim, evidence) for key, claim in CLAIMS.items()}
    page, data = (where.analysis / f"{stem('claims', scale)}{end}" for end in (".md", ".nc"))
    datasets.save(as_dataset(findings, scale), data)
    write_whole(page, as_markdown(findings, scale).encode())
    return [page, data]
