"""SCAN: the items that the documents of a batch hold. Counts of shingles find suspects; what those hold is compared in full.

A document holds what one of its readings holds of one of the item's forms: markup hides no item, nor does what only looks like it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.fingerprints.workspace import Workspace
from neardup.io.corpora.batch import Batch
from neardup.kernels.matching.items import STATE, find_suspects
from neardup.matching.contamination.excerpts import Excerpt, excerpt_of
from neardup.matching.contamination.items import Items
from neardup.matching.contamination.options import MANY_ITEMS, DecontaminationOptions
from neardup.matching.contamination.overlaps import DocumentShingles, Overlap
from neardup.matching.contamination.readings import Reading, readings_of, word_of
from neardup.matching.contamination.token_places import memory_for, texts_in_chunks, token_places
from neardup.text.normalizers import FoldedTexts
from neardup.text.unicode_tables import fold_tables

SUSPECTS_AT_ONCE = 1 << 12
"""Room for suspects of several documents, so that a call of the kernel does not end after each."""


@dataclass(frozen=True, slots=True)
class Contaminated:
    """A document that holds items.

    Attributes:
        row: its row in the batch.
        items: the distinct items, the strongest first: by share, then by run, then in their order.
        overlaps: what it has of each.
        shared: in how many items the passage of each stands.
        excerpt: the matched text of the strongest.
    """

    row: int
    items: list[int]
    overlaps: list[Overlap]
    shared: list[int]
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result for a batch.

    Attributes:
        valid: bool[rows], whether each row is a document.
        ids: Arrow large_string[n], the ids of the contaminated documents as JSON values; nulls if the corpus keeps the ids.
        contaminated: the contaminated documents, by row.
    """

    valid: Array
    ids: Any
    contaminated: list[Contaminated]


class Scanner:
    """Finds the items that documents hold. Any number of threads may use it: each has counts of its own."""

    def __init__(
        self, items: Items, options: DecontaminationOptions, *, suspects_at_once: int = SUSPECTS_AT_ONCE
    ) -> None:
        self._room = max(len(items.forms), suspects_at_once)
        self._items, self._options = items, options
        self._index = items.index(options)
        self._items_with = items.items_with(self._index)
        self._counts = Workspace(lambda _, size: np.zeros((size + 1, STATE), np.int64))

    def scan(self, batch: Batch) -> Scanned:
        """The contaminated documents of a batch; called on any thread."""
        texts, found = batch.texts, dict[int, Contaminated]()
        for each in self._contaminated(texts, texts, None):
            found[each.row] = each
        others = list(readings_of(texts, self._is_word))
        looked = pa.array([read.text for _, read in others], pa.large_string())
        for each in self._contaminated(looked, texts, others):
            found[each.row] = stronger(found[each.row], each) if each.row in found else each
        contaminated = [found[row] for row in sorted(found)]
        valid = texts.is_valid().to_numpy(zero_copy_only=False)
        return Scanned(valid, batch.ids.take(pa.array([each.row for each in contaminated], pa.int64())), contaminated)

    def _is_word(self, left: str, right: str) -> bool:
        return word_of(left, right) in self._items.words

    def _contaminated(
        self, looked: Any, texts: Any, readings: Sequence[tuple[int, Reading]] | None
    ) -> Iterator[Contaminated]:
        """The contaminated of the texts `looked`, which are `texts`, or other `readings` of some of them."""
        for first, folded in texts_in_chunks(looked):
            for i, suspects in self._suspects(folded):
                row, read = (first + i, None) if readings is None else readings[first + i]
                each = self._judge(folded, i, suspects, texts, row, read)
                if each:
                    yield each

    def _suspects(self, folded: FoldedTexts) -> "list[tuple[int, list[int]]]":
        """The documents that may hold items, each with these."""
        known, state = memory_for(folded), self._counts.scratch(0, len(self._items.forms))
        items, ends = np.empty(self._room, np.int64), np.empty(len(folded), np.int64)
        found, done = list[tuple[int, list[int]]](), 0
        while done < len(folded):
            first = done
            done = find_suspects(
                folded.data,
                folded.offsets,
                first,
                self._index,
                known.tokens,
                known.shingles,
                state,
                fold_tables(self._options.version),
                items,
                ends,
            )
            starts = np.append(0, ends[first : done - 1])
            for i in np.flatnonzero(ends[first:done] > starts).tolist():
                found.append((first + i, items[starts[i] : ends[first + i]].tolist()))
        return found

    def _judge(
        self, folded: FoldedTexts, i: int, suspects: list[int], texts: Any, row: int, read: Reading | None
    ) -> Contaminated | None:
        """The items that a reading of a document does hold, of the forms that it may hold; None if there are none."""
        version = self._options.version
        places = token_places(folded, i, version)
        document = DocumentShingles(places)
        share, run = self._options.min_share, self._options.min_run
        held = dict[int, tuple[Overlap, int]]()
        for form in sorted(suspects):
            each = document.overlap(self._items.forms[form])
            item = int(self._items.form_items[form])
            if (each.share >= share or each.run >= run) and (item not in held or is_stronger(each, held[item][0])):
                held[item] = each, form
        if not held:
            return None
        items = sorted(held, key=lambda item: (-held[item][0].share, -held[item][0].run, item))
        first, end = held[items[0]][0].passage(share)
        guess = (places.characters_before(first), places.characters_before(end))
        return Contaminated(
            row,
            items,
            [held[item][0] for item in items],
            [self._sharing(*held[item]) for item in items],
            excerpt_of(texts[row].as_py(), first, end, guess, read=read, version=version),
        )

    def _sharing(self, overlap: Overlap, form: int) -> int:
        """In how many items the passage stands: its rarest shingle, if it has enough of the item's own, or else most of them."""
        with_each = self._items_with[np.searchsorted(self._index.hashes, self._items.forms[form].hashes)]
        inside = overlap.shingles_in(overlap.passage(self._options.min_share))
        found, own = with_each[inside], np.count_nonzero(with_each < MANY_ITEMS)
        if own and np.count_nonzero(found < MANY_ITEMS) / own >= self._options.min_share:
            return int(found.min())
        return int(np.sort(found)[len(found) // 2])


def is_stronger(one: Overlap, other: Overlap) -> bool:
    """Whether one overlap with an item is stronger than another: by share, then by run."""
    return (one.share, one.run) > (other.share, other.run)


def stronger(one: Contaminated, other: Contaminated) -> Contaminated:
    """What two readings of a document hold; of an item that both hold, what is stronger; the first of equals."""
    held = dict(zip(one.items, zip(one.overlaps, one.shared, strict=True), strict=True))
    for item, overlap, shared in zip(other.items, other.overlaps, other.shared, strict=True):
        if item not in held or is_stronger(overlap, held[item][0]):
            held[item] = overlap, shared
    items = sorted(held, key=lambda item: (-held[item][0].share, -held[item][0].run, item))
    of_one = dict(zip(one.items, one.overlaps, strict=True)).get(items[0]) is held[items[0]][0]
    excerpt = (one if of_one else other).excerpt
    return Contaminated(one.row, items, [held[item][0] for item in items], [held[item][1] for item in items], excerpt)
