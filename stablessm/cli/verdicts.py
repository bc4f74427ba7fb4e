"""The verdicts of every built-in map, proved in a process of their own while sweeps run."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def all_verdicts() -> str:
    """Verify every built-in map under every legal link; return the verdicts as Markdown."""
    from stablessm.parameterizations import PARAMETERIZATIONS
    from stablessm.theory import certified
    from stablessm.theory.documents import verdict_table

    return verdict_table(
        [certified(one.replace(link=link)) for one in PARAMETERIZATIONS.values() for link in one.links]
    )


@contextmanager
def proving() -> Iterator[Callable[[], str]]:
    """Start `all_verdicts` in another process, and yield what waits for its text; it ends with the block."""
    # Spawned, for a forked child that meets JAX hangs; an interruption is the parent's to handle.
    with multiprocessing.get_context("spawn").Pool(1, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield pool.apply_async(all_verdicts).get
