"""Answer queries and list pairs over all segments of an index. Documents are numbered across segments; answers have their ids."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.hamming.candidate_graph import candidate_pairs
from neardup.hamming.index.answers import Groups, IdPairs, Neighbors
from neardup.hamming.index.ids import concatenate, listed, take
from neardup.hamming.index.segment import Segment
from neardup.hamming.near import hamming_distances, near_fingerprints
from neardup.hamming.unique import collapse
from neardup.resources.resources import Resources
from neardup.resources.threads import in_order, thread_count

Result = TypeVar("Result")

QUERIES_AT_ONCE = 1 << 12
DOCUMENTS_AT_ONCE = 1 << 20
"""Maximum number of documents listed at a time, unless one query finds more."""


class Searched(NamedTuple):
    """The documents of an index, as queries see them.

    Attributes:
        segments: the segments, oldest first. Documents are numbered across them.
        words: 64-bit words of a fingerprint.
        strings: whether ids are strings; None if there are no ids.
    """

    segments: Sequence[Segment]
    words: int
    strings: bool | None

    @property
    def starts(self) -> Array:
        """int64[segments + 1]: the number of each segment's first document, then the total."""
        return np.cumsum([0, *(len(segment) for segment in self.segments)])

    def no_ids(self) -> Any:
        """An empty array of the kind of the ids."""
        return pa.array([], pa.large_string()) if self.strings else np.empty(0, np.int64)

    def ids_of(self, documents: Array) -> Any:
        """Return the ids of documents, int64[]."""
        if not len(documents):
            return self.no_ids()
        starts = self.starts
        of = np.searchsorted(starts, documents, "right") - 1
        order = np.argsort(of, kind="stable")
        parts = [
            segment.ids_of(documents[order[of[order] == i]] - starts[i]) for i, segment in enumerate(self.segments)
        ]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return take(concatenate(parts), back)

    def live(self) -> tuple[Array, Array]:
        """The fingerprints of all documents, uint64[n, words], and their numbers, int64[n], in the order of adding."""
        live = [segment.live_documents() for segment in self.segments]
        fingerprints = [segment.fingerprints()[part] for segment, part in zip(self.segments, live, strict=True)]
        documents = [part + start for part, start in zip(live, self.starts, strict=False)]
        return (
            np.concatenate([np.empty((0, self.words), np.uint64), *fingerprints]),
            np.concatenate([np.empty(0, np.int64), *documents]),
        )

    def live_once(self) -> tuple[Array, Array]:
        """Like `live`, but only the first document for each fingerprint."""
        fingerprints, documents = self.live()
        unique = collapse(fingerprints)
        chosen = np.sort(unique.order[unique.starts[:-1]])
        return fingerprints[chosen], documents[chosen]


def near_one(segments: Sequence[Segment], row: Array, limit: int) -> list[tuple[Any, int]]:
    """The ids and distances of the documents near one fingerprint, uint64[1, words]."""
    base = 0
    found: list[tuple[int, int, Any]] = []
    for segment in segments:
        _, documents, distances = segment.look_up(row, 0, 1, limit, base)
        if len(documents):
            labels = listed(segment.ids_of(documents - base))
            found += zip(distances.tolist(), documents.tolist(), labels, strict=True)
        base += len(segment)
    found.sort(key=itemgetter(0, 1))
    return [(label, distance) for distance, _, label in found]


def near_many(
    searched: Searched, rows: Array, limit: int, *, nearest: bool, threads: int | None
) -> Iterator[Neighbors]:
    """The documents near each of uint64[q, words], in parts of some thousand queries, or fewer if they have very many neighbors."""

    def part(found: _Found) -> Neighbors:
        order = np.lexsort((found.documents, found.distances, found.queries))
        if nearest:
            order = order[np.diff(found.queries[order], prepend=-1) > 0]
        offsets = np.searchsorted(found.queries[order], np.arange(found.first, found.last + 1))
        return Neighbors(offsets, searched.ids_of(found.documents[order]), found.distances[order])

    return _part_by_part(searched, rows, limit, part, nearest=nearest, threads=threads)


def near_all(searched: Searched, rows: Array, limit: int, *, nearest: bool, threads: int | None) -> Neighbors:
    """Same as `near_many`, in one part."""
    parts = list(near_many(searched, rows, limit, nearest=nearest, threads=threads))
    lengths = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)]
    ids = concatenate([part.ids for part in parts] or [searched.no_ids()])
    distances = np.concatenate([np.empty(0, np.int64), *(part.distances for part in parts)])
    return Neighbors(np.cumsum(np.concatenate(lengths)), ids, distances)


@dataclass(frozen=True)
class _Found:
    """The answers to queries [first, last), in no order: queries, documents and distances, int64[h] each."""

    first: int
    last: int
    queries: Array
    documents: Array
    distances: Array


def _found(
    segments: Sequence[Segment], rows: Array, first: int, last: int, limit: int, *, nearest: bool = False
) -> Iterator[_Found]:
    """The answers to queries [first, last), in parts of at most DOCUMENTS_AT_ONCE documents, or of one query."""
    most = DOCUMENTS_AT_ONCE if last - first > 1 else math.inf
    hits: list[tuple[Array, int]] = []
    total = 0
    for segment in segments:
        hits.append(segment.hits(rows, first, last, limit, most=most))
        total += len(hits[-1][0]) if nearest and hits[-1][1] <= most else hits[-1][1]
        if total > most:
            step = max(1, (last - first) * DOCUMENTS_AT_ONCE // (2 * total))
            for begin in range(first, last, step):
                yield from _found(segments, rows, begin, min(begin + step, last), limit, nearest=nearest)
            return
    found: list[tuple[Array, ...]] = [(np.empty(0, np.int64),) * 3]
    base = 0
    for segment, (rows_found, count) in zip(segments, hits, strict=True):
        found.append(
            segment.first_documents_of(rows_found, base) if nearest else segment.documents_of(rows_found, count, base)
        )
        base += len(segment)
    yield _Found(first, last, *(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _part_by_part(
    searched: Searched,
    rows: Array,
    limit: int,
    part: Callable[[_Found], Result],
    *,
    nearest: bool = False,
    threads: int | None,
) -> Iterator[Result]:
    """What `part` makes of the answers to the queries `rows`, in order."""

    def work(first: int) -> tuple[Result, Iterator[Result]]:
        last = min(first + QUERIES_AT_ONCE, len(rows))
        parts = map(part, _found(searched.segments, rows, first, last, limit, nearest=nearest))
        return next(parts), parts

    for begin, rest in in_order(work, range(0, len(rows), QUERIES_AT_ONCE), thread_count(threads)):
        yield begin
        yield from rest  # made one at a time, because all may not fit the memory


def joined_pairs(
    searched: Searched, limit: int, *, equal: bool, threads: int | None, memory: int | str | None
) -> Iterator[IdPairs]:
    """Every pair of documents within the distance, about a million at a time, by a join of all fingerprints."""
    fingerprints, documents = searched.live() if equal else searched.live_once()
    found = near_fingerprints(fingerprints, max_distance=limit, resources=Resources(threads, memory))
    for left, right in candidate_pairs(found):
        distances = hamming_distances(fingerprints, left, right)
        yield IdPairs(searched.ids_of(documents[left]), searched.ids_of(documents[right]), distances)


def found_pairs(searched: Searched, limit: int, *, equal: bool, threads: int | None) -> Iterator[IdPairs]:
    """Yield the pairs that queries find: for each document, the earlier documents near it."""
    fingerprints, documents = searched.live() if equal else searched.live_once()
    wanted = np.zeros(searched.starts[-1], np.bool_)
    wanted[documents] = True

    def part(found: _Found) -> IdPairs:
        right = documents[found.queries]
        before = (found.documents < right) & wanted[found.documents]
        order = np.lexsort((found.documents[before], right[before]))
        left, right, distances = (each[before][order] for each in (found.documents, right, found.distances))
        return IdPairs(searched.ids_of(left), searched.ids_of(right), distances)

    return _part_by_part(searched, fingerprints, limit, part, threads=threads)


def equal_groups(searched: Searched) -> Groups:
    """Return the groups of documents that share a fingerprint."""
    fingerprints, documents = searched.live()
    unique = collapse(fingerprints)
    several = np.flatnonzero(unique.sizes > 1)
    several = several[np.argsort(unique.order[unique.starts[several]])]
    sizes = unique.sizes[several]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    members = np.repeat(unique.starts[several] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Groups(offsets, searched.ids_of(documents[unique.order[members]]))
