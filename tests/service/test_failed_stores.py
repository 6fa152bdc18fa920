"""A store that has failed: it is said to be, not used, and opened again, by itself and in our words."""

import time
from types import SimpleNamespace

import pytest

from neardup.errors import InputError, OptionError
from neardup.service.limits import Limits
from neardup.service.metrics import Metrics, StoreMetrics
from neardup.service.problems import Problem
from neardup.service.stores import held_store
from neardup.service.stores.held_store import HeldStore
from neardup.store.postgresql.problems import UnknownOutcomeError
from service.serving import BREAD, FERRY, add, asking, is_problem, new_store, post

READY = 'neardup_store_ready{store="default"}'
AGAIN = "The store 'default' has failed, and is about to be opened again. Nothing was changed."


@pytest.fixture
def held(monkeypatch):
    """A held store whose time does not pass, with what it has told."""
    now = [100.0]
    monkeypatch.setattr(held_store.time, "monotonic", lambda: now[0])
    told, opened = [], []

    def open_one():
        opened.append(SimpleNamespace(close=lambda: None, ping=lambda: None))
        return opened[-1]

    metrics = StoreMetrics(Metrics(), "default")
    found = HeldStore("default", open_one, metrics, lambda event, **_: told.append(event), reopen_seconds=1.0)
    return SimpleNamespace(store=found, now=now, told=told, opened=opened)


def events_of(log, beginnings):
    return [each["event"] for each in log if each["event"].startswith(beginnings)]


def fails(failure):
    raise failure


def test_a_store_that_fails_again_within_the_second_is_refused_until_it_is_over(held):
    store = held.store
    store.tried(lambda: fails(RuntimeError("Close the store, and open it again")))
    assert store.sound() is held.opened[1]
    store.tried(lambda: fails(RuntimeError("Close the store, and open it again")))
    with pytest.raises(Problem) as refused:
        store.sound()
    assert (refused.value.code, refused.value.detail) == ("store_unavailable", AGAIN)
    assert refused.value.headers == {"Retry-After": "1"}
    assert store.tried(lambda: fails(AssertionError)).detail == AGAIN  # of the same round
    held.now[0] += 1.0
    assert store.sound() is held.opened[2]
    assert not store.has_failed
    assert held.told == ["store_failed", "store_opened_again"] * 2


def test_later_requests_are_not_told_of_the_outcome_of_an_earlier_one(held):
    store, lost = held.store, UnknownOutcomeError("db", 2, "a test")
    assert store.tried(lambda: fails(lost)) is lost
    for _ in range(2):
        with pytest.raises(
            Problem, match=r"^The database of the store cannot be reached. Nothing was changed.$"
        ) as refused:
            store.sound()
        assert refused.value.code == "store_unavailable"
    held.now[0] += 1.0
    held.opened[0].ping = lambda: fails(lost)
    with pytest.raises(Problem, match=r"^The database of the store cannot be reached"):
        store.sound()


def test_a_store_that_has_failed_is_not_ready_and_is_opened_again_while_nobody_asks(tmp_path):
    log = []
    with asking(new_store(tmp_path / "s"), limits=Limits(reopen_seconds=0.5), log=log) as client:
        worker = client.service.workers["default"]

        def gauge():
            [value] = [line.split()[1] for line in client.get("/metrics").text.splitlines() if line.startswith(READY)]
            return float(value)

        assert (client.get("/v1/ready").status_code, gauge()) == (200, 1)
        worker.held.store.close()  # as a failure would leave it
        is_problem(post(client, "check", {"text": FERRY}), 503, "store_unavailable")
        ready = client.get("/v1/ready")
        assert (ready.status_code, gauge()) == (503, 0)
        assert ready.json() == {"ready": False, "stores": {"default": "unavailable"}}
        ends = time.monotonic() + 30
        while client.get("/v1/ready").status_code == 503:  # nobody asks for documents
            assert time.monotonic() < ends
            time.sleep(0.02)
        assert gauge() == 1
        assert add(client, 1, BREAD)["is_new"]
    assert events_of(log, "store") == ["store_failed", "store_opened_again"]


@pytest.mark.parametrize("failure", [OptionError("no"), ValueError("no"), TypeError("no"), OverflowError("no")])
def test_what_arguments_cause_is_no_failure_of_a_store_that_can_be_used(held, failure):
    store, unsound = held.store, InputError("A change has failed before")
    assert store.tried(lambda: fails(failure)) is failure
    assert not store.has_failed
    assert store.sound() is held.opened[0]
    held.opened[0].ping = lambda: fails(unsound)
    store.tried(lambda: fails(failure))
    assert store.has_failed is not isinstance(failure, OptionError)


def test_an_unchecked_argument_is_an_internal_error_and_the_store_goes_on(tmp_path, monkeypatch):
    log = []
    with asking(new_store(tmp_path / "s"), log=log) as client:
        store = client.service.workers["default"].held.store
        monkeypatch.setattr(store, "expire", lambda **_: fails(OverflowError()))
        is_problem(post(client, "expire", {}), 500, "internal")
        assert add(client, 1, BREAD)["is_new"]
        monkeypatch.setattr(store._files, "forget", lambda _: fails(OverflowError()))
        is_problem(post(client, "remove", {"ids": [1]}), 500, "internal")  # in the middle of a change
        assert not post(client, "check", {"text": BREAD}).json()["is_new"]
    assert events_of(log, ("store", "request_failed")) == ["request_failed"] * 2


def test_a_change_that_fails_inside_leads_to_another_opening_at_once(tmp_path, monkeypatch):
    log = []
    with asking(new_store(tmp_path / "s"), log=log) as client:
        assert add(client, 1, BREAD)["is_new"]
        record = client.service.workers["default"].held.store._files.record
        monkeypatch.setattr(record, "add_documents", lambda _: fails(OverflowError()))
        is_problem(post(client, "check-and-add", {"id": 2, "text": FERRY}), 500, "internal")
        assert add(client, 2, FERRY)["is_new"]
    assert events_of(log, "store") == ["store_failed", "store_opened_again"]
