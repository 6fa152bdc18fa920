"""JOIN KEYS: read the leaders of classes again, and give each the keys by which it meets others; then the pairs of each bucket."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.candidates.groups import paired, pairs_in_groups
from neardup.engines.candidates.table import METHODS
from neardup.engines.job_options import Work
from neardup.engines.reading.documents import groups_of_texts
from neardup.engines.reading.row_selection import Marks, marked_rows
from neardup.engines.schemas import LARGE_POSTINGS, MARKED, PAIRS, POSTINGS, marked
from neardup.engines.stages import Found, Part, Reading, Stage
from neardup.kernels.store.prefixes import Order


def reading(work: Work, marks: Marks, order: Order) -> Reading:
    """The stage that gives marked documents their keys."""
    return Reading("keys", partial(_read, work, marks, order), {"postings": POSTINGS})


def _read(work: Work, marks: Marks, order: Order, part: Part) -> Found:
    method = METHODS[work.options.method]
    for docs, rows, _ in marked_rows(part, marks):
        yield "postings", method.keys(work, rows.column("text"), docs, groups_of_texts(work, rows), order)


def _docs(large: pa.Table) -> Found:
    """The documents of large groups."""
    yield "marked", marked(np.unique(large.column("doc").to_numpy()))


DOCS = Stage("large groups", _docs, {"marked": MARKED})
"""Of the postings of large groups."""


def stage(work: Work) -> Stage:
    """The stage that finds the pairs of documents with a key in common; those of large groups are left to waves."""
    return Stage("pairs", partial(_pairs, work), {"pairs": PAIRS, "large": LARGE_POSTINGS})


def _pairs(work: Work, postings: pa.Table) -> Found:
    if not len(postings):
        return
    method, limits = METHODS[work.options.method], work.limits
    each = limits.pairs_per_document if method.refined_by is None else limits.pairs_per_document_refined
    code, least = method.code(work), float(work.options.min_similarity)
    left, right, large = pairs_in_groups(postings, code, least, each, limits.documents_per_group)
    yield "pairs", paired(left, right)
    yield "large", large
