"""Large texts: small requests pass by, what texts become when they are normalized is bounded, and their memory is given back."""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

import neardup as nd
from neardup.jobs.store_places import opened_store
from neardup.service.limits import Limits
from neardup.service.messages.messages import Document, encode
from neardup.service.metrics import Metrics, StoreMetrics
from neardup.service.problems import Problem
from neardup.service.stores import large_texts
from neardup.service.stores.large_texts import LARGE_CHARACTERS
from neardup.service.stores.waiting import Addition, Call, Check
from neardup.service.stores.worker import Worker
from neardup.text.normalizers import compared_bytes, normalize
from service.serving import BREAD, FERRY, LINES, Served, asking, is_problem, new_store, post

LARGE = " ".join(f"w{n}" for n in range(LARGE_CHARACTERS // 4))
GROWS = "\ufdfa"
"""Eighteen characters, once normalized."""
SMALL = Limits(max_body=200_000, bytes_per_part=200_000)


class Held:
    """A store that prepares texts only when it may, and notes what is prepared."""

    def __init__(self, store):
        self._store, self.prepared, self.may_go = store, [], threading.Event()

    def __getattr__(self, name):
        return getattr(self._store, name)

    def __len__(self):
        return len(self._store)

    def prepare(self, texts):
        assert self.may_go.wait(60)
        self.prepared.append(len(texts))
        return self._store.prepare(texts)


def worker_of(path, limits=None):
    made = []

    def opened():
        made.append(Held(opened_store(str(path))))
        return made[-1]

    worker = Worker("default", opened, limits or Limits(), StoreMetrics(Metrics(), "default"), lambda *_, **__: None)
    return worker, made[0]


def future():
    return asyncio.get_running_loop().create_future()


def check(*texts):
    return Check(future(), len(texts), list(texts))


def addition(name, text):
    return Addition(future(), 1, [Document(name, text)], None, "", encode)


def run(worker, work):
    async def ran():
        worker.start(asyncio.get_running_loop())
        return await asyncio.wait_for(work(), 60)

    try:
        return asyncio.run(ran())
    finally:
        worker.end()


def test_small_requests_of_every_kind_pass_by_large_ones(tmp_path):
    worker, store = worker_of(new_store(tmp_path / "s"))

    async def work():
        large = [
            check(LARGE),
            addition("large", LARGE),
            Call(future(), 1, lambda store, text: store.neighbors(text), LARGE),
            check(*["many words of a text " * 10] * (LARGE_CHARACTERS // 200)),
        ]
        for job in large:
            worker.put(job)
        small = [check(BREAD), addition("small", FERRY), Call(future(), 1, len), check(FERRY)]
        for job in small:
            worker.put(job)
        found = await asyncio.gather(*(job.future for job in small))
        assert not any(job.future.done() or job.begun for job in large)
        assert found[2] == 1
        store.may_go.set()
        answers = await asyncio.gather(*(job.future for job in large))
        return json.loads(answers[1].body), answers[2]

    [added], neighbors = run(worker, work)
    assert added["is_new"]
    assert [each.id for each in neighbors] == ["large"]
    assert store.prepared == [1, 1, 1, LARGE_CHARACTERS // 200]


def test_only_one_request_has_features_before_the_store_takes_it(tmp_path):
    worker, store = worker_of(new_store(tmp_path / "s"))
    store.may_go.set()

    async def work():
        begun, may_go = threading.Event(), threading.Event()
        blocking = Call(future(), 1, lambda _: (begun.set(), may_go.wait(60)))
        worker.put(blocking)
        await asyncio.to_thread(begun.wait, 60)
        large = [check(LARGE), check(LARGE + "a"), check(LARGE + "b")]
        for job in large:
            worker.put(job)
        while large[0].prepared is None:
            await asyncio.sleep(0.001)
        assert worker.withdraw(large[1])
        assert [job.prepared is None for job in large] == [False, True, True]
        may_go.set()
        await asyncio.gather(large[0].future, large[2].future)
        assert not worker.withdraw(large[0])
        assert large[1].prepared is None

    run(worker, work)
    assert store.prepared == [1, 1]


def test_what_is_withdrawn_or_ends_while_it_is_prepared(tmp_path):
    worker, store = worker_of(new_store(tmp_path / "s"))

    async def work():
        first, second = addition("first", LARGE), addition("second", LARGE)
        worker.put(first)
        worker.put(second)
        assert worker.withdraw(first)
        ending = asyncio.create_task(asyncio.to_thread(worker.end))
        while not worker.is_ending:
            await asyncio.sleep(0.001)
        with pytest.raises(Problem, match="ending"):
            worker.put(check("x"))
        store.may_go.set()
        found = await second.future
        await ending
        return json.loads(found.body)

    assert run(worker, work)[0]["is_new"]
    with nd.Store(tmp_path / "s") as opened:
        assert (opened.get("first"), len(opened)) == (None, 1)


def test_a_large_text_that_is_not_unicode_is_refused_alone(tmp_path):
    worker, store = worker_of(new_store(tmp_path / "s"))
    store.may_go.set()

    async def work():
        jobs = [check(LARGE, "\ud800"), check(LARGE)]
        for job in jobs:
            worker.put(job)
        return await asyncio.gather(*(job.future for job in jobs), return_exceptions=True)

    bad, good = run(worker, work)
    assert isinstance(bad, nd.OptionError)
    assert good[0].is_new


@pytest.mark.parametrize("way", ["check", "check array", "check-and-add", "add array", "neighbors", "lines"])
def test_what_texts_become_when_normalized_is_bounded(tmp_path, monkeypatch, way):
    monkeypatch.setattr(large_texts, "LARGE_CHARACTERS", 1000)
    most = SMALL.max_normalized // 33
    with asking(new_store(tmp_path / "s"), limits=SMALL) as client:

        def ask(count):
            parts = [GROWS * (count // 2), GROWS * (count - count // 2)]
            if way == "lines":
                body = "".join(json.dumps({"text": part}, ensure_ascii=False) + "\n" for part in parts).encode()
                return client.post("/v1/stores/default/check", content=body, headers=LINES)
            given = [{"id": n, "text": part} for n, part in enumerate(parts)]
            one = {"id": 1, "text": GROWS * count}
            name, value = {
                "check": ("check", one),
                "check array": ("check", given),
                "check-and-add": ("check-and-add", one),
                "add array": ("check-and-add", given),
                "neighbors": ("neighbors", {"text": GROWS * count}),
            }[way]
            body = json.dumps(value, ensure_ascii=False).encode()
            return client.post(f"/v1/stores/default/{name}", content=body, headers={"Content-Type": "application/json"})

        refused = ask(most + 100)
        assert "when normalized; at most 390.6 KiB are taken" in is_problem(refused, 413, "too_large")
        assert ask(most - 100).status_code == 200
        assert post(client, "check", {"text": FERRY}).status_code == 200


def test_what_texts_become_is_counted_in_pieces():
    for text in ("", FERRY * 5_000, "e\u0301 " * 100_000, GROWS * 100_000, "\u00bd" * 70_000, "\u0130" * 70_000):
        exact = len(normalize(text).encode())
        assert abs(compared_bytes(text, ("nfkc_casefold",)) - exact) <= 8 * (1 + len(text) // 65_536)


def test_memory_goes_back_when_no_large_text_has_come_for_a_while(tmp_path, monkeypatch):
    given = threading.Event()
    monkeypatch.setattr(large_texts, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(large_texts, "give_back", given.set)
    worker, store = worker_of(new_store(tmp_path / "s"))
    store.may_go.set()

    async def work():
        worker.put(job := check(LARGE))
        await job.future
        assert await asyncio.to_thread(given.wait, 60)

    run(worker, work)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_service_is_as_small_after_large_texts_as_before(tmp_path):
    def resident(served):
        pages = int(Path(f"/proc/{served.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGESIZE") >> 20

    with Served("--store", new_store(tmp_path / "s")) as served, served.client() as client:

        def ask(text):
            body, headers = json.dumps({"text": text}).encode(), {"Content-Type": "application/json"}
            assert client.post("/v1/stores/default/check", content=body, headers=headers).status_code == 200

        ask(FERRY)
        before = resident(served)
        for number in range(8):
            ask(f"{number} " + " ".join(f"w{n}" for n in range(700_000)))
        until = time.monotonic() + 60
        while resident(served) > before + 40 and time.monotonic() < until:
            time.sleep(0.1)
        assert resident(served) <= before + 40
