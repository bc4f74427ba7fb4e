"""What a running sweep tells whoever watches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from stablessm.sweeps.layout import Layout
from stablessm.sweeps.plan import WorkItem


@dataclass
class Progress:
    """How far a sweep is; the same object is passed to the watcher after the set-up and after each work item.

    Attributes:
        cells: cells of the sweep, without padding.
        resumed: cells that were done before this run.
        done: cells done by this run.
        failed: cells that failed in this run.
        outcomes: cells done by this run, counted by outcome; empty where the measurement has none.
        reason: why the latest work item failed; empty where it did not.
    """

    cells: int
    resumed: int = 0
    done: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reason: str = ""

    def add(self, item: WorkItem, results: dict[str, np.ndarray], layout: Layout) -> None:
        """Count a work item that is done."""
        self.done, self.reason = self.done + item.valid, ""
        flags = layout.variables["outcome"].flags if "outcome" in layout.variables else ()
        if flags:
            codes = results["outcome"][: item.valid].reshape(-1)
            self.outcomes.update(flags[code] for code in codes.tolist() if 0 <= code < len(flags))

    def add_failure(self, item: WorkItem, reason: str) -> None:
        """Count a work item that failed."""
        self.failed, self.reason = self.failed + item.valid, reason


Watcher = Callable[[Progress], None]
