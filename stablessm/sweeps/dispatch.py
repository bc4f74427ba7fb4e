"""Tasks handed out to an executor, a window of them at a time, and what comes back; a lost one is given out again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from itertools import islice

from stablessm.sweeps.errors import ExecutorError, first_line, ours
from stablessm.sweeps.work import Answer

ATTEMPTS = 3

Task = tuple[int, ...]
Compute = Callable[[Sequence[int]], list[Answer]]


def answers(executor: Executor, compute: Compute, tasks: Iterable[Task], window: Callable[[], int]) -> Iterator[Answer]:
    """Yield the answer of every work item, in the order in which they come.

    At most `window()` tasks are out at a time, so that memory does not grow with the sweep. A task whose worker died
    (its future raises) is given out again, `ATTEMPTS` times in all, at last in parts of one item; what is lost then too
    is answered with the reason. On an interruption, or where the caller stops, what is out is cancelled.

    Args:
        executor: a `concurrent.futures.Executor`, or what has its `submit`.
        compute: task -> answers; must be picklable where the executor needs it to be.
        tasks: numbers of work items that are computed one after the other.
        window: how many tasks are out at one time; asked anew before each is given out.

    Raises:
        ValueError: a finished sentence of this package's own: nothing of the sweep can run there.
        ExecutorError: the executor takes no more tasks.
    """
    fresh, again = iter(tasks), deque[tuple[Task, int]]()
    out: dict[Future[list[Answer]], tuple[Task, int]] = {}
    try:
        while True:
            while len(out) < window() and (pair := _next(again, fresh)) is not None:
                out[_submitted(executor, compute, pair[0])] = pair
            if not out:
                return
            for future in wait(out, return_when=FIRST_COMPLETED).done:
                task, attempt = out.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is None:
                    yield from future.result()
                elif ours(error):
                    raise error
                elif attempt < ATTEMPTS - 1:
                    again.append((task, attempt + 1))
                elif attempt < ATTEMPTS:  # one of them may be what ends every worker
                    again += [((number,), attempt + 1) for number in task]
                else:
                    yield from (Answer(number, None, _lost(error)) for number in task)
    finally:
        for future in out:
            future.cancel()


def _submitted(executor: Executor, compute: Compute, task: Task) -> Future[list[Answer]]:
    try:
        return executor.submit(compute, task)
    except Exception as error:
        if ours(error):
            raise
        raise ExecutorError(f"the executor takes no more work ({first_line(error)}); what is done is kept.") from error


def _next(again: deque[tuple[Task, int]], fresh: Iterator[Task]) -> tuple[Task, int] | None:
    if again:
        return again.popleft()
    return next(((task, 1) for task in islice(fresh, 1)), None)


def _lost(error: BaseException) -> str:
    return f"its worker was lost {ATTEMPTS} times, at the end with {first_line(error)}"
