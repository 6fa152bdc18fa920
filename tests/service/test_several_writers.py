"""Several clients at a time, and a service that is killed: the store is what one process would have made of what was committed, in order."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import neardup as nd
from neardup.service import app
from service.kills import kill_under_load
from service.serving import listening, new_store, texts_of


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_overlapping_streams_are_decided_as_one_stream_in_the_order_of_commits(tmp_path, monkeypatch, keep):
    """The order is that in which the thread of the store called it."""
    committed, really = [], app.opened_store

    def recording(*given, **more):
        store = really(*given, **more)
        adding = store.check_and_add_many

        def recorded(ids, texts, **given):
            found = adding(ids, texts, **given)
            committed.append((ids, texts, found))
            return found

        store.check_and_add_many = recorded
        return store

    monkeypatch.setattr(app, "opened_store", recording)
    texts = texts_of(random.Random(6), 60)
    with listening({"default": new_store(tmp_path / "s", keep=keep)}) as url, nd.Client(url) as client:

        def write(writer):
            rng = random.Random(writer)
            numbers = list(range(60))
            rng.shuffle(numbers)
            told = {}
            while numbers:
                some = [numbers.pop() for _ in range(min(len(numbers), rng.choice((1, 1, 1, 5))))]
                ids = [f"{writer}-{number}" for number in some]
                answers = client.check_and_add_many(ids, [texts[number] for number in some])
                told |= dict(zip(ids, answers, strict=True))
            return told

        with ThreadPoolExecutor(4) as pool:
            told = {name: answer for some in pool.map(write, range(4)) for name, answer in some.items()}
    assert sum(len(ids) for ids, _, _ in committed) == 240
    assert len(committed) < 240  # some shared a commit
    with nd.Store(tmp_path / "one", min_similarity=0.7, keep=keep) as one, nd.Store(tmp_path / "s") as store:
        for ids, some, found in committed:
            for name, text, answer in zip(ids, some, found, strict=True):
                assert one.check_and_add(name, text) == answer == told[name]
        names = [f"{writer}-{number}" for writer in range(4) for number in range(60)]
        assert [store.get(each) is None for each in names] == [one.get(each) is None for each in names]
        assert store.check_many(texts) == one.check_many(texts)
        assert store.verify().is_sound


def test_a_service_that_is_killed_has_all_that_it_has_acknowledged(tmp_path):
    path = new_store(tmp_path / "s")
    wrong, acknowledged = kill_under_load(path, 2, seed=1)
    assert wrong == []
    assert len(acknowledged) > 20
    with nd.Store(path) as store:
        assert store.verify().is_sound
