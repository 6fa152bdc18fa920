"""The most memory that the program had, and each use of it, as those say that allocate; and its return to the system."""

import ctypes
import resource
import sys
import weakref
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.arrays import Array


def peak_memory_bytes() -> int:
    """The peak resident memory of this program so far, as the operating system counts it."""
    try:  # getrusage() would also count the process before exec(), such as a large parent's memory
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


class MemoryUse:
    """The most bytes that each use had at a time; from any thread.

    Attributes:
        most: bytes by use.
    """

    def __init__(self) -> None:
        self.most: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._lock = Lock()

    def record(self, use: str, size: int) -> None:
        """This `use` has so many bytes now, all in all."""
        with self._lock:
            self.most[use] = max(self.most.get(use, 0), size)

    def hold(self, use: str, array: "Array") -> "Array":
        """Count an array, which owns its memory, as long as it lives."""
        self.add(use, array.nbytes)
        weakref.finalize(array, self.add, use, -array.nbytes).atexit = False
        return array

    def add(self, use: str, size: int) -> None:
        """This `use` has so many bytes more than before, or less."""
        with self._lock:
            self._now[use] = self._now.get(use, 0) + size
            self.most[use] = max(self.most.get(use, 0), self._now[use])

    def __getstate__(self) -> dict[str, Any]:
        return {}  # of this process

    def __setstate__(self, _: dict[str, Any]) -> None:
        MemoryUse.__init__(self)


@cache
def _trim() -> Any:
    """The C library's `malloc_trim`, or None."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Return freed memory to the operating system. This takes a few milliseconds; call it between stages of different sizes."""
    import pyarrow as pa  # on first use: options load nothing heavy

    pa.default_memory_pool().release_unused()
    if (trim := _trim()) is not None:
        trim(0)
