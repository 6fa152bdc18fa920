"""Do work on several threads, with results in order."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

from neardup.errors import OptionError, is_integer

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """The given number of threads, or the number of processors that this process may use.

    Raises:
        OptionError: the number is not an integer from 1 to 1024.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not is_integer(threads) or not 1 <= threads <= 1024:
        raise OptionError(f"`threads={threads!r}`: give an integer from 1 to 1024, or nothing for all processors.")
    return int(threads)


_THREAD = threading.local()


class _Stopped(Exception):  # noqa: N818 - nobody waits for the result
    """The work of this thread is not needed any more."""


def _is_one(stopped: threading.Event) -> None:
    _THREAD.one_of_several, _THREAD.stopped = True, stopped


def is_one_of_several() -> bool:
    """Whether this thread is one of several of an `in_order`, where holding Python's lock makes the others wait."""
    return getattr(_THREAD, "one_of_several", False)


def check_needed() -> None:
    """End the work of this thread if nobody waits for it any more: an interrupt came. For loops that may take long."""
    stopped = getattr(_THREAD, "stopped", None)
    if stopped is not None and stopped.is_set():
        raise _Stopped


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield work(item) for each item in order, from `threads` threads; takes at most about 2 * `threads` items ahead.

    The caller's thread does the work if `threads` is 1 or the item is the only one: starting others takes longer than little work.
    """
    if threads == 1:
        yield from map(work, items)
        return
    items = iter(items)
    ahead = list(islice(items, 2))
    if len(ahead) < 2:
        yield from map(work, ahead)
        return
    stopped = threading.Event()
    with ThreadPoolExecutor(threads, "neardup", _is_one, (stopped,)) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in chain(ahead, items):
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            stopped.set()
            for future in waiting:
                future.cancel()
