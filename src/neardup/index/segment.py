"""A segment of an index: fingerprints that do not change any more, behind a method; documents can only be marked as removed."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.distinct import collapse
from neardup.index.ids import are_in, own
from neardup.index.methods import METHODS, Searcher
from neardup.kernels.index_scans import count_members, list_members

Array = np.ndarray[Any, np.dtype[Any]]

ROOM = 1 << 12
"""Hits that there is room for at first, a block of queries."""
MOST_HITS = 1 << 22
"""Queries of which a block has more are looked up in smaller blocks."""


@dataclass(frozen=True)
class StoredSegment:
    """A segment as the manifest names it: its file, how many documents it has, and the file that says which were removed."""

    file: str
    documents: int
    removed: str | None = None


@dataclass
class Segment:
    """Documents in the order in which they were added, with their fingerprints behind a searcher.

    Attributes:
        searcher: the distinct fingerprints.
        member_starts: uint32[d + 1], or of no length if every fingerprint is one document's.
        members: uint32[n], the documents of each fingerprint, ascending, by its position in the searcher.
        ids: int64[n] or Arrow large_string[n].
        removed: uint8[n], or of no length if none was.
        method, options: how it is searched.
        stored: its file, if it has one. removed_since_stored: what its file says of `removed` is no longer all.
    """

    searcher: Searcher
    member_starts: Array
    members: Array
    ids: Any
    removed: Array = field(default_factory=lambda: np.empty(0, np.uint8))
    options: dict[str, int] = field(default_factory=dict)
    method: str = "scan"
    stored: StoredSegment | None = None
    removed_since_stored: bool = False
    _first_live: Array | None = None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def live(self) -> int:
        """Documents that were not removed."""
        return len(self) - int(self.removed.sum())

    @property
    def nbytes(self) -> int:
        """What it holds."""
        arrays = [*self.searcher.arrays().values(), self.member_starts, self.members, self.removed]
        return sum(array.nbytes for array in arrays) + int(self.ids.nbytes)

    @property
    def _lists(self) -> tuple[Array, Array, Array]:
        return self.member_starts, self.members, self.removed

    def look_up(
        self, queries: Array, first: int, last: int, max_distance: int, base: int
    ) -> tuple[Array, Array, Array]:
        """The documents within `max_distance` of queries [first, last): queries, `base` + document, distances, int64[h] each."""
        hits = self._hits(queries, first, last, max_distance)
        if hits is None:
            middle = (first + last) // 2
            parts = [self.look_up(queries, *part, max_distance, base) for part in ((first, middle), (middle, last))]
            return tuple(np.concatenate(found) for found in zip(*parts, strict=True))  # type: ignore[return-value]
        counts = np.empty(len(hits), np.int64)
        count_members(hits, *self._lists, counts)
        total = int(counts.sum())
        found = (np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64))
        list_members(hits, *self._lists, base, *found)
        return found

    def look_up_first(
        self, queries: Array, first: int, last: int, max_distance: int, base: int
    ) -> tuple[Array, Array, Array]:
        """As `look_up`, but of documents with equal fingerprints only the one that was added first."""
        hits = self._hits(queries, first, last, max_distance)
        if hits is None:
            middle = (first + last) // 2
            parts = [
                self.look_up_first(queries, *part, max_distance, base) for part in ((first, middle), (middle, last))
            ]
            return tuple(np.concatenate(found) for found in zip(*parts, strict=True))  # type: ignore[return-value]
        documents = self._first_documents(hits[:, 1])
        there = documents < len(self)
        return hits[there, 0], documents[there] + base, hits[there, 2]

    def _hits(self, queries: Array, first: int, last: int, max_distance: int) -> Array | None:
        """int64[h, 3], what the searcher finds; None if it is so much that fewer queries should be asked at a time."""
        hits = np.empty((ROOM, 3), np.int64)
        count = self.searcher.look_up(queries, first, last, max_distance, hits, 0)
        if count > MOST_HITS and last - first > 1:
            return None
        if count > len(hits):
            hits = np.empty((count, 3), np.int64)
            self.searcher.look_up(queries, first, last, max_distance, hits, 0)
        return hits[:count]

    def _first_documents(self, positions: Array) -> Array:
        """int64[h], the first document there at each position; as many as there are documents where all were removed."""
        if not len(self.removed):
            places = self.member_starts[positions] if len(self.member_starts) else positions
            return self.members[places].astype(np.int64)
        if self._first_live is None:
            live = np.where(self.removed[self.members] == 0, self.members, np.uint32(len(self)))
            starts = self.member_starts[:-1] if len(self.member_starts) else np.arange(len(live))
            self._first_live = np.minimum.reduceat(live, starts).astype(np.int64)
        found: Array = self._first_live[positions]
        return found

    def live_documents(self) -> Array:
        """int64[], those that were not removed, ascending."""
        return np.flatnonzero(self.removed == 0) if len(self.removed) else np.arange(len(self))

    def fingerprints(self) -> Array:
        """uint64[n, words], by document, removed ones too."""
        values = self.searcher.values()
        if len(self.member_starts):
            values = np.repeat(values, np.diff(self.member_starts), axis=0)
        out = np.empty_like(values)
        out[self.members] = values
        return out

    def remove(self, ids: Any) -> int:
        """Mark the documents of these ids as removed. Returns how many were not, before."""
        chosen = are_in(self.ids, ids)
        if not len(self.removed):
            if not chosen.any():
                return 0
            self.removed = np.zeros(len(self), np.uint8)
        new = int(np.count_nonzero(chosen & (self.removed == 0)))
        self.removed[chosen] = 1
        self._first_live = None
        self.removed_since_stored |= new > 0
        return new


def build_segment(fingerprints: Array, ids: Any, method: str, max_distance: int, options: dict[str, int]) -> Segment:
    """A segment of documents with `fingerprints`, uint64[n, words]."""
    distinct = collapse(fingerprints)
    values, members = distinct.values, distinct.order.astype(np.uint32)
    starts = None if len(values) == len(members) else distinct.starts
    del distinct  # of 8 bytes, where 4 are enough
    searcher, order = METHODS[method].build(values, max_distance, options)
    del values  # gone before ids are copied
    if starts is None:
        members, member_starts = members[order], np.empty(0, np.uint32)
    else:
        sizes = np.diff(starts)[order]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        gathered = np.repeat(starts[:-1][order] - ends[:-1], sizes) + np.arange(len(members))
        members, member_starts = members[gathered], ends.astype(np.uint32)
    del order
    return Segment(searcher, member_starts, members, own(ids), options=options, method=method)
