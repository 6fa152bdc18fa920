"""EARLIEST: of each window that stood earlier, the earliest place; partition by partition, then gathered by place."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from neardup.arrays import Array
from neardup.kernels.repeats.partitions import NO_KEY, find_earliest, note_earliest
from neardup.resources.resources import Resources
from neardup.resources.threads import in_order
from neardup.survivors.repeats.first_pass import Places
from neardup.survivors.repeats.partitions import Partitions, WordFiles

CHUNK_BITS = 20
"""Places of a chunk of what is gathered: so many bits."""
PLACE_BITS = 40
FULL = 0.7
"""The share of its slots that a table fills at most."""
MIN_BITS = 2
SLOT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Order:
    """Which places are earlier than others: those of preferred documents, and in a document, those that come first.

    Attributes:
        places: of the rows.
        first: int64[rows], the number of each row's first place in this order; None if rows are in order.
        rows: int64[rows], the rows in order; `starts`: int64[rows], ascending, `first` of these. None, too.
        inputs: places from here on are of references, whose passages all stay.
    """

    places: Places
    inputs: int
    first: Array | None = None
    rows: Array | None = None
    starts: Array | None = None

    @classmethod
    def of(cls, places: Places, preferred: Array, inputs: int) -> "Order":
        """By the rows in order of preference (int64[]); rows that are no documents have places, but no windows.

        `inputs`: the first row of references.
        """
        sizes, end = np.diff(places.starts), int(places.starts[inputs])
        if inputs == len(sizes) and bool((preferred[1:] > preferred[:-1]).all()):
            return cls(places, end)
        others = np.ones(len(sizes), np.bool_)
        others[preferred] = False
        rows = np.concatenate([preferred, np.flatnonzero(others)])
        starts = np.cumsum(sizes[rows]) - sizes[rows]
        first = np.empty(len(rows), np.int64)
        first[rows] = starts
        return cls(places, end, first, rows, starts)

    def of_places(self, places: Array) -> Array:
        """int64[n]: where places come in this order."""
        if self.first is None:
            return places
        rows = self.places.rows_of(places)
        found: Array = self.first[rows] + places - self.places.starts[rows]
        return found

    def places_at(self, orders: Array) -> Array:
        """int64[n]: the places that come there."""
        if self.rows is None or self.starts is None:
            return orders
        at = np.searchsorted(self.starts, orders, "right") - 1
        found: Array = self.places.starts[self.rows[at]] + orders - self.starts[at]
        return found


class Earliest:
    """The earliest place of each window that stood earlier, by the window's place."""

    def __init__(self, places: Places, resources: Resources) -> None:
        self._places, self._scratch = places, resources.scratch
        self._chunks = WordFiles(-(-int(places.starts[-1]) >> CHUNK_BITS) or 1, resources.files)
        self._corrected, self._lock = np.empty((2, 0), np.int64), Lock()

    def add(self, places: Array, earliest: Array) -> None:
        """Add windows and their earliest places (int64[n]); from any thread."""
        chunks = places >> CHUNK_BITS
        order = np.argsort(chunks, kind="stable")
        within = places & (1 << CHUNK_BITS) - 1
        words = (within.astype(np.uint64) << np.uint64(PLACE_BITS) | earliest.astype(np.uint64))[order]
        numbers, begins = np.unique(chunks[order], return_index=True)
        for number, some in zip(numbers.tolist(), np.split(words, begins[1:]), strict=True):
            with self._lock:
                self._chunks.add(number, some)

    def finish(self) -> None:
        """All are added."""
        self._chunks.flush()

    def correct(self, places: Array, earliest: Array) -> None:
        """The earliest places of some windows (int64[n], ascending) are others, or none (-1): hashes were equal that should not
        be.
        """
        self._corrected = np.stack([places, earliest])

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """The earliest places of the windows of some consecutive rows: the first place of these, and int64[places], -1 where a
        window is not repeated, or where there is none. Rows without any may be left out.
        """
        starts, chunks = self._places.starts, len(self._chunks)
        edges = np.searchsorted(starts, np.arange(chunks + 1) << CHUNK_BITS)
        bounds = starts[np.minimum(edges, len(starts) - 1)].tolist()
        for begin, end in pairwise(bounds):
            of_chunks = range(begin >> CHUNK_BITS, (end - 1 >> CHUNK_BITS) + 1) if end > begin else range(0)
            if not any(map(self._chunks.count, of_chunks)):
                continue
            found = self._scratch.full(end - begin, -1, np.int64)
            for number in of_chunks:
                for words in self._chunks.blocks(number):
                    at = (words >> np.uint64(PLACE_BITS)).astype(np.int64) + (number << CHUNK_BITS) - begin
                    here = (at >= 0) & (at < len(found))
                    found[at[here]] = (words[here] & np.uint64((1 << PLACE_BITS) - 1)).astype(np.int64)
            places, earliest = self._corrected
            some = slice(*np.searchsorted(places, [begin, end]))
            found[places[some] - begin] = earliest[some]
            yield begin, found

    def close(self) -> None:
        self._chunks.close()


def find_earliest_places(
    partitions: Partitions, order: Order, earliest: Earliest, resources: Resources, *, room: int | None = None
) -> Iterator[int]:
    """Find the earliest place of each window, also of those of references; yields how many partitions are done. `room`: of a
    thread, in bytes.
    """
    of_thread = resources.share("runs") // resources.thread_count if room is None else room

    def find(part: int) -> None:
        for places, firsts in _of_partition(partitions, part, order, of_thread):
            earliest.add(places, firsts)
        partitions.words.taken(part)

    for part, _ in enumerate(in_order(find, range(len(partitions)), resources.thread_count)):
        yield part + 1
    earliest.finish()


def _of_partition(partitions: Partitions, part: int, order: Order, room: int) -> Iterator[tuple[Array, Array]]:
    """The windows of a partition that are not the earliest of their hash, and the earliest places."""
    needed = int(partitions.words.count(part) / FULL).bit_length()
    slots = 1 << max(MIN_BITS, min(needed, (room // SLOT_BYTES).bit_length() - 1))
    waiting = [(0, 1)]
    while waiting:
        which, parts = waiting.pop()
        keys, firsts = np.full(slots, NO_KEY), np.empty(slots, np.int64)
        count = 0
        for found, places in partitions.windows(part):
            orders = order.of_places(places)
            count = note_earliest(found, orders, len(found), which, parts, keys, firsts, count, int(slots * FULL))
            if count < 0:
                break
        if count < 0:  # more different hashes than there is room for: half of them at a time
            waiting += [(which, 2 * parts), (which + parts, 2 * parts)]
            continue
        for found, places in partitions.windows(part):
            orders = np.empty(len(found), np.int64)
            find_earliest(found, len(found), which, parts, keys, firsts, orders)
            mine = np.flatnonzero(orders >= 0)
            places, earlier = places[mine], order.places_at(orders[mine])
            again = places != earlier
            if again.any():
                yield places[again], earlier[again]
