"""KNOWN: what a store has already, by id and by equal text: postings propose it, the record and the rows confirm it. And how
postings are made again from contents and record, some at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.simhash import Fingerprints
from neardup.kernels.digests import digest_documents
from neardup.matching.join_keys import keys_of
from neardup.matching.text_features import digest_bytes, digest_words
from neardup.store.candidates.proposing import DOCUMENTS_AT_ONCE, Candidates
from neardup.store.formats.contents import Contents
from neardup.store.formats.derived import DIGESTS, IDS, REMOVED, Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.formats.segments import Found
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.record import Record


class Known:
    """Finds kept documents and remembered texts."""

    def __init__(self, record: Record, contents: Contents, derived: Derived, gone: Marks) -> None:
        self._record, self._contents, self._derived, self._gone = record, contents, derived, gone

    def keep(self, names: Sequence[str], prints: Fingerprints, numbers: Array) -> None:
        """Know documents with these numbers (int64[n]) by their ids (JSON) and digests."""
        self._derived.postings(IDS).add(keys_of(hashes_of(names), numbers))
        self._derived.postings(DIGESTS).add(keys_of(np.ascontiguousarray(prints.digests[:, 0]), numbers))

    def keep_removed(self, digests: Array, numbers: Array) -> None:
        """Know texts that were not kept, with these numbers (int64[n]), by their digests (uint64[n, 2])."""
        self._derived.postings(REMOVED).add(keys_of(np.ascontiguousarray(digests[:, 0]), numbers))

    def of_ids(self, names: Sequence[str]) -> dict[str, DocumentRow]:
        """The kept documents with some ids (JSON)."""
        keys = keys_of(hashes_of(names), np.arange(len(names)))
        found = self._derived.postings(IDS).find(keys, self._gone.bits)
        rows = self._record.documents(np.unique(found.found).tolist())
        wanted = set(names)
        return {row.id: row for row in rows.values() if row.id in wanted}

    def all_kept(self, prints: Fingerprints) -> Found:
        """All pairs of a place and the number of a kept document whose text is equal."""
        keys = keys_of(np.ascontiguousarray(prints.digests[:, 0]), np.arange(len(prints.digests)))
        asked, numbers = self._derived.postings(DIGESTS).find(keys, self._gone.bits)
        if not len(asked):
            return Found(asked, numbers)
        equal = (self._contents.digests(self._contents.rows(numbers)) == prints.digests[asked]).all(axis=1)
        return Found(asked[equal], numbers[equal])

    def kept(self, prints: Fingerprints) -> Array:
        """int64[n]: the numbers of kept documents whose texts equal some texts, the first of several; -1 where none does."""
        found = np.full(len(prints.digests), -1, np.int64)
        asked, numbers = self.all_kept(prints)
        if not len(asked):
            return found
        later_first = np.argsort(-numbers, kind="stable")
        found[asked[later_first]] = numbers[later_first]
        return found

    def all_removed(self, digests: Array) -> Found:
        """All pairs of a place and the number of a text that was not kept whose digest has the same first word; uint64[n, 2]."""
        return self._derived.postings(REMOVED).find(
            keys_of(np.ascontiguousarray(digests[:, 0]), np.arange(len(digests)))
        )

    def removed(self, prints: Fingerprints, places: Array) -> Mapping[int, RemovedRow]:
        """The texts that were not kept and equal those at some places, by place, if their survivors are still there."""
        at, numbers = self.all_removed(prints.digests[places])
        if not len(at):
            return {}
        asked = places[at]
        rows = self._record.removed(np.unique(numbers).tolist())
        found: dict[int, RemovedRow] = {}
        columns = (asked.tolist(), numbers.tolist(), digest_bytes(prints.digests[asked]))
        for place, number, digest in zip(*columns, strict=True):
            row = rows.get(number)
            if row is not None and row.digest == digest:
                before = found.get(place)
                if before is None or before.number < number:
                    found[place] = row
        gone = self._gone.has(np.array([row.survivor for row in found.values()], np.int64)).tolist()
        return {place: row for (place, row), is_gone in zip(found.items(), gone, strict=True) if not is_gone}


def hashes_of(names: Sequence[str]) -> Array:
    """uint64[n]: hashes of ids as JSON."""
    contents = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum(np.array(list(map(len, contents)), np.int64), out=offsets[1:])
    found = np.empty((len(names), 2), np.uint64)
    digest_documents(np.frombuffer(b"".join(contents) or b"\0", np.uint8), offsets, found)
    return np.ascontiguousarray(found[:, 0])


def recall(
    documents: Iterator[tuple[int, str]],
    removed: Iterator[tuple[int, bytes]],
    contents: Contents,
    known: Known,
    candidates: Candidates | None,
    *,
    starts: tuple[int, int] = (0, 0),
    after: Callable[[int, int], None],
) -> tuple[int, int]:
    """Give all that is known of documents to what finds them. Returns the numbers before which all were given.

    Args:
        documents: the number and the id (JSON) of each.
        removed: the number and the digest of each text that was not kept.
        contents: of the documents.
        known, candidates: what finds them; None if candidates need nothing.
        starts: the numbers from which documents and texts come.
        after: called now and then with the numbers before which all were given.
    """
    upto, removed_upto = starts
    while some := list(islice(documents, DOCUMENTS_AT_ONCE)):
        numbers = np.array([number for number, _ in some], np.int64)
        texts = contents.texts(numbers)
        if candidates is not None:
            candidates.keep(texts, numbers)
        known.keep([name for _, name in some], texts.prints, numbers)
        upto = some[-1][0] + 1
        after(upto, removed_upto)
    while part := list(islice(removed, DOCUMENTS_AT_ONCE)):
        known.keep_removed(
            digest_words([digest for _, digest in part]), np.array([number for number, _ in part], np.int64)
        )
        removed_upto = part[-1][0] + 1
        after(upto, removed_upto)
    return upto, removed_upto
