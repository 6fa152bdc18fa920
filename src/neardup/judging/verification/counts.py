"""The counts of a summary, counted again from the inputs and the audit."""

import numpy as np

from neardup.arrays import Bools
from neardup.io.ids import repeated_ids
from neardup.judging.verification.read_corpus import ReadCorpus
from neardup.judging.verification.removals import Removals
from neardup.judging.verification.result import Check


def check_counts(found: Removals, kept: Bools, read: ReadCorpus) -> Check:
    """The summary has the counts of these rows and of this audit. `kept`: bool[rows], the rows that are in the output."""
    documents, valid, of_inputs = read.documents, read.valid, found.rows < read.rows
    near = found.only_digits[~found.exact & of_inputs]
    number = int(np.count_nonzero(valid))
    again = {
        "rows": read.rows,
        "documents": number,
        "rejected": read.rows - number,
        "survivors": int(np.count_nonzero(kept)),
        "duplicates": int(np.count_nonzero(of_inputs)),
        "exact_duplicates": int(np.count_nonzero(found.exact & of_inputs)),
        "only_digits": int(np.count_nonzero(near == 1)),
        "digits_unknown": int(np.count_nonzero(near < 0)),
        "short": int(np.count_nonzero(documents.tokens[: read.rows][valid] < read.claim.min_tokens)),
        "repeated_ids": repeated_ids(documents.ids.slice(0, read.rows)),
        "clusters": int(np.count_nonzero(np.unique(found.clusters) < read.rows)),
        "reference_documents": int(np.count_nonzero(documents.valid[read.rows :])),
        "against_reference": int(np.count_nonzero((found.survivors >= read.rows) & of_inputs)),
        "superseded": int(np.count_nonzero(~of_inputs)),
    }
    stated = dict(read.claim.counts)
    if read.claim.keep_most is not None:
        stated.pop("clusters", None)  # one whose documents all stay is in no audit
    failures = [
        f"{name} is {again[name]:,}, but the summary has {value:,}"
        for name, value in stated.items()
        if value != again[name]
    ]
    return Check.of("counts", "the summary has the counts of these inputs and this audit", len(stated), failures)
