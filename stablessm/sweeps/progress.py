"""What a running sweep tells whoever watches it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from stablessm.sweeps.layout import Layout


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

    def add(self, cells: int, results: Mapping[str, np.ndarray], layout: Layout) -> None:
        """Count a work item that is done: its first `cells` are not padding."""
        self.done, self.reason = self.done + cells, ""
        flags = layout.variables["outcome"].flags if "outcome" in layout.variables else ()
        if flags:
            codes = results["outcome"][:cells].reshape(-1)
            self.outcomes.update(flags[code] for code in codes.tolist() if 0 <= code < len(flags))

    def add_failure(self, cells: int, reason: str) -> None:
        """Count a work item of so many cells that failed."""
        self.failed, self.reason = self.failed + cells, reason


Watcher = Callable[[Progress], None]
