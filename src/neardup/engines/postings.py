"""POSTINGS: read the leaders of classes again, and give each the keys by which it meets others; then the pairs of each bucket."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.candidates.groups import pairs_in_groups
from neardup.engines.candidates.table import METHODS
from neardup.engines.documents import groups_of_texts
from neardup.engines.marks import Marks, marked_texts
from neardup.engines.packing import ints
from neardup.engines.schemas import COUNTED, LARGE, PAIRS
from neardup.engines.stage import Found, Part, Reading, Stage
from neardup.engines.work import Work
from neardup.kernels.store.prefixes import Order
from neardup.store.orders import MOST_LEARNED, order_of

MOST_OF_BUCKET = 1 << 16
"""Elements whose counts a bucket tells; with all divisions of a sample, four times what is learned."""


def reading(work: Work, marks: Marks, order: Order) -> Reading:
    """The stage that gives marked documents their keys."""
    return Reading("keys", partial(_read, work, marks, order), {"postings": METHODS[work.options.method].postings})


def _read(work: Work, marks: Marks, order: Order, part: Part) -> Found:
    method = METHODS[work.options.method]
    for found in marked_texts(work, part, marks):
        yield "postings", method.keys(work, found.texts, found.docs, groups_of_texts(found.rows), order)


def stage(work: Work) -> Stage:
    """The stage that finds the pairs of documents with a key in common; those of large groups are left to waves."""
    return Stage("pairs", partial(_pairs, work), {"pairs": PAIRS, "large": LARGE})


def _pairs(work: Work, postings: pa.Table) -> Found:
    if not len(postings):
        return
    method = METHODS[work.options.method]
    if method.code is None:
        assert method.pairs is not None
        yield "pairs", pa.table(method.pairs(work, postings), PAIRS.schema)
        return
    left, right, large = pairs_in_groups(postings, method.code(work), float(work.options.min_similarity))
    yield "pairs", pa.table([left, right], PAIRS.schema)
    yield "large", large


def _count(sample: pa.Table) -> Found:
    """Elements that several documents of a sample have, the most frequent of a bucket."""
    elements, counts = np.unique(sample.column("element").to_numpy(), return_counts=True)
    several = np.flatnonzero(counts > 1)
    several = several[np.argsort(-counts[several], kind="stable")[:MOST_OF_BUCKET]]
    yield "counted", pa.table([elements[several], counts[several]], COUNTED.schema)


COUNT = Stage("order of elements", _count, {"counted": COUNTED})
"""Of the elements of a sample."""


def order_of_counted(counted: pa.Table) -> Order:
    """The order by which frequent elements come last: at most `MOST_LEARNED` are known, some 16 MB."""
    elements, counts = ints(counted, "element", "documents")
    kept = np.sort(np.lexsort((elements, -counts))[:MOST_LEARNED])
    return order_of(np.ascontiguousarray(elements[kept]).view(np.uint64), counts[kept].astype(np.uint32))
