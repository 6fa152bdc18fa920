"""Values of each row, appended in batches: in memory, or all in temporary files once they exceed a limit."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import Spool
from neardup.resources.temporary_files import TemporaryFiles


class KeptRows:
    """Numbers and ids of rows, appended batch by batch.

    Each batch has some arrays of numbers and an Arrow large_string array of ids. The dtypes and widths of the arrays are the same
    in every batch.
    """

    def __init__(self, *, memory: int, files: TemporaryFiles, use: MemoryUse | None = None) -> None:
        """Keep rows in memory up to `memory` bytes, and beyond that in `files`; count them in `use`."""
        self._memory, self._temporary, self._use = memory, files, use
        self._batches: list[tuple[tuple[Array, ...], Any]] = []
        self._held = 0
        self._shapes: list[tuple[int, ...]] = []
        self._files: list[Spool] = []

    def append(self, numbers: tuple[Array, ...], ids: Any) -> None:
        """Append rows."""
        self._batches.append((numbers, ids))
        self._shapes = [(-1, *array.shape[1:]) for array in numbers]
        self._held += sum(array.nbytes for array in numbers) + ids.nbytes
        if self._files or self._held > self._memory:
            self._to_files()
        elif self._use is not None:
            self._use.record("rows", self._held)

    def _to_files(self) -> None:
        if not self._files:
            kinds = [array.dtype for array in self._batches[0][0]]
            self._files = [Spool(kind, files=self._temporary) for kind in (*kinds, np.int64, np.uint8, np.uint8)]
            self._files[-3].write(np.zeros(1, np.int64))
        *files, lengths, characters, valid = self._files
        for numbers, ids in self._batches:
            for file, array in zip(files, numbers, strict=True):
                file.write(array)
            present = ids.is_valid().to_numpy(zero_copy_only=False)
            offsets, data = _characters(ids.fill_null(""))
            lengths.write(np.diff(offsets))
            characters.write(data[offsets[0] : offsets[-1]])
            valid.write(present.view(np.uint8))
        self._batches.clear()

    def whole(self) -> tuple[list[Array], Any]:
        """All numbers, as one array for each array of a batch, and all ids; in memory or mapped. Needs at least one batch."""
        if not self._files:
            ids = pa.chunked_array([ids for _, ids in self._batches], pa.large_string()).combine_chunks()
            waiting = [list(parts) for parts in zip(*(numbers for numbers, _ in self._batches), strict=True)]
            self._batches.clear()
            columns = []
            for parts in waiting:
                columns.append(np.concatenate(parts))
                parts.clear()  # so that no more than one column is there twice
            return columns, ids
        *found, offsets, characters, valid = (file.changeable() for file in self._files)
        np.cumsum(offsets, out=offsets)  # of lengths after a 0
        bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        ids = pa.LargeStringArray.from_buffers(len(valid), pa.py_buffer(offsets), pa.py_buffer(characters), bits)
        self.close()
        return [array.reshape(shape) for array, shape in zip(found, self._shapes, strict=True)], ids

    def close(self) -> None:
        """Close the files; mapped arrays stay valid as long as they are used."""
        for file in self._files:
            file.close()


def _characters(ids: Any) -> tuple[Array, Array]:
    """The offsets (int64[n + 1]) and the bytes (uint8[]) of a large_string array without nulls."""
    _, offsets, data = ids.buffers()
    places = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return places, np.frombuffer(data or b"", np.uint8)
