"""Return freed memory, which allocators keep, to the operating system."""

import ctypes
from functools import cache
from typing import Any

import pyarrow as pa


@cache
def _trim() -> Any:
    """The C library's `malloc_trim`, or None."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Return freed memory to the operating system. This takes a few milliseconds; call it between stages of different sizes."""
    pa.default_memory_pool().release_unused()
    if (trim := _trim()) is not None:
        trim(0)
