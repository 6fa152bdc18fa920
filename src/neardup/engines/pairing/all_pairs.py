"""ALL PAIRS of documents with a key in common, for lists of pairs: no waves, as each pair that matches is listed.

Documents with equal elements are still compared once: their class has a leader, and `results/list_pairs.py` pairs its members.
Large groups are divided into blocks at once, as if all their documents led (`blocks.py`): no task lists all pairs of a group.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa

from neardup.engines.columns import beginnings
from neardup.engines.packing import ints
from neardup.engines.pairing import equal_elements
from neardup.engines.reading.row_selection import Marks
from neardup.engines.schemas import LEADERS, LISTED_MEMBERS, MARKED, of_reference, rows_of
from neardup.engines.stages import Found, Stage

ALL = 1 << 31
"""Documents of a group that lead, so that each is compared with each other one."""


def classes_of(*, distinct: bool, among: Marks | None = None) -> Stage:
    """The stage that puts documents with equal elements in classes.

    `distinct`: of equal texts of one side, only the first. `among`: besides the documents of a reference, only these.
    """
    work = partial(_classes, distinct, among)
    return Stage("equal", work, {"leaders": LEADERS, "marked": MARKED, "members": LISTED_MEMBERS})


def _among(marks: Marks, documents: pa.Table) -> pa.Table:
    part, row = rows_of(ints(documents, "doc")[0])
    wanted = documents.column("is_reference").to_numpy().copy()
    ours = np.flatnonzero(~wanted)
    ours = ours[np.argsort(part[ours], kind="stable")]
    for begin, end in pairwise(np.flatnonzero(np.diff(part[ours], prepend=-1, append=-1))):
        at = ours[begin:end]
        wanted[at] = marks.of(int(part[at[0]]), row[at])
    return documents.filter(wanted)


def _classes(distinct: bool, among: Marks | None, documents: pa.Table) -> Found:
    if among is not None:
        documents = _among(among, documents)
    if not len(documents):
        return
    if distinct:
        rank, high, low = ints(documents, "rank", "digest_high", "digest_low")
        side = documents.column("is_reference").to_numpy()
        order = np.lexsort((rank, side, low, high))
        first = beginnings(high[order], low[order], side[order])
        documents = documents.take(np.sort(order[first]))
    high, low, rank, doc = ints(documents, "class_high", "class_low", "rank", "doc")
    number, leader = equal_elements.classes(high, low, rank)
    is_ours = ~documents.column("is_reference").to_numpy()
    has_ours = np.bincount(number, is_ours) > 0
    for name, rows in equal_elements.find(documents):
        if name == "leaders":  # here, copies of a text of the reference count as others
            places = pa.array(np.searchsorted(np.sort(doc), rows.column("doc").to_numpy()))
            of = pa.array(number[np.argsort(doc)]).take(places).to_numpy()
            rows = rows.set_column(rows.schema.get_field_index("has_others"), "has_others", pa.array(has_ours[of]))
        if name in ("leaders", "marked"):
            yield name, rows
    columns = [documents.column(name) for name in LISTED_MEMBERS.schema.names[1:]]
    yield "members", pa.table([doc[leader], *columns], LISTED_MEMBERS.schema)


def across(stage: Stage) -> Stage:
    """A stage of which those pairs are wanted that have a class with a document of the reference, which leads it."""
    return Stage(stage.name, partial(_across, stage.work), stage.outputs)


def _across(work: Callable[..., Found], *tables: pa.Table) -> Found:
    for name, rows in work(*tables):
        if name == "pairs":
            some = np.any([of_reference(ends) for ends in ints(rows, "a", "b")], axis=0)
            rows = rows.filter(some)
        yield name, rows
