"""Tasks handed out to an executor, a window of them at a time, and what comes back; a lost one is given out again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice

from stablessm.sweeps.errors import first_line
from stablessm.sweeps.work import Answer

ATTEMPTS = 3

Task = tuple[int, ...]
Compute = Callable[[Sequence[int]], list[Answer]]


def answers(executor: Executor, compute: Compute, tasks: Iterable[Task], window: int) -> Iterator[Answer]:
    """Yield the answer of every work item, in the order in which they come.

    At most `window` tasks are out at a time, so that memory does not grow with the sweep. A task whose worker died (its
    future raises) is given out again, in parts of one item, `ATTEMPTS` times in all; then its items are answered with
    the reason. On an interruption, or where the caller stops, what is out is cancelled.

    Args:
        executor: a `concurrent.futures.Executor`, or what has its `submit`.
        compute: task -> answers; must be picklable where the executor needs it to be.
        tasks: numbers of work items that are computed one after the other.
        window: tasks out at one time.

    Raises:
        ValueError: a finished sentence of this package's own: nothing of the sweep can run there.
    """
    fresh, again = iter(tasks), deque[tuple[Task, int]]()
    out: dict[Future[list[Answer]], tuple[Task, int]] = {}
    try:
        while True:
            while len(out) < window and (pair := _next(again, fresh)) is not None:
                out[executor.submit(compute, pair[0])] = pair
            if not out:
                return
            for future in wait(out, return_when=FIRST_COMPLETED).done:
                task, attempt = out.pop(future)
                error = future.exception()
                if error is None:
                    yield from future.result()
                elif isinstance(error, ValueError) and type(error).__module__.startswith("stablessm."):
                    raise error
                elif attempt < ATTEMPTS:
                    again += [((number,), attempt + 1) for number in task]
                else:
                    yield from (Answer(number, None, _lost(error)) for number in task)
    finally:
        for future in out:
            future.cancel()


def _next(again: deque[tuple[Task, int]], fresh: Iterator[Task]) -> tuple[Task, int] | None:
    if again:
        return again.popleft()
    return next(((task, 1) for task in islice(fresh, 1)), None)


def _lost(error: BaseException) -> str:
    return f"its worker was lost {ATTEMPTS} times, at the end with {first_line(error)}"
