"""The documents most recently added to an index: few enough to compare one by one, so a query finds them at once."""

from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.ids import concatenate, own
from neardup.hamming.index.methods.scan import Scan
from neardup.hamming.index.segment import Segment

BUFFER_ROWS = 1 << 11
"""Maximum number of documents: about as many as are compared in the time that tables wait once for memory."""


class Buffer:
    """A list of up to BUFFER_ROWS documents, which is scanned."""

    def __init__(self, words: int) -> None:
        self._columns = np.empty((words, BUFFER_ROWS), np.uint64)
        self._removed = np.zeros(BUFFER_ROWS, np.uint8)
        self._members = np.arange(BUFFER_ROWS, dtype=np.uint32)
        self._ids: list[Any] = []
        self._rows = 0
        self._segment: Segment | None = None

    def __len__(self) -> int:
        return self._rows

    def append(self, ids: Any, rows: Array) -> None:
        """Add documents. There must be room for them."""
        after = self._rows + len(rows)
        self._columns[:, self._rows : after] = rows.T
        self._ids.append(own(ids))
        self._rows, self._segment = after, None

    def segment(self) -> Segment:
        """Its documents, as a segment that can be searched."""
        if self._segment is None:
            self._ids = [concatenate(self._ids)]
            removed = self._removed[: self._rows] if self._removed.any() else np.empty(0, np.uint8)
            self._segment = Segment(
                Scan(self._columns[:, : self._rows]),
                np.empty(0, np.uint32),
                self._members[: self._rows],
                self._ids[0],
                removed,
            )
        return self._segment

    def remove(self, ids: Any) -> int:
        """Mark the documents with these ids as removed. Returns how many were newly marked."""
        if not self._rows:
            return 0
        segment = self.segment()
        removed = segment.remove(ids)
        if removed:
            self._removed[: self._rows] = segment.removed
        return removed

    def clear(self) -> None:
        """Remove all documents from the buffer."""
        self._ids, self._rows, self._segment = [], 0, None
        self._removed[:] = 0
