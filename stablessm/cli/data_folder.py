"""`--data FOLDER`: where the user keeps data sets, the same as STABLESSM_DATA."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from stablessm.data.registry import FOLDER_VARIABLE

DataFolder = Annotated[
    Path | None, typer.Option("--data", metavar="FOLDER", help=f"Folder of data sets ({FOLDER_VARIABLE}).")
]


def use_data_folder(folder: Path | None) -> None:
    """Let loaders look in the folder that was named, if one was.

    Raises:
        typer.BadParameter: it is no folder.
    """
    if folder is None:
        return
    if not folder.is_dir():
        raise typer.BadParameter(f"--data must be a folder that holds the data sets, but got '{folder}'")
    os.environ[FOLDER_VARIABLE] = str(folder)
