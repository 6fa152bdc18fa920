"""The order of elements on an engine: those that many documents have come last."""

import numpy as np
import pyarrow as pa
import pytest

from neardup.engines.reading.element_order import COUNT, ELEMENTS_PER_DOCUMENT, Counting, order_of_counted
from neardup.engines.schemas import SAMPLE
from neardup.kernels.store.prefixes import slot_of


def added(counting, sets):
    values = np.array([value for each in sets for value in each], np.uint64)
    counting.add(values, np.cumsum([0, *map(len, sets)]))


def test_elements_of_few_documents_are_not_told():
    counting = Counting()
    added(counting, [[7, 9], [7, 11]])
    added(counting, [[7, 9], [7, 9]])
    assert counting.rows().to_pydict() == {"division": [7, 9], "element": [7, 9], "documents": [4, 3]}


def test_a_part_tells_the_most_frequent_elements_in_proportion_to_its_documents():
    counting = Counting()
    added(counting, [list(range(1, 101))] * 3 + [list(range(1, 4))])
    assert sorted(counting.rows().column("element").to_pylist())[:3] == [1, 2, 3]
    assert len(counting.rows()) == 4 * ELEMENTS_PER_DOCUMENT


def test_a_full_table_keeps_the_frequent_elements():
    counting = Counting(slots=64)
    added(counting, [[1, 2]] * 50)
    for first in range(3, 300, 10):
        added(counting, [list(range(first, first + 10))] * 3)
    rows = counting.rows().to_pydict()
    assert sorted(rows["element"][:2]) == [1, 2]
    assert rows["documents"][:2] == [50, 50]
    assert len(rows["element"]) <= 33


def test_a_text_with_more_elements_than_the_table_leaves_no_part_of_it_full():
    counting = Counting(slots=1 << 10, cells=1 << 6)
    values = np.sort(np.random.default_rng(1).integers(0, 2**64, 20_000, np.uint64))
    counting.add(values, np.array([0, len(values)]))
    eighths = np.count_nonzero(counting._order.counts.reshape(8, -1), axis=1)
    assert eighths.max() < 0.75 * (1 << 10) / 8


def test_counts_of_parts_are_added():
    sample = pa.table({"division": [5, 8, 5], "element": [5, 8, 5], "documents": [4, 3, 2]}, SAMPLE.schema)
    ((name, counted),) = COUNT.work(sample)
    assert (name, counted.to_pydict()) == ("counted", {"element": [5, 8], "documents": [6, 3]})


@pytest.mark.parametrize(("most", "known"), [(2, {5: 6, 8: 3}), (1, {5: 6})])
def test_an_order_knows_the_most_frequent_elements(most, known):
    order = order_of_counted(pa.table({"element": [8, 5], "documents": [3, 6]}), most=most)
    assert {int(value): int(order.counts[slot_of(np.uint64(value), order)]) for value in known} == known
    assert np.count_nonzero(order.counts) == len(known)
