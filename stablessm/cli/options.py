"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _folder(text: str) -> Path:
    """Read a folder; an empty text, an unset variable of the shell say, is not the current one."""
    if not str(text):
        raise typer.BadParameter("a folder must have a name, but got ''; give . for the current one.")
    return Path(text)


Out = Annotated[Path | None, typer.Option(help="Folder of the results.", parser=_folder, metavar="FOLDER")]
OutNeeded = Annotated[
    Path,
    typer.Option("--out", help="Folder of the results; nothing there is replaced.", parser=_folder, metavar="FOLDER"),
]
