"""RESULTS: the documents that are removed, by their names, with their survivors and clusters."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.documents import BEFORE_ALL
from neardup.engines.marks import Marks, marked_rows
from neardup.engines.packing import ints
from neardup.engines.schemas import LABELED, LABELS, RESULTS
from neardup.engines.sorted_columns import looked_up
from neardup.engines.stage import Found, Part, Reading, Stage


def reading(marks: Marks) -> Reading:
    """The stage that reads the ids of marked documents."""
    return Reading("ids", partial(_read, marks), {"labels": LABELS})


def _read(marks: Marks, part: Part) -> Found:
    for docs, rows, _ in marked_rows(part, marks):
        yield "labels", pa.table([docs, docs, rows.column("id")], LABELS.schema)


def _place(labels: pa.Table, places: pa.Table) -> Found:
    """Labels with the places of documents in the order of the input; those of a reference come after all."""
    doc = labels.column("doc").to_numpy()
    ours, at = looked_up(places.column("doc").to_numpy(), doc)
    place = doc + BEFORE_ALL
    place[ours] = places.column("place").to_numpy()[at[ours]]
    yield "labels", labels.set_column(1, "place", pa.array(place))


PLACE = Stage("places", _place, {"labels": LABELS})
"""Of labels and places."""


def _label(removed: pa.Table, labels: pa.Table) -> Found:
    rows = labels.take(_at(removed, "doc", labels))
    columns = {name: rows.column(name) for name in LABELS.schema.names}
    columns |= {name: removed.column(name) for name in removed.schema.names if name != "doc"}
    yield "labeled", pa.table([columns[name] for name in LABELED.schema.names], LABELED.schema)


LABEL = Stage("names", _label, {"labeled": LABELED})
"""Of removed documents and labels."""


def _cluster(labeled: pa.Table, labels: pa.Table) -> Found:
    """Name survivors, and the clusters after their first documents."""
    if not len(labeled):
        return
    survivor, place = ints(labeled, "survivor", "place")
    rows = labels.take(_at(labeled, "survivor", labels))
    starts = np.flatnonzero(np.diff(survivor, prepend=survivor[0] - 1))
    number = np.cumsum(np.isin(np.arange(len(survivor)), starts)) - 1
    order = np.lexsort((place, number))
    first = order[starts]  # the removed document of each cluster that came first
    of_survivor = rows.column("place").to_numpy()
    is_first = of_survivor[first] < place[first]
    cluster = np.where(is_first, survivor[first], labeled.column("doc").to_numpy()[first])
    names = pa.chunked_array([*labeled.column("id").chunks, *rows.column("id").chunks])
    cluster_id = names.take(pa.array(np.where(is_first, first + len(labeled), first)[number]))
    columns = {name: labeled.column(name) for name in labeled.schema.names}
    columns |= {"survivor_place": rows.column("place"), "survivor_id": rows.column("id")}
    columns |= {"cluster": cluster[number], "cluster_id": cluster_id}
    yield "results", pa.table([columns[name] for name in RESULTS.schema.names], RESULTS.schema)


CLUSTER = Stage("clusters", _cluster, {"results": RESULTS})
"""Of labeled documents and labels."""


def _at(table: pa.Table, name: str, labels: pa.Table) -> pa.Array:
    return pa.array(np.searchsorted(labels.column("doc").to_numpy(), table.column(name).to_numpy()))
