"""COPIES of a text that come together are one document on their way to its class, and share its outcome.

So a page that is there a million times is no task's work: each bucket sends one row of it, and the others follow that one.
"""

import numpy as np
import pyarrow as pa

from neardup.engines.columns import beginnings
from neardup.engines.packing import ints, mixed
from neardup.engines.schemas import COPIES
from neardup.engines.stages import Found


def without_copies(documents: pa.Table) -> Found:
    """Documents (rows of DOCUMENTS) that have their ranks: of equal texts, only the most preferred; and the others as its copies.

    Those of a reference all stay: each of them survives.
    """
    rank, high, low, doc = ints(documents, "rank", "digest_high", "digest_low", "doc")
    own = np.where(documents.column("is_reference").to_numpy(), doc, 0)
    order = np.lexsort((rank, mixed(high, low, own)))
    leads = beginnings(high[order], low[order], own[order])
    if leads.all():
        yield "documents", documents
        return
    yield "documents", documents.take(pa.array(np.sort(order[leads])))
    leader = doc[order[leads]][np.cumsum(leads) - 1]
    yield "copies", pa.table([leader[~leads], doc[order[~leads]]], COPIES.schema)
