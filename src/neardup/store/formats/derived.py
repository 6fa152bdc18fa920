"""DERIVED: all that a store can make again of its record and contents, in files that never change: postings and orders of elements
(`neardup.matching.element_order`).

The record lists the files, so that those which a crash left are known, and removed. A thread writes what has come together in
memory, and merges segments, while documents are decided; what it writes answers, and may be listed, once `settle` has taken it.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import SegmentFile, write_segment_file
from neardup.kernels.store.prefixes import Order
from neardup.matching.element_order import order_of
from neardup.store.formats.removal_bits import NO_MARKS, Marks
from neardup.store.formats.segments import REPAIR, Frozen, Postings, Segment, compacted, read_listed, spilled

MAX_ENTRIES_IN_MEMORY = 1 << 21
"""Entries of a table in memory before all are written: 40 MB."""
WAITING_FACTOR = 4
"""While a thread writes, so many times as many may come together; then documents wait for it."""
DIGESTS, IDS, REMOVED = "digests", "ids", "removed"
"""The postings of kept documents' digests and ids, and of the digests of texts that were not kept."""
PREFIXES = ("segment-", "order-")
"""Of the names of all files."""


def nothing_derived(serial: int) -> dict[str, Any]:
    """What the record says if there are no such files; `serial`: the largest number that a file had."""
    return {"serial": serial, "documents": 0, "removed": 0, "orders": [], "segments": {}}


class Writing(NamedTuple):
    """Segments that a thread writes of all documents, and of all texts that were not kept, before some numbers."""

    segments: Future[dict[str, list[Segment]]]
    upto: int
    removed_upto: int


class Derived:
    """The files of a store that are made of the others.

    Attributes:
        folder: that of the store.
        upto: the number before which documents are in segments; later ones are in memory.
        removed_upto: the same of texts that were not kept.
        orders: the orders of elements that were learned, the latest last.
    """

    def __init__(self, folder: Path, listed: Mapping[str, Any]) -> None:
        """Map the files that the record lists: the result of `listed` when it was written, or of `nothing_derived`.

        Raises:
            DataError: one is missing, damaged or another.
        """
        self.folder, self._names = folder, _files_in(listed)
        self._serial: int = listed["serial"]
        self.upto: int = listed["documents"]
        self.removed_upto: int = listed["removed"]
        self._order_files: list[dict[str, Any]] = list(listed["orders"])
        self._mapped_orders = [read_listed(folder / each["file"], each) for each in self._order_files]
        self.orders: list[Order] = [read_order(each) for each in self._mapped_orders]
        self._postings = {
            name: Postings([Segment.read(folder / each["file"], each) for each in segments])
            for name, segments in listed["segments"].items()
        }
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup-segments")
        self._writing: Writing | None = None

    def postings(self, name: str) -> Postings:
        """The postings of one name."""
        found = self._postings.get(name)
        if found is None:
            found = self._postings[name] = Postings()
        return found

    def drop(self, name: str) -> None:
        """Forget postings."""
        self._postings.pop(name, None)

    @property
    def is_full(self) -> bool:
        """Whether tables in memory should be written."""
        most = MAX_ENTRIES_IN_MEMORY * (1 if self._writing is None else WAITING_FACTOR)
        return any(each.in_memory >= most for each in self._postings.values())

    @property
    def names(self) -> list[str]:
        """The names of all postings."""
        return list(self._postings)

    def listed(self) -> dict[str, Any]:
        """What the record says of these files."""
        return {
            "serial": self._serial,
            "documents": self.upto,
            "removed": self.removed_upto,
            "orders": self._order_files,
            "segments": {
                name: [each.listed for each in postings.segments]
                for name, postings in self._postings.items()
                if postings.segments
            },
        }

    @property
    def learned_from(self) -> int:
        """How many documents there were when the latest order was learned; 0 without one."""
        return int(self._order_files[-1]["documents"]) if self._order_files else 0

    def add_order(self, order: Order, documents: int) -> None:
        """Write an order that was learned when there were so many documents."""
        path = self._path("order-")
        self._order_files.append({"documents": documents, **write_order(path, order)})
        self._mapped_orders.append(read_listed(path, self._order_files[-1]))
        self.orders.append(order)

    def write(self, upto: int, removed_upto: int, gone: Marks, *, compact: bool = False) -> None:
        """Write in a thread what is in memory: documents before `upto`, and texts that were not kept before `removed_upto`.

        Nothing else is being written; call `settle`, now or later.
        """
        frozen = {name: postings.freeze() for name, postings in self._postings.items()}
        marks = gone.bits.copy()  # those of later changes may yet be undone
        self._writing = Writing(self._thread.submit(self._segments, frozen, upto, marks, compact), upto, removed_upto)

    def _segments(self, frozen: dict[str, Frozen], upto: int, gone: Array, compact: bool) -> dict[str, list[Segment]]:
        step = compacted if compact else spilled
        return {
            name: step(each, lambda: self._path("segment-"), upto, NO_MARKS if name == REMOVED else gone)
            for name, each in frozen.items()
        }

    def settle(self, *, wait: bool = True) -> bool:
        """Answer from what was written, if it is done or can be waited for. Returns whether there are new files; an OSError if
        they could not be written.
        """
        if self._writing is None or not (wait or self._writing.segments.done()):
            return False
        written, self._writing = self._writing, None
        for name, segments in written.segments.result().items():
            self._postings[name].take(segments)
        self.upto, self.removed_upto = written.upto, written.removed_upto
        return True

    def close(self) -> None:
        """Wait until nothing is written any more."""
        self._thread.shutdown()

    def damaged(self) -> list[str]:
        """The names of files some pages of which are not what was written."""
        return [file.path.name for file in self._mapped() if file.damaged_pages()]

    def _mapped(self) -> list[SegmentFile]:
        """The files, which can be read even if another process has removed them."""
        segments = [segment.file for postings in self._postings.values() for segment in postings.segments]
        return segments + self._mapped_orders

    def copy_to(self, folder: Path, listed: Mapping[str, Any]) -> None:
        """Write the files that the record lists to another folder, durably."""
        mapped = {file.path.name: file for file in self._mapped()}
        for each in [*listed["orders"], *(each for segments in listed["segments"].values() for each in segments)]:
            name = each["file"]
            file = mapped.get(name) or read_listed(self.folder / name, each)  # what a writer has dropped is there yet
            file.copy_to(folder / name)

    def sweep(self) -> None:
        """Remove files of this object that the record does not list any more, once it is written."""
        for name in self._names - _files_in(self.listed()):
            (self.folder / name).unlink(missing_ok=True)
        self._names &= _files_in(self.listed())

    def left_behind(self) -> list[Path]:
        """The files that the record does not list: a crash has left them, or another writer makes them."""
        listed = _files_in(self.listed())
        return [each for each in self.folder.iterdir() if each.name.startswith(PREFIXES) and each.name not in listed]

    def _path(self, prefix: str) -> Path:
        """The name of a new file: none that another writer makes."""
        self._serial += 1
        while (path := self.folder / f"{prefix}{self._serial}").exists():
            self._serial += 1
        self._names.add(path.name)
        return path


def _files_in(listed: Mapping[str, Any]) -> set[str]:
    """The names of the files that a record lists."""
    return {each["file"] for some in (listed["orders"], *listed["segments"].values()) for each in some}


def write_order(path: Path, order: Order) -> dict[str, Any]:
    """Write an order to a new file. Returns what the record says of it."""
    known = np.flatnonzero(order.counts)
    arrays = {"elements": order.elements[known], "counts": order.counts[known]}
    return {"file": path.name, "seal": f"{write_segment_file(path, arrays, {}):016x}"}


def read_order(file: SegmentFile) -> Order:
    """Read what `write_order` has written; a DataError if the file is damaged."""
    if file.damaged_pages():
        raise DataError(f"{file.path} is damaged. {REPAIR}")
    arrays = file.arrays
    return order_of(arrays["elements"], arrays["counts"])
