"""Arrays that exceed the memory: appended to a temporary file, then mapped."""

import errno
import mmap
import os
import tempfile
import weakref
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import gather_runs
from neardup.resources.temporary_files import TemporaryFiles


def mapped_array(n: int, dtype: Any, *, files: TemporaryFiles) -> Array:
    """An array of `n` zeros in a temporary file instead of memory; the file is deleted with the array.

    Raises:
        OptionError: the files would exceed their limit.
    """
    kind = np.dtype(dtype)
    size = n * kind.itemsize
    if size == 0:
        return np.empty(0, kind)
    files.add(size)
    try:
        with tempfile.TemporaryFile(dir=files.given, prefix="neardup-") as file:
            _allocate(file.fileno(), size)
            made = mmap.mmap(file.fileno(), size)
    except BaseException:
        files.remove(size)
        raise
    return np.frombuffer(_counted(made, size, files), kind)


def _allocate(file: int, size: int) -> None:
    """Give a file its size and its room on the disk: a full disk is an OSError here, but kills the process at a mapped page."""
    try:
        os.posix_fallocate(file, 0, size)
    except AttributeError:  # this system has no such call
        os.truncate(file, size)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        os.truncate(file, size)


def _counted(made: mmap.mmap, size: int, files: TemporaryFiles) -> mmap.mmap:
    """The mapping, whose bytes were added to `files`, and are removed when it ends."""
    weakref.finalize(made, files.remove, size).atexit = False
    return made


class Spool:
    """Numbers in a temporary file, which is deleted when it is closed.

    Attributes:
        values: all written values in order, read-only; empty before `map` is called.
    """

    def __init__(self, dtype: Any, *, files: TemporaryFiles) -> None:
        self._files = files
        self._file = tempfile.TemporaryFile(dir=files.given, prefix="neardup-")  # noqa: SIM115 - closed by close()
        self._map: mmap.mmap | None = None
        self._dtype, self._bytes = np.dtype(dtype), 0
        self.values: Array = np.frombuffer(b"", self._dtype)

    def write(self, values: Array) -> None:
        """Append values, converted to the spool's dtype.

        Raises:
            OptionError: the files of the run would exceed their limit.
        """
        data = np.ascontiguousarray(values, self._dtype).data
        self._files.add(data.nbytes)
        self._bytes += data.nbytes
        self._file.write(data)

    def map(self) -> None:
        """End writing, so that `values` can be read."""
        self._file.flush()
        size = self._file.tell()
        if size:
            self._map = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
            self.values = np.frombuffer(self._map, self._dtype)

    def take(self, starts: Array, ends: Array) -> Array:
        """The runs values[starts[i]:ends[i]] for each i (int64[n]), one after another, as a new array in memory; after `map`.

        This reads by system calls, not through the mapping. Mapping pages that are read once takes four times as long, if all are
        read.
        """
        gaps, lengths = starts[1:] - ends[:-1], ends - starts
        apart = np.flatnonzero((gaps < 0) | (gaps > lengths[:-1])) + 1
        firsts, lasts = np.append(0, apart)[: len(starts)], np.append(apart, len(starts))[: len(starts)]
        stretches = ends[lasts - 1] - starts[firsts]
        begins = np.cumsum(stretches) - stretches
        found = np.empty(stretches.sum(), self._dtype)
        data, each = found.view(np.uint8).data, self._dtype.itemsize
        for begin, size, first in zip(begins.tolist(), stretches.tolist(), starts[firsts].tolist(), strict=True):
            self._read(data[begin * each : (begin + size) * each], first * each)
        total = int(lengths.sum())
        if total < len(found):
            moved = np.repeat(begins - starts[firsts], lasts - firsts)
            gather_runs(found, starts + moved, ends + moved, found[:total])  # forwards: overwrites only what was read
        return found[:total]

    def _read(self, into: memoryview, position: int) -> None:
        while into:  # a call may read less than asked for
            count = os.preadv(self._file.fileno(), [into], position)
            into, position = into[count:], position + count

    def changeable(self) -> Array:
        """All written values, as an array that can be changed in place; ends writing."""
        self._file.flush()
        size = self._file.tell()
        if not size:
            return np.empty(0, self._dtype)
        # The file lives as long as the mapping, which counts it from now on.
        made = _counted(mmap.mmap(self._file.fileno(), size), self._bytes, self._files)
        self._bytes = 0
        return np.frombuffer(made, self._dtype)

    def release(self) -> None:
        """Let the operating system drop the pages that were read; their content stays in the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        self.values = np.frombuffer(b"", self._dtype)
        self._map = None  # unmapped once no array uses it
        self._file.close()
        self._files.remove(self._bytes)
        self._bytes = 0

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
