"""REPLACE: decide documents in order where a better one takes the place of all documents that it matches."""

import json
from dataclasses import dataclass, field

import numpy as np

from neardup.matching.text_features import Texts
from neardup.store.answers import NEW, NO_ORPHANS, Orphans, StoreAnswer, StoreMatch
from neardup.store.decisions.all_matches import every_match
from neardup.store.decisions.orphans import forget
from neardup.store.formats.row_contents import contents_of
from neardup.store.record.documents_table import DocumentRow, Given
from neardup.store.record.skipped_table import SkippedContent, SkippedRow
from neardup.store.rules import goodness, is_better
from neardup.store.session.backend import Backend


def add_better(files: Backend, texts: Texts, given: Given) -> list[StoreAnswer]:
    """Decide documents with different ids that are not kept, or with equal texts, in order.

    One that matches kept documents, and is better than all of them, is kept, and replaces them; another one is a duplicate. Texts
    that were not kept are not remembered: each is compared with what is kept.
    """
    found, equal = every_match(files, texts, files.rules.options.min_similarity, np.ones(len(texts), np.bool_))
    first, keep = len(files.contents), files.rules.keep
    there = np.unique(found.documents[found.documents < first]).tolist()
    kept, changes = files.record.documents(there), _Changes(files, texts, given, first)
    starts, documents, similarity, distance, is_equal = (
        column.tolist() for column in (found.starts, found.documents, found.similarity, found.distance, equal)
    )
    answers = []
    for place in range(len(texts)):
        at = [i for i in range(starts[place], starts[place + 1]) if documents[i] in kept]
        rows = [kept[documents[i]] for i in at]
        if not rows:
            kept[first + place] = changes.keep(place)
            answers.append(NEW)
            continue
        matches = tuple(
            StoreMatch(json.loads(row.id), None if similarity[i] != similarity[i] else similarity[i], distance[i])
            for i, row in zip(at, rows, strict=True)
        )
        mine = goodness(
            keep, given.keep_as, given.ranks[place], None if given.metadata is None else given.metadata[place]
        )
        others = (goodness(keep, given.keep_as, row.rank, row.metadata) for row in rows)
        if all(is_better(keep, mine, other) for other in others):
            for i in at:
                del kept[documents[i]]
            kept[first + place] = changes.keep(place)
            orphans = changes.replace([row.number for row in rows])
            answers.append(StoreAnswer(True, replaces=matches, orphans=orphans))
            continue
        is_kept = any(row.id == given.names[place] for row in rows)
        changes.skip(place, rows[0].number, is_equal=is_equal[at[0]], is_kept=is_kept)
        answers.append(StoreAnswer(False, matches, exact=is_equal[at[0]]))
    changes.write()
    return answers


@dataclass
class _Changes:
    """What is decided of documents and not written yet.

    Attributes:
        first: the number of the next document that is written.
        kept: the places of those that are kept; gone: the numbers of documents that are replaced, of which nothing was skipped.
        seen: the numbers of documents that duplicates were seen of.
        skipped: what is remembered of documents that are not kept, by their ids, and None of those that are; `contents`: what is
            compared of them.
    """

    files: Backend
    texts: Texts
    given: Given
    first: int
    kept: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    skipped: dict[str, SkippedRow | None] = field(default_factory=dict)
    contents: list[SkippedContent] = field(default_factory=list)

    def keep(self, place: int) -> DocumentRow:
        """Keep a document, and return what it is."""
        [row] = self.given.rows([place], self.first + len(self.kept))
        self.kept.append(place)
        self.skipped[row.id] = None
        return row

    def replace(self, numbers: list[int]) -> Orphans:
        """Let documents go. What was skipped for them is compared with what is kept now."""
        skipped_for = {row.survivor for row in self.skipped.values() if row is not None}
        if skipped_for.isdisjoint(numbers) and not self.files.skipped_of(numbers):
            self.gone += numbers
            return NO_ORPHANS
        self.write()
        return forget(self.files, np.array(sorted(numbers), np.int64), now=self.given.now)

    def skip(self, place: int, survivor: int, *, is_equal: bool, is_kept: bool) -> None:
        """Do not keep a document. Its text is not remembered; what is compared of it is, if the store keeps texts."""
        self.seen.add(survivor)
        if is_kept:
            return
        text = self.texts[np.array([place])]
        row = SkippedRow(self.given.names[place], survivor, None if is_equal else text.digests[0])
        if row.digest is not None and self.files.rules.texts:
            self.contents += [
                SkippedContent(survivor, row.digest, each) for each in contents_of(self.files.layout, text)
            ]
        self.skipped[row.id] = row

    def write(self) -> None:
        """Write all of it."""
        rows = self.given.rows(self.kept, self.first)
        self.files.keep(self.texts[np.array(self.kept, np.int64)], rows, [], self.seen, self.given.now)
        self.files.keep_skipped(self.skipped, self.contents)
        if self.gone:
            self.files.forget(np.array(sorted(self.gone), np.int64))
        self.first += len(self.kept)
        self.kept, self.gone, self.seen, self.skipped, self.contents = [], [], set(), {}, []
