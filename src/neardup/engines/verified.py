"""VERIFY: bring the elements of both texts of an edge together, and compare them."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.table import METHODS
from neardup.engines.marks import Marks, marked_texts
from neardup.engines.schemas import ARRIVALS, MATCHES, SETS, as_prints, prints_of
from neardup.engines.stage import Found, Part, Reading, Stage
from neardup.engines.work import Work
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.table import Elements
from neardup.store.texts import some_elements


def reading(work: Work, first: Marks, second: Marks) -> Reading:
    """The stage that reads the texts of edges again; `first`, `second`: which documents are preferred in one, and which are not."""
    return Reading("texts again", partial(_read, work, first, second), {"first": SETS, "second": SETS})


def _read(work: Work, first: Marks, second: Marks, part: Part) -> Found:
    for found in marked_texts(work, part, first, second):
        for name, flags in zip(("first", "second"), found.flags, strict=True):
            some = np.flatnonzero(flags)
            if len(some):
                prints = found.texts.prints.values[some]
                yield name, _sets(found.docs[some], prints, some_elements(found.texts.compared, some))


def _sets(docs: Array, prints: Array, elements: Elements) -> pa.Table:
    offsets = pa.array(elements.offsets)
    values = pa.LargeListArray.from_arrays(offsets, pa.array(elements.values.view(np.int64)))
    has_weights = len(elements.weights) > 0
    at = offsets if has_weights else pa.array(np.zeros(len(docs) + 1, np.int64))
    weights = pa.LargeListArray.from_arrays(at, pa.array(elements.weights, pa.float64()))
    return pa.table([docs, as_prints(prints), values, weights], SETS.schema)


def _send(edges: pa.Table, sets: pa.Table) -> Found:
    """Edges with the elements of their second text."""
    if len(edges):
        at = pa.array(np.searchsorted(sets.column("doc").to_numpy(), edges.column("q").to_numpy()))
        own = sets.take(at)
        for name in ("elements", "weights"):
            edges = edges.append_column(name, own.column(name))
        yield "arrivals", _with_prints(edges, "q_print", own.column("print")).select(ARRIVALS.schema.names)


def _with_prints(edges: pa.Table, name: str, prints: pa.ChunkedArray) -> pa.Table:
    """Edges with the fingerprints of one end, which they lack if no distance decided about them."""
    return edges.set_column(edges.schema.get_field_index(name), name, prints)


SEND = Stage("texts to edges", _send, {"arrivals": ARRIVALS})
"""Of edges, and the elements of their second texts."""


def stage(work: Work) -> Stage:
    """The stage that compares texts: of edges with the elements of their second text, and the elements of first texts."""
    return Stage("verify", partial(_verify, work), {"matches": MATCHES})


def _verify(work: Work, arrivals: pa.Table, sets: pa.Table) -> Found:
    if not len(arrivals):
        return
    p = arrivals.column("p").to_numpy()
    elements = _together(_elements(sets), _elements(arrivals))
    left = np.searchsorted(sets.column("doc").to_numpy(), p)
    arrivals = _with_prints(arrivals, "p_print", sets.column("print").take(pa.array(left)))
    right = len(sets) + np.arange(len(p))
    similarity = np.empty(len(p))
    similarities_of(_stored(work, elements), left, right, float(work.options.min_similarity), similarity)
    matched = similarity >= 0
    proposes = METHODS[work.options.method].proposes
    if proposes is not None and matched.any():
        some = np.flatnonzero(matched)
        distance = distances(prints_of(arrivals, "p_print")[some], prints_of(arrivals, "q_print")[some])
        matched[some] = proposes(work, elements, left[some], right[some], distance)
    found = np.flatnonzero(matched)
    rows = arrivals.take(pa.array(found)).append_column("similarity", pa.array(similarity[found]))
    yield "matches", rows.select(MATCHES.schema.names)


def by_distance() -> Stage:
    """The stage that takes all edges for matches."""
    return Stage("matches", _all_match, {"matches": MATCHES})


def _all_match(edges: pa.Table) -> Found:
    rows = edges.append_column("similarity", pa.array(np.full(len(edges), np.nan)))
    yield "matches", rows.select(MATCHES.schema.names)


def distances(left: Array, right: Array) -> Array:
    """int64[n]: the distances of fingerprints, uint64[n, words] each."""
    found: Array = np.bitwise_count(left ^ right).sum(axis=1, dtype=np.int64)
    return found


def _elements(table: pa.Table) -> Elements:
    values, weights = (table.column(name).combine_chunks() for name in ("elements", "weights"))
    offsets = values.offsets.to_numpy()
    flat = values.flatten().to_numpy().view(np.uint64)
    return Elements(flat, weights.flatten().to_numpy(), offsets - offsets[0])


def _together(left: Elements, right: Elements) -> Elements:
    values, weights = np.concatenate([left.values, right.values]), np.concatenate([left.weights, right.weights])
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.concatenate([left.offsets, left.offsets[-1] + right.offsets[1:]]))


def _stored(work: Work, elements: Elements) -> Stored:
    starts, ends = elements.offsets[:-1].copy(), elements.offsets[1:].copy()
    longest = int(np.diff(elements.offsets).max(initial=0))
    code = work.similarity.code
    return Stored(code, elements.values, elements.weights, starts, ends, working_memory(code, longest))
