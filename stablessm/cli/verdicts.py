"""The verdicts of every built-in map under every legal link, as a page and as a dataset."""

from __future__ import annotations

from pathlib import Path


def write_verdicts(path: Path) -> list[Path]:
    """Verify every built-in map; return the files written.

    Args:
        path: of the page, Markdown; the dataset is beside it, NAME.nc.

    Raises:
        DatasetError: the dataset there is foreign.
        WriteError: the disk refuses.
    """
    from stablessm import datasets
    from stablessm.parameterizations import PARAMETERIZATIONS
    from stablessm.theory import certified
    from stablessm.theory.documents import verdict_table
    from stablessm.theory.table import as_dataset
    from stablessm.writing import write_whole

    found = [certified(one.replace(link=link)) for one in PARAMETERIZATIONS.values() for link in one.links]
    write_whole(path, verdict_table(found).encode())
    datasets.save(as_dataset(found), path.with_suffix(".nc"))
    return [path, path.with_suffix(".nc")]
