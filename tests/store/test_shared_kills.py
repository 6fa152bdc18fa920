"""Services that are killed at any moment: the store has all that was acknowledged, once, in every replica."""

import os
import random
import signal
import time

import pytest
from streams import near_copies

from forked import ended, forked
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def test_services_that_are_killed_at_random_lose_nothing(server, place, tmp_path):
    texts, choose = list(near_copies(600, 4)), random.Random(4)
    Store(place, min_similarity=0.7).close()

    def work(number):
        said = tmp_path / str(number)
        done = said.read_text().count("\n") if said.exists() else 0
        with Store(place) as store, said.open("a") as file:
            for row in range(number + 3 * done, 600, 3):
                answer = store.check_and_add(row, texts[row])
                file.write(f"{row} {row if answer.is_new else answer.duplicate_of}\n")
                file.flush()

    children = {number: forked(work, number) for number in range(3)}
    for _ in range(12):
        time.sleep(choose.random() / 5)
        number = choose.randrange(3)
        os.kill(children[number], signal.SIGKILL)
        ended(children[number])
        children[number] = forked(work, number)
    assert [ended(child) for child in children.values()] == [0, 0, 0]
    told = [line.split() for number in range(3) for line in (tmp_path / str(number)).read_text().splitlines()]
    assert sorted(int(row) for row, _ in told) == list(range(600))
    with Store(place) as store:
        answers = store.check_many(texts)
        assert store.verify().is_sound
        assert [str(answers[int(row)].duplicate_of) for row, _ in told] == [kept for _, kept in told]
