"""The engine of one process cuts the passages that `find_passages` cuts, whatever the parts, the buckets and the order of files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import batch_of
from engines import passage_runs
from engines.passage_runs import by_engine, by_one_process
from engines.test_serial_engine import shuffle_files
from neardup.engines.job.sample import Sample, stages_of
from neardup.engines.repeats import minimizers, windows
from neardup.engines.repeats.work import PassageWork
from neardup.kernels.repeats.windows import see
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.token_stream import SEPARATOR

WORDS = ["a", "b", "天", "c", "ab。", "d,", "ﷺ"]
ALL = property(lambda _: np.full(1 << (minimizers.MIN_BITS - 5), -1).view(np.uint64))
"""Cells that say of all minimizers that they stand at several places."""
PIECES = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.tuples(st.sampled_from(WORDS[:n]), st.sampled_from([" ", " ", "\n", "\n\n", ""])), max_size=30
    )
)


@st.composite
def rows_of(draw, most=6):
    """Documents of two columns of few words, with values."""
    columns = draw(st.integers(1, 2))
    found = []
    for _ in range(draw(st.integers(1, most))):
        pieces = ["".join(map("".join, draw(PIECES))) for _ in range(columns)]
        values = {"group": draw(st.sampled_from([None, "x", "y"])), "score": draw(st.sampled_from([None, 1, 2, 3.5]))}
        found.append({"text": SEPARATOR.join(pieces), **values})
    return columns, found


@given(
    rows_of(),
    st.integers(0, 2),
    st.integers(2, 7),
    st.fixed_dictionaries(
        {},
        optional={
            "scope": st.sampled_from(["all", "other-documents", "same-document"]),
            "align": st.sampled_from(["line", "paragraph"]),
            "keep": st.sampled_from(["last", "longest", "shortest", "max:score", "min:score"]),
            "within": st.just("group"),
            "min_left": st.integers(0, 8),
            "similarity": st.sampled_from(["edit", nd.Similarity(segmenter="characters", word_shingle=4)]),
        },
    ),
    st.sampled_from([1, 2, 1000]),
    st.sampled_from([1, 2, 16]),
)
def test_passages_are_those_of_one_process(documents, references, size, options, rows_in_part, buckets):
    columns, rows = documents
    references = min(references, len(rows) - 1)
    rows, reference = rows[: len(rows) - references], rows[len(rows) - references :]
    options |= {"min_tokens": size, "columns": columns}
    found = by_engine(rows, reference, size=rows_in_part, buckets=buckets, **options)
    assert found == by_one_process(rows, reference, **options)


def boilerplate(documents):
    """Documents of different words, all of which have the same passage."""
    passage = " ".join(f"p{i}" for i in range(30))
    return [{"text": " ".join(f"w{n}x{i}" for i in range(20)) + f" {passage} end{n}"} for n in range(documents)]


def test_neither_parts_nor_buckets_nor_the_order_of_files_matter():
    rows = boilerplate(40) + boilerplate(3)
    expected = by_one_process(rows, rows[:2], min_tokens=10)
    assert expected[2]["segments"] > 40
    for size, buckets in ((1, 16), (7, 2), (1000, 61), (1000, 1)):
        found = by_engine(rows, rows[:2], min_tokens=10, size=size, buckets=buckets, change=shuffle_files)
        assert found == expected


def test_what_is_in_every_document_comes_to_a_task_once_for_each_bucket(monkeypatch):
    """Tokens of the first document travel to each bucket once, and so do earliest places and copies."""
    seen = []
    monkeypatch.setattr(passage_runs, "totals_of", lambda engine, found: seen.append(engine.measured))
    for documents in (200, 400):
        by_engine(boilerplate(documents), min_tokens=10, buckets=4, size=50)
    few, many = ({each.name: each.rows for each in measured} for measured in seen)
    assert few["earliest windows"]["earliest"] == many["earliest windows"]["earliest"] == 4 * 21
    assert few["tokens"] == many["tokens"] == {"sent": 4}
    assert few["outcomes"]["located"] == many["outcomes"]["located"] == 4
    assert many["log"]["log"] == 399


def test_different_windows_with_equal_hashes_are_an_error(monkeypatch):
    monkeypatch.setattr(windows, "BASES", (0, 0))  # then a hash is that of the last token
    monkeypatch.setattr(minimizers.RepeatedMinimizers, "cells", ALL)
    rows = [{"text": "a b c d e f g"}, {"text": "u v c d x y g"}]
    with pytest.raises(nd.DataError, match="Two different passages have equal hashes of 122 bits"):
        by_engine(rows, min_tokens=3)


def test_values_that_are_no_minimizers_of_several_places_only_cost_work(monkeypatch):
    """All cells may be full."""
    rows = boilerplate(20)
    expected = by_engine(rows, min_tokens=10)
    monkeypatch.setattr(minimizers.RepeatedMinimizers, "cells", ALL)
    assert by_engine(rows, min_tokens=10) == expected


@pytest.mark.parametrize("count", [1, 3000, 50_000])
def test_values_of_several_places_have_the_cells_that_one_process_gives_them(count):
    values = np.random.default_rng(count).integers(0, 1 << 64, count, np.uint64)
    again = next(iter(minimizers._again(minimizers._counted([values, values]))))[1]
    bits = 20
    rows = [table for _, table in minimizers._fill(bits, again)]
    found = minimizers.RepeatedMinimizers(bits, {row["division"][0].as_py(): row["cells"][0].as_py() for row in rows})
    expected = np.zeros(1 << (bits - 5), np.uint64)
    for _ in range(2):
        see(values, 0, count, found.shift, expected)
    assert np.array_equal(found.cells, expected & np.uint64(0xAAAA_AAAA_AAAA_AAAA))


def test_a_plan_bounds_the_windows_that_there_may_be():
    work = PassageWork.of_passages(nd.Recipe(), PassageOptions(min_tokens=10))
    found = stages_of(Sample(([batch_of([row["text"] for row in boilerplate(50)])],), (50,)), work)
    assert [stage.name for stage in found.stages][-2:] == ["windows", "first windows"]
    assert found.stages[-1].unpacked > 50 * 42 * 32  # a text has 51 tokens, and a row of a window 32 bytes


def test_few_rows():
    for rows in ([], [{"text": ""}], [{"text": "alone"}], [{"text": ""}, {"text": " "}], [{"text": "a a a a"}]):
        assert by_engine(rows, min_tokens=2) == by_one_process(rows, min_tokens=2)
