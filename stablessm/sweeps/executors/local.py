"""The default: each work item is computed where it is submitted, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from stablessm.sweeps.executors import Crew, Hiring


class Here(Executor):
    """An executor that computes at once; an interruption reaches the caller."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def opened(hiring: Hiring) -> Iterator[Crew]:
    """Yield this process."""
    yield Crew(Here(), lambda: 1)
