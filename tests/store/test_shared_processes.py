"""Processes with overlapping streams on one store in PostgreSQL answer as one process that saw their calls in the order of commits."""

import json
import random
from pathlib import Path

import pytest
from streams import WAYS, near_copies

import neardup as nd
from forked import ended, forked
from neardup.store.postgresql.shared_files import SharedFiles
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def work(place, number, said, batches):
    """Add some batches of a corpus, remove some documents, and write each call and its answers with the position of its change."""
    choose, texts = random.Random(number), list(near_copies(240, 11))
    positions = []
    settled = SharedFiles._settle

    def noted(self, head):
        positions.append(None if head == self.head else head.position)
        settled(self, head)

    SharedFiles._settle = noted
    with Store(place) as store, said.open("w") as file:
        for _ in range(batches):
            rows = sorted(choose.sample(range(240), choose.randrange(1, 12)))
            if choose.random() < 0.8:
                found = store.check_and_add_many(rows, [texts[row] for row in rows])
                answers = [told(answer) for answer in found]
                call = ["add", rows, answers]
            else:
                call = ["remove", rows[:2], store.remove(rows[:2])]
            if positions[-1] is not None:
                file.write(json.dumps([positions[-1], call]) + "\n")


def told(answer):
    matches = [[match.id, match.similarity, match.distance] for match in answer.matches]
    return [answer.is_new, answer.exact, matches, [match.id for match in answer.replaces]]


def in_processes(place, folder, count, batches):
    """The calls of processes that work at once, in the order of their changes."""
    children = [forked(work, place, number, folder / f"{number}.jsonl", batches) for number in range(count)]
    assert [ended(child) for child in children] == [0] * count
    lines = [line for number in range(count) for line in (folder / f"{number}.jsonl").read_text().splitlines()]
    return sorted(json.loads(line) for line in lines)


@pytest.mark.parametrize(
    ("count", "way", "keep"),
    [
        (2, WAYS[0], "first"),
        (4, WAYS[0], "first"),
        (4, WAYS[5], "always"),
        (4, WAYS[0], "longest"),
        (4, WAYS[6], "first"),
    ],
)
def test_processes_answer_as_one_in_the_order_of_commits(tmp_path, server, schema, count, way, keep):
    options = dict(zip(("method", "similarity", "min_similarity"), way, strict=True)) | {"keep": keep}
    place, texts = server.place(schema), list(near_copies(240, 11))
    Store(place, **options).close()
    calls = in_processes(place, tmp_path, count, 25)
    assert [position for position, _ in calls] == list(range(1, len(calls) + 1))
    with Store(tmp_path / "alone", **options) as alone, Store(place) as shared:
        for _, (what, rows, answers) in calls:
            if what == "remove":
                assert alone.remove(rows) == answers
            else:
                found = alone.check_and_add_many(rows, [texts[row] for row in rows])
                assert [told(answer) for answer in found] == answers
        assert len(alone) == len(shared)
        assert alone.check_many(texts) == shared.check_many(texts)
        assert shared.verify().is_sound


def test_processes_make_one_store(tmp_path, place):
    def make(number):
        with Store(place, min_similarity=0.7) as store:
            (tmp_path / f"{number}").write_text(str(store.path))

    children = [forked(make, number) for number in range(4)]
    assert [ended(child) for child in children] == [0] * 4
    folders = {Path((tmp_path / f"{number}").read_text()) for number in range(4)}
    assert len({folder.parent for folder in folders}) == 1


def test_a_store_is_refused_in_a_fork(place):
    def ask():
        with pytest.raises(nd.InputError, match="Open it anew in this process"):
            store.check("text")
        store.close()  # does nothing

    with Store(place) as store:
        assert ended(forked(ask)) == 0
        assert store.check("text").is_new
