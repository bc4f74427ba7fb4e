"""Ctrl-C is heard wherever it comes.

Python drops an exception that is raised in a callback of the garbage collector (JAX has one), in a destructor or in
another place that cannot pass it on, and only reports it. An interruption dropped there would be lost: the report is
what tells of it, and it is sent again.
"""

from __future__ import annotations

import _thread
import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

_AGAIN = 0.02  # seconds: by then the place that drops it is left


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Send an interruption again for as long as Python drops it; what else is reported is reported as before."""
    before = sys.unraisablehook

    def report(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            before(dropped)
            return
        timer = threading.Timer(_AGAIN, _thread.interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = before
