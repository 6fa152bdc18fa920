"""What allocators hold of memory that was freed."""

import ctypes
from functools import cache
from typing import Any

import pyarrow as pa


@cache
def _trim() -> Any:
    """The C library's function, where it has one."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Give what was freed to the operating system: a few milliseconds; between stages, whose sizes have little in common."""
    pa.default_memory_pool().release_unused()
    if (trim := _trim()) is not None:
        trim(0)
