"""REFERENCE MATCHES: the documents that match a reference, each by itself, whatever else it matches.

As in `neardup.survivors.reference_matches`: a document that is kept matches none, and in a star, one whose survivor is in the
reference matches that survivor. The others are asked: their pairs with the reference are found as for a list of pairs.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.columns import looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.schemas import HELD, MARKED, marked, of_reference
from neardup.engines.stages import Found, Stage


def ask(work: Work) -> Stage:
    """The stage that says of which documents it is not known: of removed ones."""
    return Stage("asked", partial(_ask, work.options.cluster == "star"), {"marked": MARKED})


def _ask(is_star: bool, removed: pa.Table) -> Found:
    if len(removed):
        doc, survivor = ints(removed, "doc", "survivor")
        yield "marked", marked(doc[of_reference(survivor) != is_star])


def _found(members: pa.Table, ends: pa.Table) -> Found:
    if len(members):
        doc, leader = ints(members, "doc", "leader")
        meets = of_reference(leader) | np.isin(leader, ends.column("leader").to_numpy())
        yield "documents", pa.table([doc[meets & ~of_reference(doc)]], HELD.schema)


FOUND = Stage("reference", _found, {"documents": HELD})
"""Of members of classes, of which documents of a reference lead theirs, and the classes that match one of the reference."""


def _copies(documents: pa.Table, copies: pa.Table) -> Found:
    if len(copies):
        leader, doc = ints(copies, "leader", "doc")
        yield "documents", pa.table([doc[looked_up(documents.column("doc").to_numpy(), leader)[0]]], HELD.schema)


COPIES_OF_FOUND = Stage("reference", _copies, {"documents": HELD})
"""Of documents, and copies: those of these documents."""
