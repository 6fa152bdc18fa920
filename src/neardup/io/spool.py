"""Arrays that grow beyond memory: appended to a temporary file, then mapped."""

import mmap
import tempfile
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def mapped_array(n: int, dtype: Any, *, temp_dir: str | None) -> Array:
    """`n` zeros in a temporary file instead of in memory; the file is gone when the array is."""
    kind = np.dtype(dtype)
    with tempfile.TemporaryFile(dir=temp_dir, prefix="neardup-") as file:
        if n == 0:
            return np.empty(0, kind)
        file.truncate(n * kind.itemsize)
        return np.frombuffer(mmap.mmap(file.fileno(), n * kind.itemsize), kind)


class Spool:
    """Numbers in a temporary file that is gone when it is closed.

    Attributes:
        values: all that was written, one after another; read-only; once `map` was called.
    """

    def __init__(self, dtype: Any, *, temp_dir: str | None) -> None:
        self._file = tempfile.TemporaryFile(dir=temp_dir, prefix="neardup-")  # noqa: SIM115 - closed by close()
        self._map: mmap.mmap | None = None
        self._dtype = np.dtype(dtype)
        self.values: Array = np.frombuffer(b"", self._dtype)

    def write(self, values: Array) -> None:
        """Append values of the spool's kind."""
        self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def map(self) -> None:
        """No more is written; `values` can be read."""
        self._file.flush()
        size = self._file.tell()
        if size:
            self._map = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
            self.values = np.frombuffer(self._map, self._dtype)

    def changeable(self) -> Array:
        """All that was written, as an array that can be changed in place; no more is written."""
        self._file.flush()
        size = self._file.tell()
        return np.frombuffer(mmap.mmap(self._file.fileno(), size), self._dtype) if size else np.empty(0, self._dtype)

    def release(self) -> None:
        """Let the operating system take the pages that were looked at; they stay in the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        self.values = np.frombuffer(b"", self._dtype)
        self._map = None  # unmapped once no array looks at it any more
        self._file.close()

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
