"""Several clients at a time, and a service that is killed: the store is what one process would have made of what was committed, in order."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import neardup as nd
from neardup.service import app
from service.serving import Served, listening, new_store, post, texts_of


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_overlapping_streams_are_decided_as_one_stream_in_the_order_of_commits(tmp_path, monkeypatch, keep):
    """The order is that in which the thread of the store called it."""
    committed, really = [], app.open_store

    def recording(place, **more):
        store = really(place, **more)
        adding = store.check_and_add_many

        def recorded(ids, texts, **given):
            found = adding(ids, texts, **given)
            committed.append((ids, texts, found))
            return found

        store.check_and_add_many = recorded
        return store

    monkeypatch.setattr(app, "open_store", recording)
    texts = texts_of(random.Random(6), 120)
    with listening({"default": new_store(tmp_path / "s", keep=keep)}) as url, nd.Client(url) as client:

        def write(writer):
            rng = random.Random(writer)
            numbers = list(range(120))
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
    assert sum(len(ids) for ids, _, _ in committed) == 480
    assert len(committed) < 480  # some shared a commit
    with nd.Store(tmp_path / "one", min_similarity=0.7, keep=keep) as one, nd.Store(tmp_path / "s") as store:
        for ids, some, found in committed:
            for name, text, answer in zip(ids, some, found, strict=True):
                assert one.check_and_add(name, text) == answer == told[name]
        names = [f"{writer}-{number}" for writer in range(4) for number in range(120)]
        assert [store.get(each) is None for each in names] == [one.get(each) is None for each in names]
        assert store.check_many(texts) == one.check_many(texts)
        assert store.verify().is_sound


def kill_under_load(path, kills, seed, *, seconds=0.6):
    """Kill a service some times while four clients add documents; returns what is wrong, and how many documents were acknowledged."""
    rng = random.Random(seed)
    acknowledged, wrong, lock = {}, [], threading.Lock()
    for round_ in range(kills + 1):
        with Served("--store", path, "--quiet") as served:
            if acknowledged:
                wrong += lost(served, acknowledged, rng)
            if round_ == kills:
                assert served.end() == 0
                break

            def write(writer, served=served, round_=round_):
                own = random.Random(f"{seed}/{round_}/{writer}")
                texts = texts_of(own, 400)
                with served.client() as client:
                    for number, text in enumerate(texts):
                        count = own.choice((1, 1, 1, 20))
                        some = [
                            {"id": f"{round_}-{writer}-{number}-{each}", "text": f"{text} {writer} {each}"}
                            for each in range(count)
                        ]
                        body, key = (some[0] if count == 1 else some), f"{round_}-{writer}-{number}"
                        try:
                            answer = post(client, "check-and-add", body, headers={"Idempotency-Key": key})
                        except httpx.TransportError:
                            return
                        assert answer.status_code == 200, answer.text
                        with lock:
                            acknowledged[key] = (body, answer.content)

            with ThreadPoolExecutor(4) as pool:
                writing = [pool.submit(write, writer) for writer in range(4)]
                time.sleep(rng.uniform(0.1, seconds))
                served.process.kill()
                for each in writing:
                    each.result()
    return wrong, acknowledged


def lost(served, acknowledged, rng):
    """Requests whose documents are not there, or whose answers are others, after a start."""
    wrong, keys = [], list(acknowledged)
    with served.client() as client:
        for key in rng.sample(keys, min(40, len(keys))) + keys[-40:]:
            body, expected = acknowledged[key]
            if post(client, "check-and-add", body, headers={"Idempotency-Key": key}).content != expected:
                wrong.append(f"{key}: another answer")
        texts = [
            each["text"] for body, _ in acknowledged.values() for each in (body if isinstance(body, list) else [body])
        ]
        for at in range(0, len(texts), 1000):
            answers = post(client, "check", [{"text": each} for each in texts[at : at + 1000]]).json()
            wrong += [f"lost: {text}" for text, each in zip(texts[at:], answers, strict=False) if each["is_new"]]
    return wrong


def test_a_service_that_is_killed_has_all_that_it_has_acknowledged(tmp_path):
    path = new_store(tmp_path / "s")
    wrong, acknowledged = kill_under_load(path, 3, seed=1)
    assert wrong == []
    assert len(acknowledged) > 30
    with nd.Store(path) as store:
        assert store.verify().is_sound


@pytest.mark.long
def test_a_service_that_is_killed_often_has_all_that_it_has_acknowledged(tmp_path):
    path = new_store(tmp_path / "s")
    wrong, _ = kill_under_load(path, 40, seed=2)
    assert wrong == []
    with nd.Store(path) as store:
        assert store.verify().is_sound
