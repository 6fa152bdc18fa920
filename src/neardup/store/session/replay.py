"""RECALL: make the postings of documents and of remembered texts again, from contents and record, some at a time."""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from neardup.matching.text_features import digest_words
from neardup.store.candidates.proposing import Candidates
from neardup.store.formats.contents import Contents
from neardup.store.session.lookup import Known

AT_ONCE = 1 << 12
"""Documents whose postings are made together."""


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
    while some := list(islice(documents, AT_ONCE)):
        numbers = np.array([number for number, _ in some], np.int64)
        texts = contents.texts(numbers)
        if candidates is not None:
            candidates.keep(texts, numbers)
        known.keep([name for _, name in some], texts.prints, numbers)
        upto = some[-1][0] + 1
        after(upto, removed_upto)
    while part := list(islice(removed, AT_ONCE)):
        known.keep_removed(
            digest_words([digest for _, digest in part]), np.array([number for number, _ in part], np.int64)
        )
        removed_upto = part[-1][0] + 1
        after(upto, removed_upto)
    return upto, removed_upto
