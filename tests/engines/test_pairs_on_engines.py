"""The pairs that an engine lists are those of `neardup.match`, whatever the parts, the buckets and the tiles."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from agreement import corpora
from engine_runs import USUAL, batch_of, parts_of, work_of
from engines.corpus_parts import CorpusParts
from engines.test_serial_engine import RECIPES, methods, texts_with_copies
from neardup.dedup import reference_columns
from neardup.engines.flow import list_pairs
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job_options import Limits, Work
from neardup.engines.results import list_pairs as expansion
from neardup.engines.schemas import MATCHES
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.options import DedupOptions


def pairs_of_engine(rows, other, recipe, options, *, size=7, buckets=16, distinct=False, limits=USUAL):
    """(left row, right row, distance, similarity) of each pair, ascending; a right row of `other`, if there is one."""
    options = DedupOptions(**options)
    corpus, reference = TableCorpus(rows, values=options.columns), None
    if other is not None:
        reference = TableCorpus(other, values=reference_columns(options), names_are_optional=True)
    parts = CorpusParts(corpus, options, size=size, reference=reference)
    with tempfile.TemporaryDirectory() as folder:
        engine = SerialEngine(Path(folder), parts, buckets=buckets)
        work = replace(Work.of(recipe, options), limits=limits)
        found = engine.collect(list_pairs(engine, work, across=other is not None, distinct=distinct))
    left, right = (parts.rows(found.column(name).to_numpy())[0].tolist() for name in ("left", "right"))
    values = [[None if value != value else value for value in found.column("similarity").to_pylist()]]
    return sorted(zip(left, right, found.column("distance").to_pylist(), *values, strict=True), key=lambda row: row[:2])


def limits_of(most, block, at_once, held=0):
    """Large groups have more documents than `most`; pieces have few pairs; groups of up to `held` elements may be dense."""
    sizes = {"documents_per_block": block, "documents_per_side": block, "elements_per_block": 5 * block}
    return Limits(documents_per_group=most, pairs_per_piece=at_once, elements_held=held, **sizes)


def pairs_of_library(rows, other, recipe, options):
    found = nd.match(rows, other, recipe=recipe, threads=1, **options)
    similarity = [None if value != value else value for value in found.similarity.tolist()]
    return list(zip(found.left.tolist(), found.right.tolist(), found.distance.tolist(), similarity, strict=True))


@given(
    rows=texts_with_copies(12),
    other=st.none() | texts_with_copies(6),
    shared=st.lists(st.integers(0, 5), max_size=4),
    recipe=st.sampled_from(RECIPES),
    method=methods(),
    within=st.sampled_from([{}, {"within": "group"}]),
    size=st.sampled_from([1, 7, 1000]),
    buckets=st.sampled_from([1, 2, 16]),
    most=st.sampled_from([1, 3, 64]),
    block=st.sampled_from([1, 2, 1000]),
    at_once=st.sampled_from([1, 5, 1000]),
    held=st.sampled_from([0, 1 << 26]),
)
def test_the_pairs_are_those_of_match(
    rows, other, shared, recipe, method, within, size, buckets, most, block, at_once, held
):
    if other:
        rows = rows + [other[at % len(other)] for at in shared]
        other = other + [rows[at % len(rows)] for at in shared]
    options = {**method, **within}
    expected = pairs_of_library(rows, other, recipe, options)
    limits = limits_of(most, block, at_once, held)
    found = pairs_of_engine(rows, other, recipe, options, size=size, buckets=buckets, limits=limits)
    assert found == expected


OPTIONS = (
    {"method": "exact", "min_similarity": 0.6},
    {"method": "exact", "min_similarity": 0.5, "similarity": "weighted", "within": "language"},
    {"method": "exact", "min_similarity": 0.7, "similarity": "containment"},
    {"method": "exact", "min_similarity": 0.6, "similarity": "cosine"},
    {"method": "exact", "min_similarity": 0.7, "similarity": "edit"},
    {"method": "minhash", "min_similarity": 0.7},
    {"method": "simhash", "max_distance": 24, "min_similarity": 0.3},
    {"method": "simhash", "min_similarity": 0, "max_distance": 24},
)


@pytest.mark.parametrize(
    "name", ["equal texts", "equal sets", "chains", "short", "empty", "scripts", "mixture", "reference"]
)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options.values())))
def test_the_corpora_of_the_harness_have_the_pairs_of_match(name, options):
    corpus = corpora.make(name)
    rows, other = [{"text": row["text"], "language": row["language"]} for row in corpus.rows], corpus.reference or None
    found = pairs_of_engine(rows, other, nd.Recipe(), options, limits=limits_of(4, 3, 20))
    assert found == pairs_of_library(rows, other, nd.Recipe(), options)


def test_pairs_have_the_ids_of_their_documents(tmp_path):
    texts = ["a b c", "x", "a b c d", "A B C"]
    engine = SerialEngine(tmp_path, parts_of(batch_of(texts[:2]), batch_of(texts[2:]), size=1))
    work = Work.of(
        nd.Recipe(), DedupOptions(method="exact", min_similarity=0.5, similarity=nd.Similarity(word_shingle=1))
    )
    found = engine.collect(list_pairs(engine, work))
    ids = sorted(zip(found.column("left_id").to_pylist(), found.column("right_id").to_pylist(), strict=True))
    assert ids == [("0", "0"), ("0", "1"), ("0", "1")]  # numbers within batches
    assert sorted(found.column("similarity").to_pylist()) == [0.75, 0.75, 1.0]


@pytest.mark.parametrize("against", [False, True])
def test_distinct_pairs_have_the_first_of_equal_texts(against, tmp_path):
    rows = [{"text": text} for text in ("a b c d", "A b c d", "a b c e", "x", "X")]
    other = [{"text": text} for text in ("a b c d", "a B c d", "a b d c", "x")] if against else None
    options = {"method": "exact", "min_similarity": 0.5, "similarity": nd.Similarity(word_shingle=1)}
    every = pairs_of_library(rows, other, nd.Recipe(), options)
    first = {0, 2, 3}  # on either side
    expected = [row for row in every if row[0] in first and row[1] in first]
    assert pairs_of_engine(rows, other, nd.Recipe(), options, distinct=True) == expected
    assert len(expected) < len(every)


def test_a_class_of_many_is_divided_among_tasks():
    rows = [{"text": "one and the same text"}] * 40
    found = pairs_of_engine(rows, None, nd.Recipe(), {"method": "exact"}, limits=limits_of(64, 7, 50))
    assert [row[:2] for row in found] == [(i, j) for i in range(40) for j in range(i + 1, 40)]


def test_a_product_of_two_classes_is_made_in_chunks():
    """Of many matches of a class, and its many documents."""
    matches = [{"p": p, "q": 1000, "p_rank": p, "q_rank": 1000, "similarity": 0.9, "distance": 1} for p in range(30)]
    member = {"is_reference": False, "is_long": True, "is_empty": False, "id": "a", "print": bytes(8)}
    members = [{"leader": 1000, "doc": 1000 + at, "rank": 1000 + at, **member} for at in range(40)]
    tables = [pa.Table.from_pylist(rows, of.schema) for rows, of in ((matches, MATCHES), (members, expansion.NAMED))]
    halves = [rows for _, rows in expansion.halve(work_of(limits=Limits(pairs_per_piece=50))).work(*tables)]
    assert [len(rows) for rows in halves] == [50] * 24
    pairs = {pair for rows in halves for pair in zip(*rows.select(["p", "doc"]).to_pydict().values(), strict=True)}
    assert pairs == {(p, 1000 + at) for p in range(30) for at in range(40)}
