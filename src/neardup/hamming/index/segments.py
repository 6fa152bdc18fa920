"""The documents of an index: a buffer of the youngest, and segments that grow by a factor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.buffer import BUFFER_ROWS, Buffer
from neardup.hamming.index.ids import concatenate
from neardup.hamming.index.segment import Segment, build_segment

GROWTH = 16
"""A segment is so many times as large as the next younger one may become."""

Way = tuple[str, int, dict[str, int]]
"""How a segment is searched: the method, the distance and the options."""


class Segments:
    """Documents in the order in which they were added, those that were removed marked until their segment is made anew.

    Attributes:
        made: the segments, oldest first, without the buffer.
    """

    made: list[Segment]

    def __init__(self, words: int, way: Callable[[int], Way], made: list[Segment] | None = None) -> None:
        """Of fingerprints of so many words; `way`: how a segment of so many documents is searched."""
        self.made, self._way, self._buffer = made or [], way, Buffer(words)

    def __len__(self) -> int:
        """Documents that are there."""
        return sum(segment.live for segment in self.searched())

    @property
    def rows(self) -> int:
        """Documents that take room, those that were removed too."""
        return sum(map(len, self.made)) + len(self._buffer)

    def searched(self) -> list[Segment]:
        """All that is searched, oldest first."""
        return [*self.made, self._buffer.segment()] if len(self._buffer) else self.made

    def hit_probability(self, distance: int) -> float:
        """The least of all segments; the buffer misses nothing."""
        return min((segment.hit_probability(distance) for segment in self.made), default=1.0)

    def add(self, labels: Any, rows: Array) -> None:
        """Add documents: to the buffer if there is room, or a segment of it and them."""
        if len(self._buffer) + len(rows) <= BUFFER_ROWS:
            self._buffer.append(labels, rows)
        else:
            self.flush(rows, labels)

    def remove(self, labels: Any) -> int:
        """Mark the documents of these ids as removed. Returns how many were not, before."""
        return sum(segment.remove(labels) for segment in self.made) + self._buffer.remove(labels)

    def flush(self, rows: Array | None = None, labels: Any = None) -> None:
        """Make a segment of what is in the buffer, and of more; segments that have become too large for their age are merged."""
        parts = [self._buffer.segment()] if len(self._buffer) else []
        if parts or rows is not None:
            self.made.append(self._merged(parts, rows, labels))
            self._buffer.clear()
        while len(self.made) > 1 and len(self.made[-2]) < GROWTH * len(self.made[-1]):
            self.made[-2:] = [self._merged(self.made[-2:])]

    def merge(self) -> None:
        """Make all one segment."""
        if searched := self.searched():
            self.made = [self._merged(searched)]
            self._buffer.clear()

    def _merged(self, parts: list[Segment], rows: Array | None = None, labels: Any = None) -> Segment:
        """What is left of some segments, and new documents behind it, as one segment."""
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
