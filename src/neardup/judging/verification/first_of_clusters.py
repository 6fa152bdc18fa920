"""FIRST OF CLUSTERS: of a run with `keep_most`, whether the first documents of each cluster stay, and no others.

Documents that stay may match one another, so that none does cannot be checked. All pairs are listed instead, by the method of the
run, and clusters are made of them once more, in the way of stages.
"""

import numpy as np

from neardup.arrays import Array, Bools
from neardup.display import counted
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.judging.verification.apart import join_options, matches_among, named
from neardup.judging.verification.read_corpus import ReadCorpus
from neardup.judging.verification.result import Check
from neardup.matching.equal_texts import exact_representatives
from neardup.survivors.decisions import Decisions, chosen, decide, in_order_of_preference
from neardup.survivors.listed_pairs import LISTED_CLUSTERERS, EqualTexts, RowPairs, pairs_of_representatives


def decided_again(read: ReadCorpus, reference: object) -> Decisions:
    """The decisions on all rows of the inputs and the reference, from a list of all pairs, which is held in memory."""
    claim, known, documents = read.claim, read.documents.valid, read.documents
    options = join_options(claim, read.options, claim.method)  # type: ignore[arg-type]  # it was checked
    preferred = in_order_of_preference(
        documents, options, sources=_sources(read, reference), inputs=read.rows, skips=True, together=claim.together
    )
    representative = exact_representatives(documents, preferred, read.groups)
    parts = list(matches_among(read, known, options, distinct=True))
    columns = ("left", "right", "distance", "similarity")
    empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    pairs = [
        np.concatenate([start, *(getattr(part, name) for part in parts)])
        for name, start in zip(columns, empty, strict=True)
    ]
    listed = pairs_of_representatives(documents, EqualTexts(preferred, representative, read.groups), RowPairs(*pairs))
    clustering = LISTED_CLUSTERERS[claim.cluster](listed, by_distance=claim.is_by_distance)
    decisions = decide(documents, preferred, representative, listed.rows, clustering)
    return chosen(decisions, preferred, options, inputs=read.decided)


def _sources(read: ReadCorpus, reference: object) -> Array | None:
    sources = read.claim.prefer_source
    found = read.inputs.source_ranks(sources)
    if found is None or not read.claim.together or not isinstance(reference, FileCorpus):
        return found
    others = reference.source_ranks(sources)
    return found if others is None else np.concatenate([found, others])


def check_first(read: ReadCorpus, again: Decisions, removed: Bools) -> Check:
    """The removed documents are those that `again` removes. `removed`: bool[rows that were decided], by the audit."""
    known = read.documents.valid[: read.decided]
    expected = known & ~again.kept[: read.decided]
    failures = [
        f"{named(read, row)} was {'removed, but is among' if removed[row] else 'kept, but is not among'} the first of its cluster"
        for row in np.flatnonzero(expected != removed).tolist()
    ]
    claimed = f"the first {counted(read.claim.keep_most or 1, 'document')} of each cluster stay, and no others"
    return Check.of("first", claimed, int(np.count_nonzero(known)), failures)
