"""The verdicts of every built-in map under every legal link, as a page."""

from __future__ import annotations

from pathlib import Path


def write_verdicts(path: Path) -> list[Path]:
    """Verify every built-in map; return the one file written.

    Args:
        path: of the page, Markdown.

    Raises:
        WriteError: the disk refuses.
    """
    from stablessm.parameterizations import PARAMETERIZATIONS
    from stablessm.theory import certified
    from stablessm.theory.documents import verdict_table
    from stablessm.writing import write_whole

    found = [certified(one.replace(link=link)) for one in PARAMETERIZATIONS.values() for link in one.links]
    write_whole(path, verdict_table(found).encode())
    return [path]
