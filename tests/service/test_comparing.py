"""One comparison goes on at a time; few requests wait for it, and none for ever."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from neardup.service.limits import WAITING_COMPARISONS, Limits
from neardup.service.requests import comparing
from service.serving import FERRY, LATER, asking, is_problem, new_store, post

TEXTS = {"left": FERRY, "right": LATER}


@pytest.fixture
def may_go(monkeypatch):
    """What lets comparisons end, once it is set."""
    found, compare = threading.Event(), comparing.compare

    def slow(*given, **more):
        assert found.wait(60)
        return compare(*given, **more)

    monkeypatch.setattr(comparing, "compare", slow)
    yield found
    found.set()


def test_a_comparison_whose_turn_does_not_come_is_refused(tmp_path, may_go):
    with asking(new_store(tmp_path / "s"), limits=Limits(timeout=0.3)) as client, ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, client, "compare", TEXTS)
        while not client.service.comparing._is_free.locked():
            time.sleep(0.001)
        late = pool.submit(post, client, "compare", TEXTS).result(30)
        assert is_problem(late, 503, "busy") == "Other comparisons took 0.3 s. Ask again later."
        assert late.headers["retry-after"] == "1"
        assert post(client, "check", {"text": FERRY}).status_code == 200
        may_go.set()
        assert first.result(30).status_code == 200
        assert post(client, "compare", TEXTS).status_code == 200


def test_more_than_a_few_that_wait_are_refused_at_once(tmp_path, may_go):
    with asking(new_store(tmp_path / "s")) as client, ThreadPoolExecutor(WAITING_COMPARISONS + 1) as pool:
        begun = [pool.submit(post, client, "compare", TEXTS) for _ in range(WAITING_COMPARISONS + 1)]
        while client.service.comparing._waiting < WAITING_COMPARISONS:
            time.sleep(0.001)
        response = post(client, "compare", TEXTS)
        assert is_problem(response, 503, "busy") == f"{WAITING_COMPARISONS} comparisons wait. Ask again later."
        assert response.headers["retry-after"] == "1"
        may_go.set()
        assert [each.result(60).status_code for each in begun] == [200] * (WAITING_COMPARISONS + 1)
        assert client.service.comparing._waiting == 0
