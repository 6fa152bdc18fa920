"""Texts of a bucket are compared and sent on in pieces of few bytes, whatever the bucket holds."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import run_of_engine, run_of_library, work_of
from engines.test_serial_engine import ROWS, texts_with_copies
from neardup.engines.job_options import Limits
from neardup.engines.schemas import JOURNEYS, LOCAL_EDGES, TEXTS
from neardup.engines.verification import verify as verified

OPTIONS = {"method": "exact", "min_similarity": 0.4}


def at_site(texts, edges):
    """What one bucket gets whose texts have these sites: local edges, journeys of all texts, and texts."""
    local = [{"site": site, "p": p, "q": q, "p_rank": p, "q_rank": q} for site, p, q in edges]
    journeys = [{"site": site, "doc": doc, "home": 7, "chunk": 0} for doc, (site, _) in enumerate(texts)]
    rows = [{"site": site, "doc": doc, "text": text} for doc, (site, text) in enumerate(texts)]
    given = ((local, LOCAL_EDGES), (journeys, JOURNEYS), (rows, TEXTS))
    return [pa.Table.from_pylist(some, of.schema) for some, of in given]


@pytest.mark.parametrize("most", [1, 50, 1 << 20])
def test_few_texts_of_a_bucket_are_in_memory_with_their_elements(monkeypatch, most):
    texts = [(doc // 4, f"one text of site {doc // 4:03}, with a word of its own, w{doc:03}") for doc in range(80)]
    edges = [(doc // 4, doc - doc % 4, doc) for doc in range(80) if doc % 4]
    sizes, made = [], verified.texts_of_column

    def of_column(column, *more):
        sizes.append(sum(map(len, column.to_pylist())))
        return made(column, *more)

    monkeypatch.setattr(verified, "texts_of_column", of_column)
    found = list(verified.at_sites(work_of(limits=Limits(text_bytes=most))).work(*at_site(texts, edges)))
    length = len(texts[0][1])
    matched = [
        pair
        for name, rows in found
        if name == "matches"
        for pair in zip(*rows.select(["p", "q"]).to_pydict().values(), strict=True)
    ]
    assert sorted(matched) == [(p, q) for _, p, q in edges]
    assert sum(sizes) == 80 * length
    assert max(sizes) <= max(most, 4 * length)
    arrivals = [rows.column("text").to_pylist() for name, rows in found if name == "arrivals"]
    assert sorted(text for rows in arrivals for text in rows) == sorted(text for _, text in texts)
    assert max(sum(map(len, rows)) for rows in arrivals) <= max(most, length)


@given(
    rows=texts_with_copies(12),
    most=st.sampled_from([0, 1, 60, 200]),
    of_home=st.sampled_from([1, Limits().pairs_per_chunk]),
    of_site=st.sampled_from([0, Limits().elements_per_site]),
    buckets=st.sampled_from([1, 16]),
)
def test_pieces_decide_nothing(rows, most, of_home, of_site, buckets):
    expected = run_of_library(rows, None, nd.Recipe(), OPTIONS)
    limits = Limits(
        text_bytes=most, pairs_per_chunk=of_home, elements_per_site=of_site, documents_per_block=1, elements_per_block=1
    )
    assert run_of_engine(rows, None, nd.Recipe(), OPTIONS, buckets=buckets, limits=limits) == expected


def test_pieces_decide_nothing_in_a_corpus_of_copies():
    expected = run_of_library(ROWS, None, nd.Recipe(), OPTIONS)
    assert len(expected) > 4
    assert run_of_engine(ROWS, None, nd.Recipe(), OPTIONS, buckets=1, limits=Limits(text_bytes=300)) == expected
