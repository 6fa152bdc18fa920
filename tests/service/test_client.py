"""The clients give what a store gives, and repeat what may be repeated."""

import inspect
import json
import random
import sys

import httpx
import pytest

import neardup as nd
from neardup.service.client import call_parts, calls
from neardup.service.limits import Limits
from neardup.service.messages import messages
from service.clients import BOTH, Awaited, mocked, passing
from service.serving import BREAD, FERRY, LATER, TOKEN, asking, listening, new_store, texts_of, tokens_in


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(calls, "LONGEST_PAUSE_SECONDS", 0.001)


NEW = nd.StoreAnswer(True, (), False, ())


@BOTH
def test_a_client_answers_as_a_store(tmp_path, made, monkeypatch):
    texts = texts_of(random.Random(2), 60)
    metadata = [{"n": number} for number in range(60)]
    with nd.Store(tmp_path / "here", min_similarity=0.7, keep="always", floor=0.4) as store:
        path = new_store(tmp_path / "there", keep="always", floor=0.4)
        with listening({"default": path}) as url, made(url) as client:
            for ends in (None, 5e9, [None, 6e9] * 30):
                given = {"metadata": metadata, "expires": ends}
                ids = [f"{ends}"[:4] + f"{number}" for number in range(60)]
                assert client.check_and_add_many(ids, texts, **given) == store.check_and_add_many(ids, texts, **given)
            assert client.check_and_add(7, BREAD) == store.check_and_add(7, BREAD)
            assert client.check(LATER) == store.check(LATER)
            assert client.check_many(texts) == store.check_many(texts)
            assert client.check_many([]) == client.check_and_add_many([], []) == []
            for id in (7, "None3", "no"):  # noqa: A001
                found, expected = client.get(id), store.get(id)
                times = {"first_seen": 0, "last_seen": 0}
                assert (found is None) == (expected is None)
                assert found is None or {**vars_of(found), **times} == {**vars_of(expected), **times}
            for given in ({"text": texts[3]}, {"id": "None3", "min_similarity": 0.5}):
                assert client.neighbors(**given) == store.neighbors(**given)
            assert client.compare(FERRY, LATER) == nd.compare(FERRY, LATER, recipe=store.recipe)
            gone = [], []
            assert client.remove([7, "no"], report_ids=gone[0].extend) == store.remove([7, "no"]) == 1
            assert gone[0] == [7]
            monkeypatch.setattr(calls.Limits, "max_expired", 7)
            assert client.expire(newest=20) == store.expire(newest=20)
            found = client.expire(newest=10, report_ids=gone[0].extend)
            assert found == store.expire(newest=10, report_ids=gone[1].extend) == 10
            assert gone[0][1:] == gone[1]
            assert client.compact() == store.compact() is True
            assert client.info().documents == store.info().documents == 10
            assert client.info().keep == "always"
            assert url in repr(client._client if made is Awaited else client)


def vars_of(document):
    return {name: getattr(document, name) for name in type(document).__slots__}


@BOTH
def test_many_documents_go_in_several_requests_and_in_order(tmp_path, made, monkeypatch):
    monkeypatch.setattr(call_parts, "DOCUMENTS_PER_REQUEST", 7)
    texts = texts_of(random.Random(4), 30)
    with nd.Store(tmp_path / "here", min_similarity=0.7) as store:
        expected = store.check_and_add_many(range(30), texts)
    with listening({"default": new_store(tmp_path / "there")}) as url, made(url) as client:
        assert client.check_and_add_many(range(30), texts, key="k") == expected
        assert client.check_and_add_many(range(30), texts, key="k") == expected
        assert client.remove(list(range(30))) == sum(each.is_new for each in expected)


LONG = "word " * 60
SIZED = {
    "texts": {"texts": [f"{number} {LONG}" for number in range(30)]},
    "escapes": {"texts": [f"{number} " + "\x01" * 100 for number in range(30)]},
    "metadata": {"metadata": [{"source": LONG}] * 30},
    "ids": {"ids": [f"{number} {LONG}" for number in range(30)]},
}


@BOTH
@pytest.mark.parametrize("what", SIZED)
def test_requests_are_as_large_as_what_is_encoded(tmp_path, made, what, monkeypatch):
    monkeypatch.setattr(call_parts, "BYTES_PER_REQUEST", 2_000)
    given = {"ids": range(30), "texts": texts_of(random.Random(5), 30, copies=0)} | SIZED[what]
    sent, limits = [], Limits(max_body=2_000)
    with asking(new_store(tmp_path / "s"), limits=limits) as service, mocked(made, passing(service, sent)) as client:
        assert len(client.check_and_add_many(**given)) == 30
        assert max(len(each.content) for each in sent) <= 2_000
        assert client.check_many(given["texts"]) == [client.check(text) for text in given["texts"]]
        assert client.remove(list(given["ids"])) > 0
    assert 4 <= sum(request.url.path.endswith("check-and-add") for request in sent) < 15


@BOTH
@pytest.mark.parametrize("limits", [{"max_batch": 9}, {"max_batch": 1}, {"max_body": 1_000}], ids=str)
def test_what_is_too_large_for_the_service_is_sent_in_smaller_requests(tmp_path, made, limits):
    texts = texts_of(random.Random(6), 50)
    with nd.Store(tmp_path / "here", min_similarity=0.7) as store:
        expected = store.check_and_add_many(range(50), texts)
    sent = []
    with (
        asking(new_store(tmp_path / "there"), limits=Limits(**limits)) as service,
        mocked(made, passing(service, sent)) as client,
    ):
        assert client.check_and_add_many(range(50), texts, key="k") == expected
        first = [(each.headers["idempotency-key"], each.content) for each in sent]
        assert client.check_and_add_many(range(50), texts, key="k") == expected
        assert [(each.headers["idempotency-key"], each.content) for each in sent[len(first) :]] == first
        assert len(dict(first)) == len(first)  # a key belongs to one request
        with nd.Store(tmp_path / "here") as store:
            assert client.check_many(texts) == store.check_many(texts)
        assert client.remove(list(range(50))) == sum(each.is_new for each in expected)


@BOTH
def test_one_document_that_is_too_large_is_refused_after_those_before_it(tmp_path, made):
    texts = [*texts_of(random.Random(7), 5, copies=0), "word " * 1_000]
    with (
        asking(new_store(tmp_path / "s"), limits=Limits(max_body=1_000)) as service,
        mocked(made, passing(service, [])) as client,
    ):
        with pytest.raises(nd.ServiceError, match="The body has more than") as found:
            client.check_and_add_many(range(6), texts)
        assert (found.value.status, found.value.code) == (413, "too_large")
        assert client.info().documents == 5


@BOTH
def test_a_refusal_of_a_proxy_makes_requests_smaller_too(made):
    sizes = []

    def answer(request):
        sizes.append(len(request.content))
        texts = json.loads(request.content)
        if len(request.content) > 300:
            return httpx.Response(413, content=b"<html>")
        return httpx.Response(200, content=messages.encode([messages.answer_of(0, NEW)] * len(texts)))

    with mocked(made, answer) as client:
        assert client.check_many([FERRY] * 20) == [NEW] * 20
    assert sizes[0] > 300
    assert max(sizes[5:]) <= 300


def test_both_clients_have_the_same_methods_as_far_as_a_store_has_them():
    public = [name for name in dir(nd.Client) if not name.startswith("_")]
    assert public == [name for name in dir(nd.AsyncClient) if not name.startswith("_")]
    for name in ("__init__", *public):
        assert inspect.signature(getattr(nd.Client, name)) == inspect.signature(getattr(nd.AsyncClient, name)), name
        if name not in ("__init__", "compare", "close"):
            of_store = set(inspect.signature(getattr(nd.Store, name)).parameters)
            assert set(inspect.signature(getattr(nd.Client, name)).parameters) - {"key"} <= of_store, name


@BOTH
def test_an_answer_that_was_lost_is_asked_for_again_and_is_that_of_the_first_time(tmp_path, made):
    sent = []
    with asking(new_store(tmp_path / "s")) as service:

        def answer(request):
            sent.append(request)
            found = service.request(request.method, request.url.path, content=request.content, headers=request.headers)
            if len(sent) in (1, 2):
                raise httpx.ReadError("lost")
            if len(sent) == 3:
                return httpx.Response(503, headers={"Retry-After": "1"})
            return httpx.Response(found.status_code, headers=found.headers, content=found.content)

        with mocked(made, answer) as client:
            first = client.check_and_add("a", FERRY)
            assert first.is_new
            assert len({each.headers["idempotency-key"] for each in sent}) == 1
            assert [each.content for each in sent] == [sent[0].content] * 4
            assert client.check_and_add("a", FERRY).duplicate_of == "a"  # another call is another request


@BOTH
def test_what_never_answers_is_given_up(made):
    def fails(_):
        raise httpx.ConnectError("refused")

    with mocked(made, fails, retries=2) as client:
        with pytest.raises(
            nd.TransferError, match="the request failed 3 times, at last with: ConnectError refused"
        ) as found:
            client.check(FERRY)
        assert (found.value.url, found.value.attempts) == ("http://service", 3)
    sent = []
    with mocked(
        made, lambda request: sent.append(request) or httpx.Response(502, content=b"<html>"), retries=3
    ) as client:
        with pytest.raises(nd.ServiceError, match="status 502, and without a problem") as found:
            client.check(FERRY)
        assert (found.value.status, len(sent)) == (502, 4)


@BOTH
def test_refusals_are_told_at_once(tmp_path, made):
    stores, tokens = {"default": new_store(tmp_path / "s")}, tokens_in(tmp_path)
    with listening(stores, tokens=tokens) as url:
        with made(url, token=f"{TOKEN}r") as client:
            assert client.check(FERRY).is_new
            with pytest.raises(
                nd.ServiceError, match="The token of reader has the role read. This needs write."
            ) as found:
                client.check_and_add("a", FERRY)
            assert (found.value.status, found.value.code) == (403, "forbidden")
            with pytest.raises(nd.OptionError, match="Give a text, or the `id` of a kept document"):
                client.neighbors()
        with made(url) as client, pytest.raises(nd.ServiceError, match="Give a token of this service"):
            client.check(FERRY)
        with made(url, token=f"{TOKEN}r", store="ü/x") as client, pytest.raises(nd.ServiceError) as found:
            client.check(FERRY)
        assert found.value.status == 404


@BOTH
def test_arguments_are_checked_before_anything_is_sent(made):
    with made("http://127.0.0.1:9", retries=0) as client:
        for texts in (["\ud800"], [None], "abc", 7):
            with pytest.raises(nd.OptionError):
                client.check_many(texts)
        for call in (
            lambda: client.check_and_add_many(["a"], []),
            lambda: client.check_and_add_many(["a"], [FERRY], metadata=[]),
            lambda: client.check_and_add_many(["a"], [FERRY], expires=[1.0, 2.0]),
            lambda: client.check_and_add_many(["a"], [FERRY], ttl=["1d", "2d"]),
            lambda: client.check_and_add_many(["a"], [FERRY], ttl="soon"),
            lambda: client.check_and_add_many(["a"], [FERRY], metadata=[object()]),
            lambda: client.compare(FERRY, 7),
        ):
            with pytest.raises(nd.OptionError):
                call()


@pytest.mark.parametrize("made", [nd.Client, nd.AsyncClient])
def test_a_client_that_cannot_be_made(made, monkeypatch):
    with pytest.raises(nd.OptionError, match="`url='localhost'`: give the address of a service"):
        made("localhost")
    with pytest.raises(nd.OptionError, match="`retries=-1`: give a number, 0 or more"):
        made("http://localhost", retries=-1)
    with pytest.raises(nd.OptionError, match="`token`: give the token") as found:
        made("http://localhost", token="secret\n")
    assert "secret" not in str(found.value)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(nd.MissingExtra, match=r"needs httpx, which is not installed: pip install 'neardup\[client\]'"):
        made("http://localhost")
