"""Later readings notice a part that is another than at first."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import batch_of
from neardup.engines.reading.unchanged_input import SEEN, Watched, contents_in, demand_all
from neardup.engines.stages import Part

TEXTS = st.lists(st.none() | st.text(max_size=4), max_size=12)


def watched(*batches, number=3):
    """A part that was read to its end."""
    found = Watched(Part(number, iter(batches)))
    for _ in found.part.batches:
        pass
    return found


def rows_of(texts):
    """Rows that do not have the numbers of their batch."""
    batch = batch_of(texts)
    return batch.set_column(1, "id", pa.nulls(len(batch), pa.large_string()))


def whole(texts):
    return watched(rows_of(texts))


@given(TEXTS, TEXTS)
def test_other_texts_are_another_content(texts, others):
    assert (whole(texts).content == whole(others).content) == (texts == others)


@given(TEXTS, st.lists(st.integers(0, 12), max_size=4), st.integers(0, 3))
def test_batches_make_no_difference(texts, cuts, before):
    at = [0, *sorted(cuts), len(texts)]
    pieces = [rows_of(texts[first:last]) for first, last in itertools.pairwise(at)]
    assert watched(*pieces).content == whole(texts).content
    padded = rows_of(["other"] * before + texts + ["more"])
    assert watched(padded.slice(before, len(texts))).content == whole(texts).content


@given(TEXTS, st.sampled_from(["text", "id", "within", "value"]), st.sampled_from(["text", "id", "within", "value"]))
def test_a_value_counts_in_its_column(values, one, other):
    def content(name):
        nothing = pa.nulls(len(values), pa.large_string())
        columns = dict.fromkeys(("text", "id", "within", "value"), nothing) | {
            name: pa.array(values, pa.large_string())
        }
        return watched(pa.record_batch(columns)).content

    has_any = any(value is not None for value in values)
    assert (content(one) == content(other)) == (one == other or not has_any)


def test_what_no_text_covers_does_not_matter():
    data, offsets = pa.py_buffer(b"abcxyz"), pa.py_buffer(bytes(pa.array([0, 3, 6], pa.int64()).buffers()[1])[:24])
    column = pa.LargeStringArray.from_buffers(2, offsets, data, pa.py_buffer(b"\x01"))
    assert column.to_pylist() == ["abc", None]
    batch = batch_of(["abc", None])
    assert watched(batch.set_column(0, "text", column)).content == watched(batch).content


def test_contents_travel_as_rows():
    rows = pa.concat_tables([SEEN.schema.empty_table(), whole(["a", None]).rows(), watched(number=4).rows()])
    seen = contents_in(rows)
    assert seen == {3: whole(["a", None]).content, 4: (0, 0)}
    whole(["a", None]).check(seen)
    watched(number=5).check(seen)  # nothing there, and nothing then


@pytest.mark.parametrize("texts", [["a", "c"], ["b", "a"], ["a"], ["a", "b", "b"], ["a", None], []])
def test_a_part_that_changed_is_refused(texts):
    seen = {3: whole(["a", "b"]).content}
    with pytest.raises(
        nd.DataError, match=f"Part 3 .* then 2 rows with .*, now {len(texts)} rows .* write it to files"
    ):
        whole(texts).check(seen)


def test_parts_that_come_and_go_are_refused():
    seen = {3: whole(["a"]).content, 4: watched().content}
    demand_all(seen, {3: whole(["a"]).content})
    with pytest.raises(nd.DataError, match="Part 3 .* then 1 rows with .*, now it is not there"):
        demand_all(seen, {})
    with pytest.raises(nd.DataError, match="Part 5 .* then it was not there, now 1 rows"):
        watched(batch_of(["a"]), number=5).check(seen)
