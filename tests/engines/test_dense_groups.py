"""Corpora whose texts are nearly alike: an engine lists no pair that does not match, and decides as one process does."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from dense_lines import SHAPES, dense_lines
from engine_runs import USUAL, run_of_engine, run_of_library
from engines.test_pairs_on_engines import pairs_of_engine, pairs_of_library
from neardup.engines.job_options import Limits

OPTIONS = [
    {"method": "exact", "min_similarity": 0.7},
    {"method": "exact", "min_similarity": 0.7, "similarity": "weighted", "keep": "longest"},
    {"method": "exact", "min_similarity": 0.7, "cluster": "components"},
    {"method": "minhash", "min_similarity": 0.7},
    {"method": "minhash", "min_similarity": 0.7, "cluster": "components", "keep": "last"},
    {"method": "simhash", "min_similarity": 0.7, "max_distance": 40},
    {"method": "exact", "min_similarity": 0.7, "similarity": "cosine"},
    {"method": "exact", "min_similarity": 0.7, "similarity": "edit", "within": "site"},
]


def rows_of(count, shape="inserted", **how):
    return [{"text": text, "site": "ab"[at % 2]} for at, text in enumerate(dense_lines(count, shape, **how))]


def largest(stages):
    """The most rows that a stage gave of one kind, and the names of stages."""
    return max(rows for stage in stages for rows in stage.rows.values()), {stage.name for stage in stages}


def check(rows, reference, options, **how):
    """Compare a run with one process, which tells similarities of components that are no matches as well."""
    found = run_of_engine(rows, reference, nd.Recipe(), options, **how)
    expected = run_of_library(rows, reference, nd.Recipe(), options)
    if options.get("cluster") == "components":
        known = [row[5] if row[5] and row[5] >= options["min_similarity"] else None for row in expected]
        if options["method"] == "minhash":  # which does not compare all that match
            known = [value and ours[5] and value for value, ours in zip(known, found, strict=True)]
        expected = [(*row[:5], value, *row[6:]) for row, value in zip(expected, known, strict=True)]
    assert found == expected
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options.values())))
def test_dense_lines_are_decided_as_in_one_process_and_few_rows_travel(options):
    rows, stages = rows_of(1_500), []
    check(rows, None, options, size=500, stages=stages)
    most, names = largest(stages)
    assert "dense tiles" in names
    assert most < 60 * len(
        rows
    )  # keys of documents; there are 1.1 million pairs, and some 0.2 million share a rare element


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_a_reference_of_dense_lines_is_compared_as_in_one_process(method):
    rows, options = rows_of(800), {"method": method, "min_similarity": 0.7, "within": "site"}
    stages = []
    check(rows[400:], rows[:400], options, size=150, stages=stages)
    assert "dense tiles" in largest(stages)[1]


def test_lines_that_all_match_are_held_against_few():
    rows, stages = rows_of(1_500, changes=1), []
    found = check(rows, None, {"method": "exact", "min_similarity": 0.5}, size=500, stages=stages)
    assert len(found) == 1_499
    assert sum(stage.rows.get("tiles", 0) for stage in stages) == 1_500
    assert largest(stages)[0] < 60 * len(rows)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize(
    "options", OPTIONS[:1] + OPTIONS[3:4] + OPTIONS[5:], ids=lambda o: " ".join(map(str, o.values()))
)
def test_lists_of_pairs_are_those_of_match(options, across):
    rows, options = rows_of(500), {name: value for name, value in options.items() if name not in ("cluster", "keep")}
    other = rows[300:] if across else None
    rows = rows[:300] if across else rows
    limits = Limits(pairs_per_document=1, elements_per_block=3_000, pairs_per_chunk=50)
    found = pairs_of_engine(rows, other, nd.Recipe(), options, size=120, limits=limits)
    assert found == pairs_of_library(rows, other, nd.Recipe(), options)
    assert found


@given(seed=st.integers(0, 2**32), elements=st.sampled_from([1, 40, 300, USUAL.elements_per_block]))
def test_blocks_of_any_size_give_the_same(seed, elements):
    choose = random.Random(seed)
    texts = dense_lines(30, choose.choice(SHAPES), seed, words=choose.choice([12, 30]), templates=choose.randint(1, 3))
    texts += choose.choices(texts, k=5)
    rows = [{"text": text, "site": choose.choice("ab")} for text in texts]
    options = {"method": choose.choice(["exact", "minhash"]), "min_similarity": choose.choice([0.5, 0.7, 0.8])}
    options |= {"cluster": choose.choice(["star", "components"])} | choose.choice([{}, {"within": "site"}])
    reference = choose.choice([None, rows[:10]])
    limits = Limits(
        documents_per_group=3,
        pairs_per_document=0,
        first_documents=1,
        held_growth=2,
        elements_per_block=elements,
        pairs_per_chunk=5,
        text_bytes=choose.choice([1, 1 << 20]),
        matches_per_task=choose.choice([0, 1 << 20]),
    )
    check(rows, reference, options, buckets=3, limits=limits)


def test_groups_of_too_much_text_are_left_to_tiles_of_keys():
    rows, options, stages = rows_of(600), {"method": "exact", "min_similarity": 0.7}, []
    limits = Limits(elements_held=600 * 20)
    check(rows, None, options, size=200, stages=stages, limits=limits)
    assert "dense tiles" not in largest(stages)[1]
