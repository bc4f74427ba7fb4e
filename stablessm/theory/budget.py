"""A time limit for one statement.

Symbolic simplification has no useful bound on its running time, so every statement runs under a limit and becomes
`undecided (time)` when it is exceeded. The limit is on processor time, so that a verdict does not depend on what else
the machine is doing. On the main thread a signal interrupts pure Python wherever it is; on any other thread, or on a
system without `setitimer`, the statement runs without a limit.
"""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

_AGAIN = 0.2
"""Seconds of processor time after which a signal that was lost is sent again."""

_OWN = (__file__, contextlib.__file__)
"""Files in which the limit does not strike: a limit that is being lifted must be lifted to the end."""

_SECURED: ContextVar[list[tuple[float, object]] | None] = ContextVar("what is proved already", default=None)


@contextmanager
def securing() -> Iterator[list[tuple[float, object]]]:
    """Collect what the body secures, with the processor time at which it did."""
    kept: list[tuple[float, object]] = []
    token = _SECURED.set(kept)
    try:
        yield kept
    finally:
        _SECURED.reset(token)


def secure(statement: object) -> None:
    """Keep a finished statement: numbers that are added to it may take too long, and must not cost its verdict."""
    kept = _SECURED.get()
    if kept is not None:
        kept.append((time.process_time(), statement))


class OutOfTime(BaseException):
    """The time limit passed. Not an `Exception`, so that no `except Exception` inside SymPy swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[threading.Event]:
    """Raise `OutOfTime` in the body once the process has computed for `seconds`.

    The timer repeats, so that a signal lost inside a destructor, a callback of the garbage collector or a bare `except`
    is sent again. Where Python drops an exception it says so on stderr; of this one it does not.

    Args:
        seconds: the limit, in seconds of processor time.

    Yields:
        An event that is set once the limit has passed, also where something in the body swallowed the exception.

    Raises:
        OutOfTime: from within the body.

    Example:
        >>> with time_limit(5.0):
        ...     1 + 1
        2
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield threading.Event()
        return
    active, passed = True, threading.Event()

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if active:
            passed.set()
            if frame is None or frame.f_code.co_filename not in _OWN:
                raise OutOfTime

    def report(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, OutOfTime):
            reporting(dropped)

    before, reporting = signal.signal(signal.SIGVTALRM, interrupt), sys.unraisablehook
    sys.unraisablehook = report
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield passed
    finally:
        active = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        sys.unraisablehook = reporting
