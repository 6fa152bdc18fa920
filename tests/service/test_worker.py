"""The thread of a store: what waits together is one commit, with the answers of one after another; failures hit only those concerned."""

import asyncio
import json
import random
import threading
import time

import pytest

import neardup as nd
from neardup.jobs.store_places import opened_store
from neardup.service.limits import Limits
from neardup.service.messages.messages import Document, encode
from neardup.service.metrics import Metrics, StoreMetrics
from neardup.service.problems import Problem
from neardup.service.stores.waiting import Addition, Call, Check, digest_of
from neardup.service.stores.worker import Worker
from service.serving import (
    BREAD,
    FERRY,
    LATER,
    LINES,
    TOKEN,
    add,
    asking,
    is_problem,
    lines,
    new_store,
    post,
    texts_of,
    tokens_in,
)

PART, TOGETHER = Limits.lines_per_part, Limits.documents_per_commit
ADD = "/v1/stores/default/check-and-add"


class Slow:
    """A store whose calls wait until they may go on, and that counts them."""

    def __init__(self, store):
        self._store, self.calls, self.may_go = store, [], threading.Event()
        self.may_go.set()

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def called(*args, **kwargs):
            assert self.may_go.wait(60)
            self.calls.append((name, len(args[0]) if args and isinstance(args[0], list) else None))
            return found(*args, **kwargs)

        return called

    def __len__(self):
        return len(self._store)


def worker_of(path, limits=None, wrapped=Slow):
    made = []

    def opened():
        made.append(wrapped(opened_store(str(path))))
        return made[-1]

    told = []
    worker = Worker(
        "default", opened, limits or Limits(), StoreMetrics(Metrics(), "default"), lambda event, **_: told.append(event)
    )
    return worker, made, told


def addition(documents, key=None, form="array"):
    future = asyncio.get_running_loop().create_future()
    return Addition(future, len(documents), documents, key, digest_of(documents, form), encode)


def question(*texts):
    return Check(asyncio.get_running_loop().create_future(), len(texts), list(texts))


def run(work):
    return asyncio.run(asyncio.wait_for(work, 60))


async def busy(worker, slow):
    """Start the worker, whose store has begun with a question, and does not go on until it may."""
    worker.start(asyncio.get_running_loop())
    slow.may_go.clear()
    first = question("x")
    worker.put(first)
    while not first.begun:
        await asyncio.sleep(0.001)
    return first


def ended(worker):
    worker.end()
    assert not worker._thread.is_alive()


def test_what_waits_together_is_decided_in_one_call_as_if_one_after_another(tmp_path):
    texts = texts_of(random.Random(1), 90)
    with nd.Store(tmp_path / "one", min_similarity=0.7) as one:
        expected = [one.check_and_add(number, text) for number, text in enumerate(texts)]
    worker, [store], _ = worker_of(new_store(tmp_path / "s"))

    async def work():
        await busy(worker, store)
        jobs = [addition([Document(n, texts[n]) for n in range(at, at + 3)]) for at in range(0, 90, 3)]
        checks = [question(BREAD, FERRY), question(BREAD)]
        for job in [*jobs[:10], checks[0], *jobs[10:], checks[1]]:
            worker.put(job)
        store.may_go.set()
        answers = [each for job in jobs for each in json.loads((await job.future).body)]
        assert [len(await each.future) for each in checks] == [2, 1]
        return answers

    answers = run(work())
    ended(worker)
    assert [each["is_new"] for each in answers] == [each.is_new for each in expected]
    assert [each["duplicate_of"] for each in answers] == [each.duplicate_of for each in expected]
    assert [each for each in store.calls if each[0] != "close"] == [
        ("check_many", 1), ("check_many", 3), ("check_and_add_many", 90),
    ]  # fmt: skip


def test_a_round_is_never_larger_than_it_should_be(tmp_path):
    worker, [store], _ = worker_of(new_store(tmp_path / "s"))

    async def work():
        await busy(worker, store)
        jobs = [question(*["x"] * (TOGETHER // 2)) for _ in range(4)] + [question(*["x"] * (TOGETHER + 1))]
        for job in jobs:
            worker.put(job)
        store.may_go.set()
        await asyncio.gather(*(job.future for job in jobs))

    run(work())
    ended(worker)
    assert [size for name, size in store.calls if name == "check_many"] == [1, TOGETHER, TOGETHER, TOGETHER + 1]


def test_a_document_that_is_refused_concerns_its_request_alone(tmp_path):
    worker, [slow], _ = worker_of(new_store(tmp_path / "s", keep="max:stars"))

    async def work():
        await busy(worker, slow)
        jobs = [
            addition([Document("a", FERRY, {"stars": 1})]),
            addition([Document("b", BREAD, {"stars": 2}), Document("c", "x", {"stars": "many"})]),
            addition([Document("d", LATER, {"stars": 3})]),
        ]
        bad = question("x", "\ud800")
        for job in (*jobs, bad, question("y")):
            worker.put(job)
        slow.may_go.set()
        return await asyncio.gather(*(job.future for job in (*jobs, bad)), return_exceptions=True)

    first, second, third, bad = run(work())
    ended(worker)
    assert isinstance(second, nd.OptionError)
    assert isinstance(bad, nd.NeardupError)
    assert json.loads(first.body)[0]["is_new"]
    assert json.loads(third.body)[0]["replaces"][0]["id"] == "a"
    with nd.Store(tmp_path / "s") as store:
        assert [store.get(name) is None for name in "abcd"] == [True, True, True, False]


def test_too_much_that_waits_is_refused_and_what_waits_can_be_taken_back(tmp_path):
    worker, [store], _ = worker_of(new_store(tmp_path / "s"), Limits(max_waiting=10))

    async def work():
        first = await busy(worker, store)
        waiting = addition([Document(number, f"{FERRY} {number}") for number in range(8)])
        worker.put(waiting)
        with pytest.raises(Problem, match="8 documents wait for the store 'default'. Ask again later") as refused:
            worker.put(question("a", "b", "c"))
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "1"})
        assert worker.withdraw(waiting)
        assert not worker.withdraw(first)
        worker.put(question("a", "b", "c"))
        store.may_go.set()
        await first.future

    run(work())
    ended(worker)
    assert not any(name == "check_and_add_many" for name, _ in store.calls)


def test_what_waits_is_finished_before_the_end_and_nothing_is_taken_after(tmp_path):
    worker, [store], _ = worker_of(new_store(tmp_path / "s"))

    async def work():
        worker.start(asyncio.get_running_loop())
        store.may_go.clear()
        jobs = [addition([Document(number, f"{BREAD} {number} {number * 7}")]) for number in range(20)]
        for job in jobs:
            worker.put(job)
        ending = threading.Thread(target=worker.end)
        ending.start()
        while not worker.is_ending:
            await asyncio.sleep(0.001)
        with pytest.raises(Problem, match="The service is ending"):
            worker.put(question("x"))
        store.may_go.set()
        await asyncio.gather(*(job.future for job in jobs))
        await asyncio.to_thread(ending.join)

    run(work())
    with nd.Store(tmp_path / "s") as found:
        assert len(found) + found.info().removed == 20


class Failing(Slow):
    """A store whose next call of a name fails."""

    fails: dict = {}  # noqa: RUF012

    def __getattr__(self, name):
        if self.fails.get(name):
            failure = self.fails[name].pop(0)

            def failing(*args, **kwargs):
                raise failure

            return failing
        return super().__getattr__(name)


def test_a_store_that_fails_is_opened_again(tmp_path):
    worker, made, told = worker_of(new_store(tmp_path / "s"), Limits(reopen_seconds=0.0), wrapped=Failing)
    Failing.fails = {"check_and_add_many": [nd.InputError("the disk is full"), RuntimeError("?")]}

    async def work():
        worker.start(asyncio.get_running_loop())
        found = []
        for number in range(3):
            job = addition([Document(number, f"{FERRY} {number * 91}")])
            worker.put(job)
            found += await asyncio.gather(job.future, return_exceptions=True)
        call = Call(asyncio.get_running_loop().create_future(), 1, len)
        worker.put(call)
        assert await call.future == 1
        return found

    first, second, third = run(work())
    ended(worker)
    assert (str(first), str(second)) == ("the disk is full", "?")
    assert json.loads(third.body)[0]["is_new"]
    assert len(made) == 3
    assert told == ["store_failed", "store_opened_again"] * 2


def test_a_store_that_cannot_be_opened_again_is_not_ready_until_it_can(tmp_path):
    path = new_store(tmp_path / "s")
    with asking(path) as client:
        worker = client.service.workers["default"]
        worker.held._reopen_seconds = 0.0  # for requests; the thread waits its second
        assert client.get("/v1/ready").status_code == 200
        worker.held.store.close()  # as a failure would leave it
        is_problem(post(client, "check", {"text": FERRY}), 503, "store_unavailable")
        with nd.Store(path):
            detail = is_problem(post(client, "check-and-add", {"id": 1, "text": FERRY}), 503, "store_unavailable")
            assert "Another process writes to the store" in detail
            assert client.get("/v1/ready").json() == {"ready": False, "stores": {"default": "unavailable"}}
            assert client.get("/v1/ready").status_code == 503
            assert client.get("/v1/health").status_code == 200
        assert add(client, 1, FERRY)["is_new"]
        assert client.get("/v1/ready").status_code == 200


def test_damage_is_named_and_other_answers_go_on(tmp_path):
    path = new_store(tmp_path / "s")
    with asking(path) as client:
        add(client, "a", FERRY)
        add(client, "b", BREAD)
    [compared] = (tmp_path / "s").glob("compared-*")
    content = bytearray(compared.read_bytes())
    content[64 + 3] ^= 1  # the first element of the first document
    compared.write_bytes(content)
    with asking(path) as client:
        assert "is damaged" in is_problem(post(client, "check", {"text": LATER}), 500, "damaged")
        assert post(client, "check", {"text": BREAD}).json()["duplicate_of"] == "b"
        assert add(client, "c", "Something else, which is like nothing that was there before.")["is_new"]
        assert client.get("/v1/ready").status_code == 200


def test_an_answer_that_takes_too_long_says_what_may_have_happened(tmp_path, monkeypatch):
    with asking(new_store(tmp_path / "s"), limits=Limits(timeout=0.2)) as client:
        worker = client.service.workers["default"]
        store = worker.held.store = Slow(worker.held.store)
        store.may_go.clear()
        key = {"Idempotency-Key": "k"}
        detail = is_problem(post(client, "check-and-add", {"id": 1, "text": FERRY}, headers=key), 504, "answer_timeout")
        assert "Documents may be added. Repeat the request" in detail
        response = post(client, "check-and-add", {"id": 2, "text": BREAD})
        assert "did not get to it for 0.2 s" in is_problem(response, 503, "busy")
        store.may_go.set()
        for _ in range(100):
            again = post(client, "check-and-add", {"id": 1, "text": FERRY}, headers=key)
            if again.status_code == 200:
                break
            time.sleep(0.01)
        assert (again.json()["is_new"], again.headers["idempotency-replayed"]) == (True, "true")
        assert post(client, "get", {"ids": [2]}).json()["unknown"] == [2]


# -------------------------------------------------------------------------------------------------------- request keys


@pytest.mark.parametrize("form", ["one", "array"])
def test_a_repeated_request_gets_the_answer_of_the_first_even_after_a_restart(tmp_path, form):
    path = new_store(tmp_path / "s")
    given = {"id": "a", "text": FERRY}
    body = given if form == "one" else [given, {"id": "b", "text": LATER}]
    key = {"Idempotency-Key": '"8e03978e-40d5-43e8-bc93-6894a57f9324"'}
    with asking(path) as client:
        first = post(client, "check-and-add", body, headers=key)
        assert "idempotency-replayed" not in first.headers
        again = post(client, "check-and-add", body, headers={"Idempotency-Key": key["Idempotency-Key"].strip('"')})
        assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    with asking(path) as client:
        assert post(client, "check-and-add", body, headers=key).content == first.content
        post(client, "remove", {"ids": ["a"]})
        assert post(client, "check-and-add", body, headers=key).content == first.content
        assert post(client, "get", {"ids": ["a"]}).json()["unknown"] == ["a"]  # an answer, not another decision
        without = post(client, "check-and-add", body).json()
        assert (without if form == "one" else without[0])["is_new"]


def test_without_a_key_a_repeated_document_is_a_duplicate_of_itself_and_another_text_an_update(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        add(client, "a", FERRY)
        again = add(client, "a", FERRY)
        assert (again["is_new"], again["duplicate_of"], again["exact"]) == (False, "a", True)
        assert add(client, "a", BREAD)["is_new"]
        assert post(client, "check", {"text": FERRY}).json()["is_new"]


def test_a_key_is_for_one_request_and_one_caller_and_one_store(tmp_path):
    lines_of_tokens = [f"one write {TOKEN}1", f"two write {TOKEN}2"]
    stores = {"default": new_store(tmp_path / "s"), "other": new_store(tmp_path / "o")}
    with asking(stores, tokens=tokens_in(tmp_path, *lines_of_tokens)) as client:

        def ask(body, caller="1", **more):
            headers = {"Idempotency-Key": "k", "Authorization": f"Bearer {TOKEN}{caller}"}
            return post(client, "check-and-add", body, headers=headers, **more)

        first = ask({"id": "a", "text": FERRY})
        assert first.json()["is_new"]
        for other in ({"id": "b", "text": FERRY}, {"id": "a", "text": LATER}, [{"id": "a", "text": FERRY}]):
            detail = is_problem(ask(other), 422, "key_reused")
            assert detail.startswith("The Idempotency-Key 'k' was given before with other documents.")
        assert ask({"id": "a", "text": FERRY}).content == first.content
        assert not ask({"id": "a", "text": FERRY}, caller="2").json()["is_new"]
        assert ask({"id": "a", "text": FERRY}, store="other").json()["is_new"]


def test_answers_are_kept_for_the_time_that_is_stated(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(keep_answers=0.0)) as client:
        body, key = {"id": "a", "text": FERRY}, {"Idempotency-Key": "k"}
        assert post(client, "check-and-add", body, headers=key).json()["is_new"]
        again = post(client, "check-and-add", body, headers=key)
        assert "idempotency-replayed" not in again.headers
        assert (again.json()["is_new"], again.json()["duplicate_of"]) == (False, "a")


def test_a_request_that_was_refused_is_not_kept(tmp_path):
    with asking(new_store(tmp_path / "s", keep="max:stars")) as client:
        key = {"Idempotency-Key": "k"}
        refused = post(client, "check-and-add", {"id": "a", "text": FERRY, "metadata": {"stars": "x"}}, headers=key)
        is_problem(refused, 422, "invalid_value")
        right = {"id": "a", "text": FERRY, "metadata": {"stars": 1}}
        assert post(client, "check-and-add", right, headers=key).json()["is_new"]


def test_a_repeated_stream_gets_the_same_answers_however_it_arrives(tmp_path):
    documents = [{"id": number, "text": f"{FERRY} {number * 97}"} for number in range(PART + 50)]
    body, key = lines(documents), {"Idempotency-Key": "k", **LINES}

    def pieces(size):
        for at in range(0, len(body), size):
            yield body[at : at + size]

    path = new_store(tmp_path / "s")
    with asking(path) as client:
        half = client.post(ADD, content=lines(documents[:PART]), headers=key)  # as if the rest had been lost
        first = client.post(ADD, content=pieces(777), headers=key)
        assert first.text.startswith(half.text)
    with asking(path) as client:
        assert client.post(ADD, content=pieces(50_000), headers=key).content == first.content
        documents[PART + 1]["text"] = BREAD
        *answered, last = client.post(ADD, content=lines(documents), headers=key).text.splitlines(keepends=True)
        assert "".join(answered) == "".join(first.text.splitlines(keepends=True)[:PART])
        assert json.loads(last)["code"] == "key_reused"


def test_two_equal_requests_at_a_time_are_decided_once(tmp_path):
    worker, [store], _ = worker_of(new_store(tmp_path / "s"))

    async def work():
        await busy(worker, store)
        jobs = [addition([Document("a", FERRY)], key="k") for _ in range(3)] + [
            addition([Document("b", BREAD)], key="k")
        ]
        for job in jobs:
            worker.put(job)
        store.may_go.set()
        return await asyncio.gather(*(job.future for job in jobs), return_exceptions=True)

    *same, other = run(work())
    ended(worker)
    assert len({each.body for each in same}) == 1
    assert [each.is_repeated for each in same] == [False, True, True]
    assert other.code == "key_reused"
    assert [size for name, size in store.calls if name == "check_and_add_many"] == [1]
