"""CLASSES: documents with equal elements are compared once. The most preferred of them leads; equal texts share an outcome."""

import numpy as np
import pyarrow as pa

from neardup.engines.columns import beginnings
from neardup.engines.packing import ints
from neardup.engines.schemas import HEADS, LEADERS, MARKED, MEMBERS, NONE, marked
from neardup.engines.stages import Found, Stage


def find(documents: pa.Table) -> Found:
    """The leaders that may match others, and the members of classes that do not lead."""
    if not len(documents):
        return
    high, low, rank, digest_high, digest_low = ints(
        documents, "class_high", "class_low", "rank", "digest_high", "digest_low"
    )
    order = np.lexsort((rank, low, high))
    starts = beginnings(high[order], low[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts) - 1
    leader = order[starts][number]
    by_text = np.lexsort((rank, digest_low, digest_high, number))
    same = beginnings(number[by_text], digest_high[by_text], digest_low[by_text])
    representative = np.empty(len(order), np.int64)
    representative[by_text] = by_text[np.flatnonzero(same)[np.cumsum(same) - 1]]

    doc, places = ints(documents, "doc")[0], np.arange(len(order))
    is_reference = documents.column("is_reference").to_numpy()
    sizes = np.bincount(number)
    leads = np.flatnonzero((leader == places) & documents.column("is_long").to_numpy())
    columns = documents.take(pa.array(leads))
    is_new = ~is_reference & (representative == places)
    for name, flags in (("has_others", is_new), ("has_later", is_new & (leader != places))):
        columns = columns.append_column(name, pa.array((np.bincount(number, flags) > 0)[number[leads]]))
    yield "leaders", columns.select(LEADERS.schema.names)
    yield "marked", marked(doc[leads])
    # A document of a reference stays. One that does not lead matches nothing that its leader does not match, and is later; only
    # equal texts are its own.
    others = np.flatnonzero((leader != places) & ~is_reference)
    rows = documents.take(pa.array(others))
    rows = rows.append_column("leader", pa.array(doc[leader[others]]))
    same_text = representative[others]
    rows = rows.append_column("is_copy", pa.array(leader[others] == same_text))
    rows = rows.append_column("outcome_rank", pa.array(rank[same_text]))
    other_reference = is_reference[same_text] & (leader[others] != same_text)
    rows = rows.append_column("reference", pa.array(np.where(other_reference, doc[same_text], NONE)))
    yield "members", rows.select(MEMBERS.schema.names)
    heads = documents.take(pa.array(np.flatnonzero((leader == places) & (sizes[number] > 1))))
    yield "heads", heads.rename_columns({"doc": "leader"}).select(HEADS.schema.names)


CLASSES = Stage("equal", find, {"leaders": LEADERS, "marked": MARKED, "members": MEMBERS, "heads": HEADS})
