"""Threads that compile, which nobody has to wait for: an interrupted process leaves them where they are.

XLA cannot be stopped, and an interpreter that ends in the usual way tears down what it is using: so that waits, as it
does for the threads of `concurrent.futures`. But these are daemons, and write nothing: a process may end with
`os._exit` while they are at work, as `stablessm.cli` does after Ctrl-C, and loses nothing else.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

_at_work: set[Future[Any]] = set()


class Compilers:
    """A pool of daemon threads, started one by one as there is work for them."""

    def __init__(self, most: int) -> None:
        """Start nothing yet.

        Args:
            most: threads.
        """
        self._most, self._threads = most, 0
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by one of the threads; waiting for the future can be interrupted."""
        future: Future[Any] = Future()
        self._waiting.put((future, lambda: function(*arguments)))
        if self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._work, name=f"compile-{self._threads}", daemon=True).start()
        return future

    def close(self) -> None:
        """Drop what has not begun, and let the threads end after what they are at."""
        while not self._waiting.empty():
            if (left := self._waiting.get()) is not None:
                left[0].cancel()
        for _ in range(self._threads):
            self._waiting.put(None)

    def _work(self) -> None:
        while (next_ := self._waiting.get()) is not None:
            future, call = next_
            if not future.set_running_or_notify_cancel():
                continue
            _at_work.add(future)
            try:
                future.set_result(call())
            except BaseException as error:  # the caller's to handle, as in any executor
                future.set_exception(error)
            _at_work.discard(future)
            del next_, future, call  # a program is large, and the next one may be long in coming


def at_work() -> bool:
    """Whether a thread of any pool is compiling, closed pools among them."""
    return bool(_at_work)


@atexit.register  # after JAX has registered what tears it down, which is so called later
def _wait() -> None:
    wait(tuple(_at_work))
