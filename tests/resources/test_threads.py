"""Work on several threads."""

import threading

import pytest

from neardup.resources.threads import in_order, is_one_of_several


@pytest.mark.parametrize(("items", "threads", "others"), [(5, 2, True), (5, 1, False), (1, 2, False), (0, 2, False)])
def test_results_come_in_order_and_other_threads_work_where_items_and_threads_are_several(items, threads, others):
    def work(item):
        return item, is_one_of_several(), threading.current_thread() is not threading.main_thread()

    assert list(in_order(work, iter(range(items)), threads)) == [(item, others, others) for item in range(items)]


def test_one_thread_takes_no_item_before_it_is_needed():
    taken = []

    def items():
        for item in range(3):
            taken.append(item)
            yield item

    found = in_order(str, items(), 1)
    assert (next(found), taken) == ("0", [0])
