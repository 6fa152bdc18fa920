"""Texts meet at sites, or in the chunks of large ones: each edge at one place, to which both of its texts come."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from engine_runs import work_of
from neardup.engines.job_options import Limits
from neardup.engines.reading.documents import sites_of
from neardup.engines.schemas import JOURNEYS, LOCAL_EDGES, NEEDS
from neardup.engines.verification import text_partitions as sites
from neardup.matching.similarities.table import Elements

N = 12
EDGES = st.sets(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] < pair[1]))


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=5), max_size=8))
def test_the_site_of_a_text_is_its_smallest_element(texts):
    values = np.array([value for text in texts for value in text], np.uint64)
    elements = Elements(values, np.empty(0), np.cumsum([0, *map(len, texts)]))
    assert sites_of(elements).tolist() == [min(text) >> 32 if text else 0 for text in texts]


@given(
    EDGES,
    st.lists(st.integers(0, 3), min_size=N, max_size=N),
    st.lists(st.integers(1, 9), min_size=N, max_size=N),
    st.data(),
)
def test_the_edges_of_large_sites_move_to_chunks_with_their_texts(pairs, site, weight, data):
    local = sorted((site[p], p, q, 10 * p, 10 * q) for p, q in pairs if site[p] == site[q])
    needed = sorted({doc for pair in pairs for doc in pair})
    journeys = [(site[doc], doc, 7, doc % 2) for doc in data.draw(st.sets(st.sampled_from(needed)))] if needed else []
    tables = [
        pa.Table.from_pylist([dict(zip(of.schema.names, row, strict=True)) for row in rows], of.schema)
        for of, rows in (
            (LOCAL_EDGES, local),
            (JOURNEYS, journeys),
            (NEEDS, [(site[doc], doc, weight[doc]) for doc in needed]),
        )
    ]
    work = work_of(limits=Limits(elements_per_site=15, elements_per_block=8))
    [(_, found)] = sites.find_large(work).work(tables[2])
    large = found.column("site").to_pylist()
    totals = defaultdict(int)
    for doc in needed:
        totals[site[doc]] += weight[doc]
    assert sorted(large) == sorted(place for place, total in totals.items() if total > 15)
    moved = defaultdict(list)
    for name, table in sites.move(work, large).work(*tables):
        moved[name] += [tuple(row.values()) for row in table.to_pylist()]
    assert moved["local"] == [row for row in local if row[0] not in large]
    assert sorted(row[2:] for row in moved["edges"]) == sorted(row[1:] for row in local if row[0] in large)
    places = {doc: int(sites.own_sites(np.array([site[doc]]), np.array([doc]), large)[0]) for doc in needed}
    assert all((places[doc] == site[doc]) == (site[doc] not in large) for doc in needed)
    ways = {(places[doc], doc, home, chunk) for _, doc, home, chunk in journeys}
    ways |= {(places[doc], doc, home, chunk) for home, chunk, p, q, *_ in moved["edges"] for doc in (p, q)}
    assert sorted(moved["journeys"]) == sorted(ways)
    for home, chunk, *_ in moved["edges"]:
        some = {doc for of, number, p, q, *_ in moved["edges"] if (of, number) == (home, chunk) for doc in (p, q)}
        assert sum(weight[doc] for doc in some) <= 2 * (8 + max(weight))
