"""A segment of an index: fingerprints that never change, searched by one method. Documents can only be marked as removed."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import SegmentFile
from neardup.hamming.index.ids import are_in, own, take
from neardup.hamming.index.methods.search_method import Searcher
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.unique import collapse
from neardup.kernels.hamming.index_scans import count_members, list_members

INITIAL_HITS = 1 << 12
"""Initial room for the hits of a block of queries."""


@dataclass(frozen=True)
class StoredFile:
    """A file as the manifest names it: its name, and the seal of its contents (see `SegmentFile`)."""

    name: str
    seal: int


@dataclass(frozen=True)
class StoredSegment:
    """A segment as the manifest names it: its file, its number of documents, and the file that marks removed documents."""

    file: StoredFile
    documents: int
    removed: StoredFile | None = None

    @property
    def files(self) -> list[StoredFile]:
        """Its one or two files."""
        return [self.file, *([] if self.removed is None else [self.removed])]


@dataclass
class Segment:
    """Documents in the order in which they were added, with a searcher for their fingerprints.

    Attributes:
        searcher: the unique fingerprints.
        member_starts: uint32[d + 1], where the members of each fingerprint begin; empty if all fingerprints are different.
        members: uint32[n], the documents of each fingerprint, ascending, by its position in the searcher.
        ids: int64[n] or Arrow large_string[n].
        removed: uint8[n], 1 for a removed document; empty if none was removed.
        method, options: how the segment is searched.
        stored: its file, if it was stored.
        files: its mapped files.
        removed_since_stored: whether documents were removed since it was stored.
        is_checked: whether its arrays are known to be what was written; false for mapped ones that nobody has read yet.
    """

    searcher: Searcher
    member_starts: Array
    members: Array
    ids: Any
    removed: Array = field(default_factory=lambda: np.empty(0, np.uint8))
    options: dict[str, int] = field(default_factory=dict)
    method: str = "scan"
    stored: StoredSegment | None = None
    files: tuple[SegmentFile, ...] = ()
    removed_since_stored: bool = False
    is_checked: bool = True
    _first_live: Array | None = None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def live(self) -> int:
        """Number of documents that are not removed."""
        return len(self) - int(self.removed.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays and ids."""
        arrays = [*self.searcher.arrays().values(), self.member_starts, self.members, self.removed]
        return sum(array.nbytes for array in arrays) + int(self.ids.nbytes)

    @property
    def _lists(self) -> tuple[Array, Array, Array]:
        return self.member_starts, self.members, self.removed

    def hit_probability(self, distance: int) -> float:
        """The probability of finding a pair at a distance, with the random draws of its searcher; 1 for exact methods.

        Raises:
            DataError: the segment's file is damaged.
        """
        hits = METHODS[self.method].code.hits
        if hits is None:
            return 1.0
        self.demand_whole()
        return hits.of_searcher(self.searcher, distance)

    def look_up(
        self, queries: Array, first: int, last: int, max_distance: int, base: int
    ) -> tuple[Array, Array, Array]:
        """The documents within `max_distance` of queries [first, last): queries, `base` + document, distances, int64[h] each."""
        hits, counted = self.hits(queries, first, last, max_distance)
        return self.documents_of(hits, counted, base)

    def hits(
        self, queries: Array, first: int, last: int, max_distance: int, *, most: float = math.inf
    ) -> tuple[Array, int]:
        """Return the searcher's hits, int64[h, 3], and their number of documents, or a lower bound if there are more than `most`.

        Raises:
            DataError: the segment's file is damaged.
        """
        hits = np.empty((INITIAL_HITS, 3), np.int64)
        count = self.searcher.look_up(queries, first, last, max_distance, hits, 0)
        if len(hits) < count <= most:
            hits = np.empty((count, 3), np.int64)
            count = self.searcher.look_up(queries, first, last, max_distance, hits, 0)
        if count < 0:
            raise self._damage()
        if count > most:
            return hits[:0], count
        hits = hits[:count]
        counts = np.empty(len(hits), np.int64)
        if not count_members(hits, *self._lists, counts):
            raise self._damage()
        return hits, int(counts.sum())

    def documents_of(self, hits: Array, count: int, base: int) -> tuple[Array, Array, Array]:
        """Queries, `base` + document and distances, int64[count] each, of the documents of `hits`."""
        found = (np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64))
        list_members(hits, *self._lists, base, *found)
        return found

    def first_documents_of(self, hits: Array, base: int) -> tuple[Array, Array, Array]:
        """Like `documents_of`, but only the document added first for each fingerprint."""
        documents = self._first_documents(hits[:, 1])
        there = documents < len(self)
        return hits[there, 0], documents[there] + base, hits[there, 2]

    def _first_documents(self, positions: Array) -> Array:
        """int64[h]: the first document at each position that is not removed; len(self) if all are."""
        if not len(self.removed):
            places = self.member_starts[positions] if len(self.member_starts) else positions
            return self.members[places].astype(np.int64)
        if self._first_live is None:
            live = np.where(self.removed[self.members] == 0, self.members, np.uint32(len(self)))
            starts = self.member_starts[:-1] if len(self.member_starts) else np.arange(len(live))
            self._first_live = np.minimum.reduceat(live, starts).astype(np.int64)
        found: Array = self._first_live[positions]
        return found

    def ids_of(self, documents: Array) -> Any:
        """Return the ids of documents, int64[].

        Raises:
            DataError: the segment's file is damaged.
        """
        if self.files and not isinstance(self.ids, np.ndarray) and len(documents):
            offsets = np.frombuffer(self.ids.buffers()[1], np.int64)
            begin, end = offsets[documents], offsets[documents + 1]
            if int(begin.min()) < 0 or (end < begin).any() or int(end.max()) > self.ids.buffers()[2].size:
                raise self._damage()
        return take(self.ids, documents)

    def damaged_pages(self) -> dict[str, list[int]]:
        """The pages whose bytes do not match their checksum, by file. Files without such pages are left out."""
        found = {file.path.name: file.damaged_pages() for file in self.files}
        return {name: pages for name, pages in found.items() if pages}

    def demand_whole(self) -> None:
        """Refuse a segment with damaged pages, before its arrays are read for the first time.

        Raises:
            DataError: a page is damaged.
        """
        if not self.is_checked and self.damaged_pages():
            raise self._damage()
        self.is_checked = True

    def _damage(self) -> DataError:
        if not self.files:
            return DataError("The index is damaged. Build it anew.")
        damaged = self.files[0].path
        folder = shlex.quote(str(damaged.parent))
        names_pages = f"`neardup index info {folder} --verify` names the pages"
        return DataError(f"{damaged} is damaged; {names_pages}. Restore it, or build the index anew.")

    def live_documents(self) -> Array:
        """int64[]: the documents that are not removed, ascending."""
        return np.flatnonzero(self.removed == 0) if len(self.removed) else np.arange(len(self))

    def fingerprints(self) -> Array:
        """uint64[n, words]: the fingerprints by document, including removed ones.

        Raises:
            DataError: the segment's file is damaged.
        """
        try:
            values = self.searcher.values()
        except IndexError:
            raise self._damage() from None
        if len(self.member_starts):
            starts = self.member_starts.astype(np.int64)
            sizes = starts[1:] - starts[:-1]
            if (sizes < 0).any() or starts[-1] != len(self):
                raise self._damage()
            values = np.repeat(values, sizes, axis=0)
        out: Array = np.empty_like(values)
        try:
            out[self.members] = values
        except IndexError:
            raise self._damage() from None
        return out

    def remove(self, ids: Any) -> int:
        """Mark the documents with these ids as removed. Returns how many were newly marked.

        Raises:
            DataError: the segment's file is damaged.
        """
        self.demand_whole()
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
    """Build a segment of documents with `fingerprints`, uint64[n, words]."""
    unique = collapse(fingerprints)
    values, members = unique.values, unique.order.astype(np.uint32)
    starts = None if len(values) == len(members) else unique.starts
    del unique  # its numbers have 8 bytes; 4 are enough
    searcher, order = METHODS[method].code.build(values, max_distance, options)
    del values  # free it before ids are copied
    if starts is None:
        members, member_starts = members[order], np.empty(0, np.uint32)
    else:
        sizes = np.diff(starts)[order]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        gathered = np.repeat(starts[:-1][order] - ends[:-1], sizes) + np.arange(len(members))
        members, member_starts = members[gathered], ends.astype(np.uint32)
    del order
    return Segment(searcher, member_starts, members, own(ids), options=options, method=method)
