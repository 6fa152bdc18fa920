"""VERIFY: bring both texts of an edge together, and compare them."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.table import METHODS
from neardup.engines.marks import Marks, marked_rows
from neardup.engines.packing import ints
from neardup.engines.schemas import ARRIVALS, MATCHES, TEXTS, as_prints
from neardup.engines.stage import Found, Part, Reading, Stage
from neardup.engines.work import Work
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.table import Elements
from neardup.store.texts import texts_of_column


def reading(first: Marks, second: Marks) -> Reading:
    """The stage that reads the texts of edges again; `first`, `second`: which documents are preferred in one, and which are not."""
    return Reading("texts again", partial(_read, first, second), {"first": TEXTS, "second": TEXTS})


def _read(first: Marks, second: Marks, part: Part) -> Found:
    for docs, rows, flags in marked_rows(part, first, second):
        texts = pa.table([docs, rows.column("text")], TEXTS.schema)
        for name, wanted in zip(("first", "second"), flags, strict=True):
            yield name, texts.filter(pa.array(wanted))


def _send(edges: pa.Table, texts: pa.Table) -> Found:
    """Edges with their second text."""
    if len(edges):
        at = np.searchsorted(texts.column("doc").to_numpy(), edges.column("q").to_numpy())
        text = texts.column("text").take(pa.array(at))
        yield "arrivals", edges.append_column("text", text).select(ARRIVALS.schema.names)


SEND = Stage("texts to edges", _send, {"arrivals": ARRIVALS})
"""Of edges, and their second texts. Texts travel, not their elements, which take two to three times the bytes of packed text."""


def stage(work: Work) -> Stage:
    """The stage that compares texts: of edges with their second text, and first texts."""
    return Stage("verify", partial(_verify, work), {"matches": MATCHES})


def _verify(work: Work, arrivals: pa.Table, first: pa.Table) -> Found:
    if not len(arrivals):
        return
    p, q = ints(arrivals, "p", "q")
    known, some, right = np.unique(q, return_index=True, return_inverse=True)
    left = len(known) + np.searchsorted(first.column("doc").to_numpy(), p)
    both = [column.combine_chunks() for column in (arrivals.column("text").take(pa.array(some)), first.column("text"))]
    texts = texts_of_column(pa.concat_arrays(both), work.recipe, work.similarity, None)
    similarity = np.empty(len(p))
    similarities_of(_stored(work, texts.compared), left, right, float(work.options.min_similarity), similarity)
    matched = similarity >= 0
    prints = texts.prints.values
    proposes = METHODS[work.options.method].proposes
    if proposes is not None:
        at = np.flatnonzero(matched)
        distance = distances(prints[left[at]], prints[right[at]])
        matched[at] = proposes(work, texts.joined, left[at], right[at], distance)
    found = np.flatnonzero(matched)
    columns = {name: arrivals.column(name).to_numpy()[found] for name in ("p", "q", "p_rank", "q_rank")}
    columns |= {"p_print": as_prints(prints[left[found]]), "q_print": as_prints(prints[right[found]])}
    columns |= {"similarity": similarity[found]}
    yield "matches", pa.table([columns[name] for name in MATCHES.schema.names], MATCHES.schema)


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


def _stored(work: Work, elements: Elements) -> Stored:
    starts, ends = elements.offsets[:-1].copy(), elements.offsets[1:].copy()
    longest = int(np.diff(elements.offsets).max(initial=0))
    code = work.similarity.code
    return Stored(code, elements.values, elements.weights, starts, ends, working_memory(code, longest))
