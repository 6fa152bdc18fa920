"""EQUAL ELEMENTS make documents a class, which is compared once. The most preferred one leads; equal texts share an outcome."""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import beginnings
from neardup.engines.packing import ints, with_columns
from neardup.engines.schemas import HEADS, LEADERS, MARKED, MEMBERS, NONE, marked
from neardup.engines.stages import Found, Stage


def classes(high: Array, low: Array, rank: Array) -> tuple[Array, Array]:
    """int64[n] each: the class of each document, by its digest, and the row of the most preferred one there, which leads."""
    order = np.lexsort((rank, low, high))
    starts = beginnings(high[order], low[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts) - 1
    return number, order[starts][number]


def find(documents: pa.Table) -> Found:
    """The leaders that may match others, and the members of classes that do not lead."""
    if not len(documents):
        return
    high, low, rank, digest_high, digest_low = ints(
        documents, "class_high", "class_low", "rank", "digest_high", "digest_low"
    )
    number, leader = classes(high, low, rank)
    by_text = np.lexsort((rank, digest_low, digest_high, number))
    same = beginnings(number[by_text], digest_high[by_text], digest_low[by_text])
    representative = np.empty(len(number), np.int64)
    representative[by_text] = by_text[np.flatnonzero(same)[np.cumsum(same) - 1]]

    doc, places = ints(documents, "doc")[0], np.arange(len(number))
    is_reference = documents.column("is_reference").to_numpy()
    sizes = np.bincount(number)
    leads = np.flatnonzero((leader == places) & documents.column("is_long").to_numpy())
    columns = documents.take(leads)
    is_new = ~is_reference & (representative == places)
    has_others, has_later = (np.bincount(number, flags) > 0 for flags in (is_new, is_new & (leader != places)))
    columns = with_columns(columns, has_others=has_others[number[leads]], has_later=has_later[number[leads]])
    yield "leaders", columns.select(LEADERS.schema.names)
    yield "marked", marked(doc[leads])
    # A document of a reference stays. One that does not lead matches nothing that its leader does not match, and is later; only
    # equal texts are its own.
    others = np.flatnonzero((leader != places) & ~is_reference)
    same_text = representative[others]
    is_copy = leader[others] == same_text
    rows = with_columns(
        documents.take(others),
        leader=doc[leader[others]],
        is_copy=is_copy,
        outcome_rank=rank[same_text],
        reference=np.where(is_reference[same_text] & ~is_copy, doc[same_text], NONE),
    )
    yield "members", rows.select(MEMBERS.schema.names)
    heads = documents.take(np.flatnonzero((leader == places) & (sizes[number] > 1)))
    yield "heads", heads.rename_columns({"doc": "leader"}).select(HEADS.schema.names)


CLASSES = Stage("equal", find, {"leaders": LEADERS, "marked": MARKED, "members": MEMBERS, "heads": HEADS})
