"""RESULTS: the documents that are removed, by their names, with their survivors and clusters."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.documents import BEFORE_ALL
from neardup.engines.marks import Marks, marked_rows
from neardup.engines.packing import ints
from neardup.engines.schemas import LABELED, LABELS, RESULTS, UNKNOWN, as_prints, prints_of
from neardup.engines.sorted_columns import looked_up
from neardup.engines.stage import Found, Part, Reading, Stage
from neardup.engines.verified import distances
from neardup.engines.work import Work
from neardup.fingerprints.simhash import fingerprint_array


def reading(work: Work, named: Marks, unknown: Marks) -> Reading:
    """The stage that reads the ids of some documents, and makes the fingerprints of those whose distances are unknown."""
    return Reading("ids", partial(_read, work, named, unknown), {"labels": LABELS})


def _read(work: Work, named: Marks, unknown: Marks, part: Part) -> Found:
    for docs, rows, (_, wanted) in marked_rows(part, named, unknown):
        prints = np.full(len(docs), b"", object)
        if wanted.any():
            some = fingerprint_array(rows.column("text").filter(pa.array(wanted)), work.recipe).values
            prints[wanted] = as_prints(some).to_pylist()
        yield "labels", pa.table([docs, docs, rows.column("id"), pa.array(prints, pa.large_binary())], LABELS.schema)


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
    columns["distance"] = _distances(labeled, rows)
    columns |= {"survivor_place": rows.column("place"), "survivor_id": rows.column("id")}
    columns |= {"cluster": cluster[number], "cluster_id": cluster_id}
    yield "results", pa.table([columns[name] for name in RESULTS.schema.names], RESULTS.schema)


CLUSTER = Stage("clusters", _cluster, {"results": RESULTS})
"""Of labeled documents and labels."""


def _distances(labeled: pa.Table, survivors: pa.Table) -> Array:
    """int64[n]: between documents and their survivors, also where they were not compared."""
    found: Array = labeled.column("distance").to_numpy().copy()
    asked = np.flatnonzero(found == UNKNOWN)
    some = pa.array(asked)
    found[asked] = distances(prints_of(labeled.take(some)), prints_of(survivors.take(some)))
    return found


def _at(table: pa.Table, name: str, labels: pa.Table) -> pa.Array:
    return pa.array(np.searchsorted(labels.column("doc").to_numpy(), table.column(name).to_numpy()))
