"""Where tables are printed: as wide as the terminal, and where there is none as wide as they need to be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 10_000  # columns; a table takes what it needs of them


def table_console() -> Console:
    """Return the console for tables on stdout.

    In a file or a pipe Rich would take 80 columns and break the words of a table into pieces. COLUMNS, where it is set,
    decides all the same.
    """
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(highlight=False, width=_WIDE)
