"""The documents of an index: a buffer of those added last, few enough to compare one by one, and segments that grow by a factor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.ids import concatenate, own
from neardup.hamming.index.methods.scan import Scan
from neardup.hamming.index.segment import Segment, build_segment

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


GROWTH_FACTOR = 16
"""A segment is at least this many times as large as the next younger segment."""

Way = tuple[str, int, dict[str, int]]
"""How a segment is searched: the method, the distance and the options."""


class Segments:
    """Documents in the order in which they were added. Removed documents are marked until their segment is rebuilt.

    Attributes:
        made: the segments, oldest first, without the buffer.
    """

    made: list[Segment]

    def __init__(self, words: int, way: Callable[[int], Way], made: list[Segment] | None = None) -> None:
        """`words`: words of a fingerprint. `way`: maps a segment's number of documents to how it is searched."""
        self.made, self._way, self._buffer = made or [], way, Buffer(words)

    def __len__(self) -> int:
        """Number of documents that are not removed."""
        return sum(segment.live for segment in self.listed())

    @property
    def rows(self) -> int:
        """Number of documents that take room, including removed ones."""
        return sum(map(len, self.made)) + len(self._buffer)

    def listed(self) -> list[Segment]:
        """All segments, oldest first; the buffer is the last. Only what `Segment` says of their size may be read."""
        return [*self.made, self._buffer.segment()] if len(self._buffer) else self.made

    def searched(self) -> list[Segment]:
        """The same segments, to be searched: the arrays of each are what was written.

        Raises:
            DataError: the file of a segment is damaged.
        """
        listed = self.listed()
        for segment in listed:
            segment.demand_whole()
        return listed

    def hit_probability(self, distance: int) -> float:
        """The lowest probability of all segments; the buffer misses nothing."""
        return min((segment.hit_probability(distance) for segment in self.made), default=1.0)

    def add(self, labels: Any, rows: Array) -> None:
        """Add documents to the buffer or, if they do not fit, make a segment of the buffer and these documents."""
        if len(self._buffer) + len(rows) <= BUFFER_ROWS:
            self._buffer.append(labels, rows)
        else:
            self.flush(rows, labels)

    def remove(self, labels: Any) -> int:
        """Mark the documents with these ids as removed. Returns how many were newly marked."""
        return sum(segment.remove(labels) for segment in self.made) + self._buffer.remove(labels)

    def flush(self, rows: Array | None = None, labels: Any = None) -> None:
        """Make a segment of the buffer and of further documents, then merge segments that are too small for their age."""
        parts = [self._buffer.segment()] if len(self._buffer) else []
        if parts or rows is not None:
            self.made.append(self._merged(parts, rows, labels))
            self._buffer.clear()
        while len(self.made) > 1 and len(self.made[-2]) < GROWTH_FACTOR * len(self.made[-1]):
            self.made[-2:] = [self._merged(self.made[-2:])]

    def merge(self) -> None:
        """Merge all documents into one segment."""
        if searched := self.searched():
            self.made = [self._merged(searched)]
            self._buffer.clear()

    def _merged(self, parts: list[Segment], rows: Array | None = None, labels: Any = None) -> Segment:
        """Make one segment of the documents in some segments that are not removed, followed by new documents."""
        fingerprints, ids = [], []
        for part in parts:
            part.demand_whole()
            live = part.live_documents()
            fingerprints.append(part.fingerprints()[live])
            ids.append(part.ids_of(live))
        if rows is not None:
            fingerprints.append(rows)
            ids.append(labels)
        joined = fingerprints[0] if len(fingerprints) == 1 else np.concatenate(fingerprints)
        return build_segment(joined, concatenate(ids), *self._way(len(joined)))
