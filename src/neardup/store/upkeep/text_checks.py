"""CHECK TEXTS: which of those that a store keeps are missing, or not what was written."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.store.record.sealed_texts import damaged
from neardup.store.session.replay import AT_ONCE
from neardup.store.session.writer import Files


class DamagedTexts(NamedTuple):
    """The numbers of kept documents, and of remembered duplicates, whose texts are damaged or missing."""

    documents: list[int]
    removed: list[int]


def damaged_texts(files: Files, kept: Array) -> DamagedTexts:
    """Read the texts of documents (int64[n], whose contents are sound), and of all remembered duplicates."""
    found = DamagedTexts([], [])
    if not files.has_texts:
        return found
    for first in range(0, len(kept), AT_ONCE):
        numbers = kept[first : first + AT_ONCE]
        rows = files.record.documents_there(numbers.tolist())
        there = numbers[np.isin(numbers, list(rows))]
        texts = files.originals({number: rows[number].id for number in there.tolist()})
        places = damaged(files.digests(there), (texts.get(number) for number in there.tolist()))
        found.documents.extend(there[places].tolist())
    remembered = files.record.removed_from(0)
    while some := list(islice(remembered, AT_ONCE)):
        gone = files.gone.has(np.array([row.survivor for row in some], np.int64)).tolist()
        some = [row for row, is_gone in zip(some, gone, strict=True) if not is_gone]
        texts = files.removed_originals([row.number for row in some])
        places = damaged((row.digest for row in some), (texts.get(row.number) for row in some))
        found.removed.extend(some[place].number for place in places)
    return found


def told_of_texts(found: DamagedTexts) -> Iterator[str]:
    """Damaged texts in words."""
    yield from (f"The text of document {number:,} is not what was written, or missing." for number in found.documents)
    yield from (
        f"The text of remembered duplicate {each:,} is not what was written, or missing." for each in found.removed
    )
