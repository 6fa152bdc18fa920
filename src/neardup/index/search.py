"""Queries and pairs over all segments of an index; documents are numbered through them, and answers have their ids."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.candidates.simhash import near_fingerprints
from neardup.index.answers import IdPairs, Neighbors
from neardup.index.ids import concatenate, take
from neardup.index.segment import Segment
from neardup.matches import candidate_pairs, hamming_distances
from neardup.threads import in_order, thread_count

Array = np.ndarray[Any, np.dtype[Any]]

QUERIES_TOGETHER = 1 << 12


def no_ids(*, strings: bool | None) -> Any:
    """None, of that kind."""
    return pa.array([], pa.large_string()) if strings else np.empty(0, np.int64)


def ids_of(documents: Array, searched: Sequence[Segment], *, strings: bool | None) -> Any:
    """The ids of documents, int64[]."""
    if not len(documents):
        return no_ids(strings=strings)
    starts = np.cumsum([0, *(len(segment) for segment in searched)])
    of = np.searchsorted(starts, documents, "right") - 1
    order = np.argsort(of, kind="stable")
    parts = [take(segment.ids, documents[order[of[order] == i]] - starts[i]) for i, segment in enumerate(searched)]
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return take(concatenate(parts), back)


def near_one(searched: Sequence[Segment], row: Array, limit: int) -> list[tuple[Any, int]]:
    """The ids and distances of what is near one fingerprint, uint64[1, words]."""
    base = 0
    found: list[tuple[int, int, Any]] = []
    for segment in searched:
        _, documents, distances = segment.look_up(row, 0, 1, limit, base)
        if len(documents):
            ids = take(segment.ids, documents - base)
            labels = ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()
            found += zip(distances.tolist(), documents.tolist(), labels, strict=True)
        base += len(segment)
    found.sort(key=_by_distance)
    return [(label, distance) for distance, _, label in found]


def _by_distance(found: tuple[int, int, Any]) -> tuple[int, int]:
    return found[:2]


def near_many(
    searched: Sequence[Segment], rows: Array, limit: int, *, nearest: bool, strings: bool | None, threads: int | None
) -> Iterator[Neighbors]:
    """What is near each of uint64[q, words], some thousands at a time."""

    def work(first: int) -> Neighbors:
        last = min(first + QUERIES_TOGETHER, len(rows))
        queries, documents, distances = _found(searched, rows, first, last, limit, nearest=nearest)
        order = np.lexsort((documents, distances, queries))
        if nearest:
            order = order[np.diff(queries[order], prepend=-1) > 0]
        offsets = np.searchsorted(queries[order], np.arange(first, last + 1))
        return Neighbors(offsets, ids_of(documents[order], searched, strings=strings), distances[order])

    yield from in_order(work, range(0, len(rows), QUERIES_TOGETHER), thread_count(threads))


def _found(
    searched: Sequence[Segment], rows: Array, first: int, last: int, limit: int, *, nearest: bool = False
) -> tuple[Array, ...]:
    """Queries, documents and distances, int64[h] each, in no order."""
    base = 0
    found: list[tuple[Array, ...]] = [(np.empty(0, np.int64),) * 3]
    for segment in searched:
        look_up = segment.look_up_first if nearest else segment.look_up
        found.append(look_up(rows, first, last, limit, base))
        base += len(segment)
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


def joined_pairs(
    searched: Sequence[Segment],
    words: int,
    limit: int,
    *,
    strings: bool | None,
    threads: int | None,
    memory: int | None,
) -> Iterator[IdPairs]:
    """Every pair of documents within the distance, about a million at a time, by a join of all fingerprints."""
    live = [segment.live_documents() for segment in searched]
    fingerprints = np.concatenate(
        [np.empty((0, words), np.uint64)]
        + [segment.fingerprints()[documents] for segment, documents in zip(searched, live, strict=True)]
    )
    starts = np.cumsum([0, *(len(segment) for segment in searched)])
    documents = np.concatenate(
        [np.empty(0, np.int64)] + [part + start for part, start in zip(live, starts, strict=False)]
    )
    found = near_fingerprints(fingerprints, max_distance=limit, threads=threads, memory=memory)
    for left, right in candidate_pairs(found):
        distances = hamming_distances(fingerprints, left, right)
        first, second = (ids_of(documents[each], searched, strings=strings) for each in (left, right))
        yield IdPairs(first, second, distances)


def found_pairs(
    searched: Sequence[Segment], limit: int, *, strings: bool | None, threads: int | None
) -> Iterator[IdPairs]:
    """The pairs that queries find: what each document has near it of those before it."""
    start = 0
    for segment in searched:
        live, rows = segment.live_documents(), segment.fingerprints()

        def work(first: int, rows: Array = rows, live: Array = live, start: int = start) -> IdPairs:
            documents = live[first : first + QUERIES_TOGETHER]
            queries, others, distances = _found(searched, rows[documents], 0, len(documents), limit)
            right = documents[queries] + start
            before = others < right
            order = np.lexsort((others[before], right[before]))
            left, right, distances = (part[before][order] for part in (others, right, distances))
            first_ids, second_ids = (ids_of(each, searched, strings=strings) for each in (left, right))
            return IdPairs(first_ids, second_ids, distances)

        yield from in_order(work, range(0, len(live), QUERIES_TOGETHER), thread_count(threads))
        start += len(segment)
