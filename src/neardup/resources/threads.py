"""Work on several threads, with results in order."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from neardup.errors import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """The number asked for, or the processors that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise OptionError(f"threads={threads!r}: give an integer from 1 to 1024, or nothing for all processors.")
    return threads


_THREAD = threading.local()


def _is_one() -> None:
    _THREAD.one_of_several = True


def is_one_of_several() -> bool:
    """Whether this thread works beside others of one `in_order`: what holds Python's lock would make them wait."""
    return getattr(_THREAD, "one_of_several", False)


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """work(item) of each item, in their order, by `threads` threads; only a few items are taken ahead of the results."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, "neardup", _is_one) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
