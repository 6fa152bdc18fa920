"""SCAN: the items that the documents of a batch hold. Counts of shingles find suspects; what those hold is compared in full."""

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
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.matching.contamination.overlaps import DocumentShingles, Overlap
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
        excerpt: the matched text of the strongest.
    """

    row: int
    items: list[int]
    overlaps: list[Overlap]
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
        self._room = max(len(items.distinct), suspects_at_once)
        self._items, self._options = items.distinct, options
        self._index = items.index(options)
        self._counts = Workspace(lambda _, size: np.zeros((size + 1, STATE), np.int64))

    def scan(self, batch: Batch) -> Scanned:
        """The contaminated documents of a batch; called on any thread."""
        found = list[Contaminated]()
        for first, folded in texts_in_chunks(batch.texts):
            for i, suspects in self._suspects(folded):
                each = self._judge(folded, i, suspects, batch.texts, first + i)
                found += [each] if each else []
        valid = batch.texts.is_valid().to_numpy(zero_copy_only=False)
        return Scanned(valid, batch.ids.take(pa.array([each.row for each in found], pa.int64())), found)

    def _suspects(self, folded: FoldedTexts) -> "list[tuple[int, list[int]]]":
        """The documents that may hold items, each with these."""
        known, state = memory_for(folded), self._counts.scratch(0, len(self._items))
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
                fold_tables(),
                items,
                ends,
            )
            starts = np.append(0, ends[first : done - 1])
            for i in np.flatnonzero(ends[first:done] > starts).tolist():
                found.append((first + i, items[starts[i] : ends[first + i]].tolist()))
        return found

    def _judge(self, folded: FoldedTexts, i: int, suspects: list[int], texts: Any, row: int) -> Contaminated | None:
        """The items that a document does hold, of those that it may hold; None if there are none."""
        places = token_places(folded, i)
        document = DocumentShingles(places)
        known = [(item, document.overlap(self._items[item])) for item in suspects]
        share, run = self._options.min_share, self._options.min_run
        held = [(item, each) for item, each in known if each.share >= share or each.run >= run]
        if not held:
            return None
        held.sort(key=lambda pair: (-pair[1].share, -pair[1].run, pair[0]))
        first, end = held[0][1].span if held[0][1].share >= share else held[0][1].run_span
        guess = (places.characters_before(first), places.characters_before(end))
        excerpt = excerpt_of(texts[row].as_py(), first, end, guess)
        return Contaminated(row, [item for item, _ in held], [each for _, each in held], excerpt)
