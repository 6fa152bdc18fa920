"""The counts of a summary, counted again from the inputs and the audit."""

import numpy as np

from neardup.arrays import Bools
from neardup.io.ids import repeated_ids
from neardup.judging.verification.read_corpus import ReadCorpus
from neardup.judging.verification.removals import Removals
from neardup.judging.verification.result import Check


def check_counts(found: Removals, kept: Bools, read: ReadCorpus) -> Check:
    """The summary has the counts of these rows and of this audit. `kept`: bool[rows], the rows that are in the output."""
    documents, valid, near = read.documents, read.valid, found.only_digits[~found.exact]
    number = int(np.count_nonzero(valid))
    again = {
        "rows": read.rows,
        "documents": number,
        "rejected": read.rows - number,
        "survivors": int(np.count_nonzero(kept)),
        "duplicates": len(found.rows),
        "exact_duplicates": int(np.count_nonzero(found.exact)),
        "only_digits": int(np.count_nonzero(near == 1)),
        "digits_unknown": int(np.count_nonzero(near < 0)),
        "short": int(np.count_nonzero(documents.tokens[: read.rows][valid] < read.claim.min_tokens)),
        "repeated_ids": repeated_ids(documents.ids.slice(0, read.rows)),
        "clusters": len(np.unique(found.clusters)),
        "reference_documents": int(np.count_nonzero(documents.valid[read.rows :])),
        "against_reference": int(np.count_nonzero(found.survivors >= read.rows)),
    }
    stated = read.claim.counts
    failures = [
        f"{name} is {again[name]:,}, but the summary has {value:,}"
        for name, value in stated.items()
        if value != again[name]
    ]
    return Check.of("counts", "the summary has the counts of these inputs and this audit", len(stated), failures)
