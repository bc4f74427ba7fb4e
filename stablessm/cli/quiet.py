"""How much is told on stderr while something runs: `stablessm --quiet COMMAND`, or STABLESSM_QUIET."""

from __future__ import annotations

import os

VARIABLE = "STABLESSM_QUIET"


def quiet() -> bool:
    """Whether only what goes wrong is told."""
    return os.environ.get(VARIABLE, "") not in ("", "0")
