"""EVERY PAIR of documents with a key in common, for lists of pairs: no waves, as each pair that matches is listed.

Documents with equal elements are still compared once: their class has a leader, and `results/list_pairs.py` pairs its members.
Large groups are divided into blocks at once, as if all their documents led (`blocks.py`): no task lists all pairs of a group.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.columns import beginnings
from neardup.engines.packing import ints
from neardup.engines.pairing import equal_elements as classes
from neardup.engines.schemas import BOOL, INT, LEADERS, MARKED, of_reference
from neardup.engines.stages import Found, Output, Stage

ALL = 1 << 31
"""Documents of a group that lead, so that each is compared with each other one."""
_MEMBER = {"doc": INT, "rank": INT, "is_reference": BOOL, "is_long": BOOL, "is_empty": BOOL}
MEMBERS = Output(pa.schema({"leader": INT, **_MEMBER}), ("leader",))
"""All documents, by the leader of their class, which is one as well."""


def classes_of(*, distinct: bool) -> Stage:
    """The stage that puts documents with equal elements in classes. `distinct`: of equal texts of one side, only the first."""
    return Stage("equal", partial(_classes, distinct), {"leaders": LEADERS, "marked": MARKED, "members": MEMBERS})


def _classes(distinct: bool, documents: pa.Table) -> Found:
    if not len(documents):
        return
    if distinct:
        rank, high, low = ints(documents, "rank", "digest_high", "digest_low")
        side = documents.column("is_reference").to_numpy()
        order = np.lexsort((rank, side, low, high))
        first = beginnings(high[order], low[order], side[order])
        documents = documents.take(pa.array(np.sort(order[first])))
    high, low, rank, doc = ints(documents, "class_high", "class_low", "rank", "doc")
    order = np.lexsort((rank, low, high))
    starts = beginnings(high[order], low[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts) - 1
    leader = order[starts][number]
    is_ours = ~documents.column("is_reference").to_numpy()
    has_ours = np.bincount(number, is_ours) > 0
    for name, rows in classes.find(documents):
        if name == "leaders":  # here, copies of a text of the reference count as others
            places = pa.array(np.searchsorted(np.sort(doc), rows.column("doc").to_numpy()))
            of = pa.array(number[np.argsort(doc)]).take(places).to_numpy()
            rows = rows.set_column(rows.schema.get_field_index("has_others"), "has_others", pa.array(has_ours[of]))
        if name in ("leaders", "marked"):
            yield name, rows
    yield "members", pa.table([doc[leader], *(documents.column(name) for name in _MEMBER)], MEMBERS.schema)


def across(stage: Stage) -> Stage:
    """A stage of which those pairs are wanted that have a class with a document of the reference, which leads it."""
    return Stage(stage.name, partial(_across, stage.work), stage.outputs)


def _across(work: Callable[..., Found], *tables: pa.Table) -> Found:
    for name, rows in work(*tables):
        if name == "pairs":
            some = np.any([of_reference(ends) for ends in ints(rows, "a", "b")], axis=0)
            rows = rows.filter(pa.array(some))
        yield name, rows
