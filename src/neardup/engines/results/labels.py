"""LABELS: the documents that are removed, by their names, with their survivors and clusters."""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import beginnings, runs
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, mixed, rows_of_docs
from neardup.engines.reading.row_selection import Marks, marked_rows
from neardup.engines.schemas import (
    CLUSTERS,
    FIRSTS,
    INT,
    LABELED,
    LABELS,
    RESULTS,
    UNKNOWN,
    as_prints,
    of_reference,
    prints_of,
)
from neardup.engines.stages import Engine, Found, Output, Part, Reading, Stage
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.near import row_distances
from neardup.survivors.decisions import differ_in_digits

SHARES = 64
"""Of the duplicates of a survivor that has many in a bucket."""


def reading(work: Work, named: Marks, compared: Marks) -> Reading:
    """The stage that reads the ids of some documents, and of those that are compared makes what they are compared by."""
    return Reading("ids", partial(_read, work, named, compared), {"labels": LABELS})


def _read(work: Work, named: Marks, compared: Marks, part: Part) -> Found:
    for docs, rows, (_, wanted) in marked_rows(part, named, compared):
        prints, figures = np.full(len(docs), b"", object), np.zeros(len(docs), np.int64)
        if wanted.any():
            some = fingerprint_array(rows.column("text").filter(wanted), work.recipe)
            prints[wanted], figures[wanted] = as_prints(some.values).to_pylist(), some.figures.view(np.int64)
        columns = [docs, docs, rows.column("id"), pa.array(prints, pa.large_binary()), figures]
        yield "labels", pa.table(columns, LABELS.schema)


def _place(labels: pa.Table, places: pa.Table) -> Found:
    """Labels with the places of documents in the order of the input, and of the reference."""
    known = rows_of_docs(places, *ints(labels, "doc"))
    yield "labels", labels.set_column(1, "place", known.column("place"))


PLACE = Stage("places", _place, {"labels": LABELS})
"""Of labels and places."""


def label(work: Work) -> Stage:
    """The stage that names removed documents, and finds the first of each survivor, or share: of these documents, and labels."""
    return Stage("names", partial(_label, work.limits.duplicates_per_share), {"labeled": LABELED, "firsts": FIRSTS})


def _label(most: int, removed: pa.Table, labels: pa.Table) -> Found:
    if not len(removed):
        return
    survivor, doc = ints(removed, "survivor", "doc")
    rows = rows_of_docs(labels, doc)
    _, of, counts = np.unique(survivor, return_inverse=True, return_counts=True)
    share = np.where(counts[of] > most, mixed(doc) % np.uint64(SHARES), np.uint64(0)).astype(np.int64)
    columns = {name: rows.column(name) for name in LABELS.schema.names}
    columns |= {name: removed.column(name) for name in removed.schema.names if name != "doc"} | {"share": share}
    labeled = pa.table([columns[name] for name in LABELED.schema.names], LABELED.schema)
    yield "labeled", labeled
    order = np.lexsort((ints(labeled, "place")[0], share, survivor))
    first = order[beginnings(survivor[order], share[order])]
    yield "firsts", labeled.take(first).select(FIRSTS.schema.names)


def _cluster(firsts: pa.Table, labels: pa.Table) -> Found:
    """Name survivors, and the clusters after their first documents; for each share of duplicates."""
    if not len(firsts):
        return
    survivor, place = ints(firsts, "survivor", "place")
    rows = rows_of_docs(labels, survivor)
    starts = np.flatnonzero(beginnings(survivor))
    number = runs(survivor)
    first = np.lexsort((place, number))[starts]  # the removed document of each cluster that came first
    is_first = ints(rows, "place")[0][first] < place[first]
    cluster = np.where(is_first, survivor[first], ints(firsts, "doc")[0][first])
    names = pa.chunked_array([*firsts.column("id").chunks, *rows.column("id").chunks])
    cluster_id = names.take(np.where(is_first, first + len(firsts), first)[number])
    share = ints(firsts, "share")[0]
    named = [rows.column(name) for name in ("place", "id", "print", "figures")]
    columns = [survivor, share, *named, cluster[number], cluster_id]
    order = np.lexsort((share, survivor))
    once = order[beginnings(survivor[order], share[order])]
    yield "clusters", pa.table(columns, CLUSTERS.schema).take(once)


CLUSTER = Stage("clusters", _cluster, {"clusters": CLUSTERS})
"""Of the first documents of shares and labels."""


def _finish(labeled: pa.Table, clusters: pa.Table) -> Found:
    """Removed documents with their survivors and clusters."""
    if not len(labeled):
        return
    rows = clusters.take(runs(*ints(labeled, "survivor", "share")))  # clusters have the same order
    columns = {name: rows.column(name) for name in rows.schema.names}
    columns |= {name: labeled.column(name) for name in labeled.schema.names}
    columns["distance"] = _distances(labeled, rows)
    [figures], [of_survivors] = ints(labeled, "figures"), ints(rows, "survivor_figures")
    columns["only_digits"] = differ_in_digits(figures, of_survivors, labeled.column("exact").to_numpy()) > 0
    yield "results", pa.table([columns[name] for name in RESULTS.schema.names], RESULTS.schema)


FINISH = Stage("results", _finish, {"results": RESULTS})
"""Of labeled documents and clusters."""


def _distances(labeled: pa.Table, clusters: pa.Table) -> Array:
    """int64[n]: between documents and their survivors, also where they were not compared."""
    found: Array = labeled.column("distance").to_numpy().copy()
    asked = np.flatnonzero(found == UNKNOWN)
    some = pa.array(asked)
    found[asked] = row_distances(prints_of(labeled.take(some)), prints_of(clusters.take(some), "survivor_print"))
    return found


CLUSTERED = Output(
    pa.schema({"survivor": INT, "survivor_id": pa.large_string(), "cluster_id": pa.large_string()}), ("survivor",)
)


def survivors_of_clusters(engine: Engine, results: Any) -> Any:
    """Rows of CLUSTERED, of documents that are none of a reference."""
    found = engine.run(_TELL, results)["clustered"]
    return engine.run(_ONCE, found)["clustered"]


def _tell(results: pa.Table) -> Found:
    rows = results.select(CLUSTERED.schema.names)
    yield from _once(rows.filter(~of_reference(ints(rows, "survivor")[0])))


def _once(rows: pa.Table) -> Found:
    if len(rows):
        _, first = np.unique(ints(rows, "survivor")[0], return_index=True)
        yield "clustered", rows.take(first)


_TELL = Stage("survivors of clusters", _tell, {"clustered": CLUSTERED})
_ONCE = Stage("survivors once", _once, {"clustered": CLUSTERED})
