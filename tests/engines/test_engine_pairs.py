"""The pairs that each method finds by keys, against the obvious definition: look at all of them."""

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from engine_runs import batch_of, parts_of, work_of
from neardup.engines.candidates import simhash
from neardup.engines.candidates.minhash import signatures_of
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job_options import Limits
from neardup.engines.pairing import join_keys as postings
from neardup.engines.reading import row_selection as marks
from neardup.engines.schemas import ROW_BITS, marked
from neardup.matching.candidates.minhash import minhash_bands
from neardup.matching.element_order import BY_HASH, learned
from neardup.matching.text_features import texts_of_column

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


DOCUMENTS = (0, 1000, 10**6, 10**12)


@given(
    TEXTS,
    st.none() | GROUPS,
    st.sampled_from([0, 3, 10, 30, 128]),
    st.sampled_from(DOCUMENTS),
    st.sampled_from([0, 0.5]),
)
def test_simhash_misses_no_pair_within_the_distance_that_can_match(texts, within, distance, documents, least):
    within = within and within[: len(texts)]
    prints = [[naive.fingerprint(text)] for text in texts]
    possible = pairs_in_groups(texts, within)
    expected = {(i, j) for i, j, _ in naive.pairs_within(prints, distance)} & set(possible)
    expected = {(i, j) for i, j in expected if least == 0 or alike(texts[i], texts[j], "jaccard") >= least}
    work = replace(work_of(method="simhash", max_distance=distance, min_similarity=least), documents=documents)
    assert expected <= set(pairs_of(work, texts, within=within)) <= set(possible)


@pytest.mark.parametrize(
    ("bits", "distance", "documents", "keys"),
    [
        (64, 3, 10**6, 5),
        (128, 3, 10**9, 4),
        (128, 10, 10**6, 50),
        (128, 18, 20_000, 0),
        (128, 128, 2, 0),
        (128, 0, 10**9, 1),
    ],
)
def test_simhash_takes_blocks_where_few_long_keys_find_all(bits, distance, documents, keys):
    for least in (0, 0.5):
        work = work_of(nd.Recipe(bits=bits), method="simhash", max_distance=distance, min_similarity=least)
        work = replace(work, documents=documents)
        plan = simhash.plan_of(work)
        assert (plan.tables if plan else 0) == keys
        assert simhash.needs_order(work) == (keys == 0 and least > 0)


@given(st.integers(0, 20), st.sampled_from([64, 128, 192]), st.randoms(use_true_random=False))
def test_prints_within_the_distance_have_a_key_in_common(distance, bits, chance):
    plan = simhash._plan_of(1000, bits, bits, distance)
    if plan is None:
        return
    flips = sum(1 << bit for bit in chance.sample(range(bits), distance))
    values = [chance.getrandbits(bits) for _ in range(2)]
    words = [
        [value >> 64 * word & (1 << 64) - 1 for word in range(bits // 64)] for value in (*values, values[0] ^ flips)
    ]
    one, _, near = simhash.keys_of_blocks(np.array(words, np.uint64), simhash.masks_of(plan))
    assert (one == near).any()
    assert len(set(one.tolist())) == plan.tables == len(one)
    assert np.bitwise_or.reduce(simhash.masks_of(plan)).tolist() == [(1 << 64) - 1] * (bits // 64)


@given(TEXTS, st.none() | GROUPS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_minhash_finds_the_pairs_that_agree_in_a_band(texts, within, threshold):
    limits = Limits(pairs_per_document_refined=len(texts))  # so that no group is left to prefixes
    work = work_of(method="minhash", min_similarity=threshold, limits=limits)
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
