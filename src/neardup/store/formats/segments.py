"""POSTINGS: which documents have a key: a table in memory for the last ones, and mapped segments that never change for the others.

Segments are merged by size, so that a posting is written only a few times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import SegmentFile, read_segment_file, write_segment_file
from neardup.kernels.store import postings as kernels
from neardup.kernels.store.postings import DAMAGED, MANY, PAGE, Chains, Entries, Keys, Room, Sorted
from neardup.matching.join_keys import NO_BOUND, Bound
from neardup.store.formats.removal_bits import NO_MARKS

SIZE_FACTOR = 4
"""A segment is merged with the one before it unless that is so many times as long."""
MAX_MERGED_ENTRIES = 1 << 26
"""Entries of the largest segments, which are not merged any more: 800 MB."""
ENTRIES_PER_BUCKET = 8
"""Entries for each entry of a directory, or less."""
MIN_TABLE_ENTRIES = 1 << 10


class TooManyPairsError(Exception):
    """Several texts have too many pairs to be listed together; see `neardup.store.session.batching`."""


class Found(NamedTuple):
    """Pairs of a text that was asked for and one that has a key of it: int64[p], int64[p]; a pair may come several times."""

    asked: Array
    found: Array


class Table:
    """Keys in memory."""

    def __init__(self) -> None:
        self._count = 0
        self._make_room(MIN_TABLE_ENTRIES)

    def __len__(self) -> int:
        return self._count

    def _make_room(self, most: int) -> None:
        bits = max(most.bit_length() - 1, 1)
        kinds = (np.uint32, np.uint32, np.uint16, np.uint16)
        self._room = Entries(*(np.empty(most, kind) for kind in kinds))
        self._chains = Chains(np.zeros(1 << bits, np.uint32), np.empty(most, np.uint32), 32 - bits)

    def add(self, keys: Keys) -> None:
        """Add keys of texts."""
        needed = self._count + len(keys.keys)
        if needed > len(self._room.keys):
            before = self.entries()
            self._make_room(max(needed, 2 * len(self._room.keys)))
            kernels.add_again(before, self._room, self._chains)
        kernels.add_entries(keys, self._count, self._room, self._chains)
        self._count = needed

    def find(self, asked: Keys, gone: Array, bound: Bound) -> Found:
        """Find texts; see `Postings.find`."""
        if not self._count:
            return NOTHING_FOUND
        found = _find(kernels.find_chained, asked, self._room, self._chains, gone, bound)
        assert found is not None  # memory has no pages
        return found

    def entries(self) -> Entries:
        """All entries, in the order in which they were added."""
        return Entries(*(column[: self._count] for column in self._room))


NO_ENTRIES = Table()
"""A table to which nothing is added."""


@dataclass(frozen=True)
class Segment:
    """Entries in a file, ascending by key.

    Attributes:
        file: the file, mapped.
        entries, places: its contents.
    """

    file: SegmentFile
    entries: Entries
    places: Sorted

    def __len__(self) -> int:
        return len(self.entries.keys)

    def find(self, asked: Keys, gone: Array, bound: Bound) -> Found:
        """Find texts; see `Postings.find`.

        Raises:
            DataError: a page that is needed is not what was written.
        """
        found = _find(kernels.find_sorted, asked, self.entries, self.places, gone, bound)
        if found is None:
            raise self._damage()
        return found

    def demand_whole(self) -> None:
        """Refuse (DataError) a segment of which pages are damaged, before it becomes part of another with checksums of its own."""
        if self.file.damaged_pages():
            raise self._damage()

    def _damage(self) -> DataError:
        return DataError(f"{self.file.path} is damaged. {REPAIR}")

    @property
    def listed(self) -> dict[str, Any]:
        """What the record says of it."""
        return {"file": self.file.path.name, "seal": f"{self.file.seal:016x}"}

    @classmethod
    def write(cls, path: Path, entries: Entries, upto: int) -> "Segment":
        """Write a new file of entries that ascend by key. `upto`: the number before which documents are in the segments."""
        bits = min(max((len(entries.keys) // ENTRIES_PER_BUCKET).bit_length(), 1), 28)
        directory = np.empty((1 << bits) + 1, np.uint32)
        kernels.fill_directory(entries.keys, 32 - bits, directory)
        arrays = {**entries._asdict(), "directory": directory}
        write_segment_file(path, arrays, {"shift": 32 - bits, "documents": upto}, page=PAGE)
        return cls.read(path)

    @classmethod
    def read(cls, path: Path, listed: dict[str, Any] | None = None) -> "Segment":
        """Map a file.

        Raises:
            DataError: it is damaged, missing, or not the one that the record lists.
        """
        file = read_listed(path, listed)
        arrays = file.arrays
        try:
            entries, directory = Entries(*(arrays[name] for name in Entries._fields)), arrays["directory"]
            if file.page != PAGE:
                raise DataError(f"{path} has pages of {file.page:,} bytes, not {PAGE:,}. {REPAIR}")
            pages = (file.content, file.sums, np.zeros(len(file.sums), np.uint8), file.starts)
            return cls(file, entries, Sorted(directory, file.facts["shift"], *pages))
        except KeyError as problem:
            raise DataError(f"{path} is no segment of a store: {problem} is missing. {REPAIR}") from None


REPAIR = "It is made of the other files: repair the store."


def read_listed(path: Path, listed: dict[str, Any] | None) -> SegmentFile:
    """Map a file of arrays that the record lists; see `Segment.read`."""
    try:
        file = read_segment_file(path)
    except FileNotFoundError:
        raise DataError(f"{path} is missing. {REPAIR}") from None
    except DataError as problem:
        raise DataError(f"{problem} {REPAIR}") from None
    if listed is not None and f"{file.seal:016x}" != listed["seal"]:
        raise DataError(f"{path} is another file than the one that the store wrote under this name. {REPAIR}")
    return file


@dataclass(frozen=True)
class Frozen:
    """What postings had at one time; nothing of it changes, so that another thread can write it."""

    segments: tuple[Segment, ...]
    table: Table


class Postings:
    """The keys of documents.

    Attributes:
        segments: oldest first.
    """

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self.segments = list(segments)
        self._table = Table()
        self._frozen = NO_ENTRIES

    @property
    def in_memory(self) -> int:
        """Entries that are in no segment yet, and that nobody writes."""
        return len(self._table)

    def __len__(self) -> int:
        return len(self._table) + len(self._frozen) + sum(map(len, self.segments))

    def add(self, keys: Keys) -> None:
        """Add keys of documents, whose numbers are below 2^32."""
        if len(keys.keys):
            self._table.add(keys)

    def find(self, asked: Keys, gone: Array = NO_MARKS, bound: Bound = NO_BOUND) -> Found:
        """Find documents that have a key that is asked for, and with which they may reach a similarity.

        Args:
            asked: keys of other texts.
            gone: bits of documents that are not to be found.
            bound: what the places of the key and the sizes must allow.
        """
        if not len(asked.keys):
            return NOTHING_FOUND
        parts = [each.find(asked, gone, bound) for each in self.segments]
        parts += [table.find(asked, gone, bound) for table in (self._frozen, self._table)]
        return joined(parts)

    def freeze(self) -> Frozen:
        """What there is, to be written; it answers until `take` brings the segments. Later keys go to another table."""
        self._frozen, self._table = self._table, Table()
        return Frozen(tuple(self.segments), self._frozen)

    def take(self, segments: Sequence[Segment]) -> None:
        """Answer from segments that were made of what was frozen."""
        self.segments, self._frozen = list(segments), NO_ENTRIES


def spilled(frozen: Frozen, path_of: Callable[[], Path], upto: int, gone: Array) -> list[Segment]:
    """Write the table as a segment, and merge segments. The files are new; those of before stay."""
    segments = list(frozen.segments)
    if len(frozen.table):
        entries = frozen.table.entries()
        order = np.argsort(entries.keys, kind="stable")
        segments.append(Segment.write(path_of(), Entries(*(column[order] for column in entries)), upto))
    while len(segments) > 1:
        left, right = segments[-2:]
        if len(left) >= SIZE_FACTOR * len(right) or len(left) + len(right) > MAX_MERGED_ENTRIES:
            break
        for each in (left, right):
            each.demand_whole()
        segments[-2:] = [Segment.write(path_of(), merged(left.entries, right.entries, gone), upto)]
    return segments


def compacted(frozen: Frozen, path_of: Callable[[], Path], upto: int, gone: Array) -> list[Segment]:
    """Merge all into one segment, as far as that is not too large, without documents that are gone."""
    whole: list[Segment] = []
    for segment in spilled(frozen, path_of, upto, gone):
        segment.demand_whole()
        if whole and len(whole[-1]) + len(segment) <= MAX_MERGED_ENTRIES:
            whole[-1] = Segment.write(path_of(), merged(whole[-1].entries, segment.entries, gone), upto)
        else:
            whole.append(Segment.write(path_of(), merged(segment.entries, NO_ENTRIES.entries(), gone), upto))
    return whole


def merged(left: Entries, right: Entries, gone: Array) -> Entries:
    """The entries of two segments, without documents that are gone."""
    room = Entries(*(np.empty(len(a) + len(b), a.dtype) for a, b in zip(left, right, strict=True)))
    count = kernels.merge_entries(left, right, gone, room)
    return Entries(*(column[:count] for column in room))


NOTHING_FOUND = Found(np.empty(0, np.int64), np.empty(0, np.int64))


def joined(parts: Sequence[Found]) -> Found:
    """All pairs of some parts."""
    parts = [part for part in parts if len(part.found)]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING_FOUND
    return Found(*map(np.concatenate, zip(*parts, strict=True)))


def _find(
    kernel: Callable[..., int], asked: Keys, entries: Entries, where: Chains | Sorted, gone: Array, bound: Bound
) -> Found | None:
    """Call a kernel, again with more room if that is needed. None if it finds a damaged page.

    Raises:
        TooManyPairsError: more than MANY pairs of several texts.
    """
    most = 64 + 8 * len(asked.keys)
    while True:
        room = Room(np.empty(most, np.int64), np.empty(most, np.int64))
        count = kernel(asked, entries, where, gone, bound.code, bound.threshold, room)
        if count == DAMAGED:
            return None
        if count > MANY and asked.texts[0] != asked.texts[-1]:
            raise TooManyPairsError
        if count <= most:
            return Found(room.asked[:count], room.found[:count])
        most = count
