"""The pairs that each method finds by keys, against the obvious definition: look at all of them."""

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from engine_runs import batch_of, parts_of, work_of
from neardup.engines import marks, postings
from neardup.engines.candidates.minhash import signatures_of
from neardup.engines.schemas import ROW_BITS, marked
from neardup.engines.serial import SerialEngine
from neardup.matching.candidates.minhash import minhash_bands
from neardup.store.orders import BY_HASH, learned
from neardup.store.texts import texts_of_column

TEXTS = st.lists(
    st.lists(st.sampled_from([f"w{n}" for n in range(14)]), min_size=1, max_size=12).map(" ".join),
    min_size=1,
    max_size=12,
)
GROUPS = st.lists(st.sampled_from([None, '"x"', '"y"']), min_size=12, max_size=12)
THRESHOLDS = (0.1, 0.5, 0.8, 1.0)


def pairs_of(work, texts, *, within=None, size=2, learn=False):
    """The pairs that the stages find, as pairs of rows; twice in one bucket they are not."""
    batches = [batch_of(texts, within).slice(at, size) for at in range(0, len(texts), size)]
    rows = np.arange(len(texts))
    docs = ((rows // size) << ROW_BITS) + rows % size
    order = BY_HASH
    if learn:
        order = learned(
            texts_of_column(batch_of(texts).column("text"), work.recipe, work.similarity, None).joined.values
        )
    with tempfile.TemporaryDirectory() as folder:
        engine = SerialEngine(Path(folder), parts_of(*batches, size=1), buckets=5)
        parts = marks.marks_in(next(table for _, table in marks.find(marked(docs))))
        keys = engine.read(postings.reading(work, parts, order))["postings"]
        found = engine.run(postings.stage(work), keys)
        assert "large" not in found or found["large"].is_empty
        table = engine.collect(found["pairs"])
    row = {int(doc): int(number) for doc, number in zip(docs, rows, strict=True)}
    pairs = [(row[a], row[b]) for a, b in zip(*(table.column(name).to_pylist() for name in "ab"), strict=True)]
    assert all(a < b for a, b in pairs)
    return pairs


def pairs_in_groups(texts, within):
    """All pairs of texts, of one group."""
    return [(i, j) for i, j in itertools.combinations(range(len(texts)), 2) if within is None or within[i] == within[j]]


@pytest.mark.parametrize("kind", ["jaccard", "weighted", "containment", "cosine", "edit"])
@given(texts=TEXTS, within=st.none() | GROUPS, threshold=st.sampled_from(THRESHOLDS), learn=st.booleans())
def test_exact_misses_no_pair(kind, texts, within, threshold, learn):
    similarity = kind if kind == "cosine" else nd.Similarity(measure=kind, word_shingle=1)
    work = work_of(similarity=similarity, min_similarity=threshold)
    within = within and within[: len(texts)]
    possible = pairs_in_groups(texts, within)
    expected = {(i, j) for i, j in possible if alike(texts[i], texts[j], kind) >= threshold}
    found = set(pairs_of(work, texts, within=within, learn=learn))
    assert expected <= found <= set(possible)


def alike(a, b, kind):
    """The similarity of texts by single words."""
    a, b = a.split(), b.split()
    if kind == "edit":
        return 1 - naive.levenshtein(a, b) / max(len(a), len(b))
    if kind == "cosine":
        return naive.cosine(" ".join(a), " ".join(b))
    if kind == "weighted":
        a, b = ({(word, n) for word in each for n in range(each.count(word))} for each in (a, b))
    return naive.set_similarity("containment" if kind == "containment" else "jaccard", set(a), set(b))


@given(TEXTS, st.none() | GROUPS, st.sampled_from([0, 10, 30, 128]))
def test_simhash_finds_every_pair_within_the_distance_and_no_other(texts, within, distance):
    within = within and within[: len(texts)]
    prints = [[naive.fingerprint(text)] for text in texts]
    expected = {(i, j) for i, j, _ in naive.pairs_within(prints, distance)} & set(pairs_in_groups(texts, within))
    for options in ({"min_similarity": 0}, {"min_similarity": 0.5}):
        found = pairs_of(work_of(method="simhash", max_distance=distance, **options), texts, within=within)
        assert sorted(found) == sorted(expected)


@given(TEXTS, st.none() | GROUPS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_minhash_finds_the_pairs_that_agree_in_a_band(texts, within, threshold):
    work = work_of(method="minhash", min_similarity=threshold)
    within = within and within[: len(texts)]
    joined = texts_of_column(batch_of(texts).column("text"), work.recipe, work.similarity, None).joined
    bands = minhash_bands(threshold)
    expected = naive.pairs_in_bands(
        signatures_of(work, joined).tolist(), np.diff(joined.offsets).tolist(), bands.bands, bands.rows
    )
    found = pairs_of(work, texts, within=within)
    assert set(found) == set(expected) & set(pairs_in_groups(texts, within))


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_no_keys_have_no_pairs(method):
    work = work_of(method=method)
    schema = postings.reading(work, marks.Marks({}), BY_HASH).outputs["postings"].schema
    assert list(postings.stage(work).work(schema.empty_table())) == []
