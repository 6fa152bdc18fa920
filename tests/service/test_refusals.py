"""What is not taken is refused with a status, a code and the words of the library; nothing is added, and nothing breaks."""

import json
import time

import pytest

from neardup.service.limits import COMPARED_CHARACTERS, Limits
from neardup.service.problems import CODES, problem_of
from neardup.service.routes import ROUTES
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
    tokens_in,
)

PART = Limits.lines_per_part
CHECK, ADD = "/v1/stores/default/check", "/v1/stores/default/check-and-add"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    limits = Limits(max_body=10_000, max_batch=5)
    with asking(new_store(tmp_path_factory.mktemp("refusals") / "s"), limits=limits) as found:
        yield found


@pytest.mark.parametrize(
    ("body", "status", "code", "said"),
    [
        (b"", 400, "invalid_json", "Input data was truncated"),
        (b'{"id": "a"', 400, "invalid_json", "The body is not JSON in UTF-8"),
        (b'{"id": "a", "text": "\xff"}', 400, "invalid_json", "utf-8"),
        (b'{"id": "a\\\\\\ud800", "text": "x"}', 422, "invalid_value", "has half of a surrogate pair"),
        (b'{"id": "a", "text": "\\ud800', 400, "invalid_json", "The body is not JSON in UTF-8"),
        (b'{"id": "a", "text": "x", "metadata": ' + b"[" * 4_000 + b"]" * 4_000 + b"}", 400, "invalid_json", "deeply"),
        (b'{"id": "a", "text": NaN}', 400, "invalid_json", "invalid character"),
        (b"[1, 2]", 422, "invalid_value", "Expected `object`, got `int` - at `$[0]`"),
        (b'"x"', 422, "invalid_value", "got `str`"),
        (b"{}", 422, "invalid_value", "required field `id`"),
        (b'{"text": "x"}', 422, "invalid_value", "required field `id`"),
        (b'{"id": "a"}', 422, "invalid_value", "required field `text`"),
        (b'{"id": null, "text": "x"}', 422, "invalid_value", "got `null` - at `$.id`"),
        (b'{"id": 1.5, "text": "x"}', 422, "invalid_value", "got `float` - at `$.id`"),
        (b'{"id": true, "text": "x"}', 422, "invalid_value", "got `bool` - at `$.id`"),
        (b'{"id": ' + b"9" * 5_000 + b', "text": "x"}', 422, "invalid_value", "out of range - at `$.id`"),
        (b'{"id": "a", "text": ["x"]}', 422, "invalid_value", "Expected `str`, got `array` - at `$.text`"),
        (b'{"id": "a", "text": "x", "txt": 1}', 422, "invalid_value", "unknown field `txt`"),
        (b'{"id": "a", "text": "x", "expires": "soon"}', 422, "invalid_value", "Expected `float | null`, got `str`"),
        (b'{"id": "a", "text": "x", "expires": -1}', 422, "invalid_value", "`expires=-1.0`: give a number of seconds"),
        (
            b'[{"id": 1, "text": "x"}, {"id": 2, "text": "y", "expires": -1}]',
            422,
            "invalid_value",
            "Document 1 (counted from 0): `expires=-1.0`",
        ),
        (json.dumps([{"id": i, "text": "x"} for i in range(6)]).encode(), 413, "too_many_documents", "at most 5"),
        (b'{"id": "a", "text": "' + b"x" * 10_000 + b'"}', 413, "too_large", "more than 9.8 KiB (--max-body 10000)"),
    ],
)
def test_bodies_that_are_no_documents(client, body, status, code, said):
    before = client.get("/v1/stores/default/info").json()
    assert said in is_problem(client.post(ADD, content=body, headers=JSON), status, code)
    assert client.get("/v1/stores/default/info").json() == before


TWICE = {
    "check": [
        b'{"text": "x", "text": "y"}',
        b'[{"text": "x"}, {"id": 1, "text": "x", "id": 1}]',
        b'{"text": "x", "t\\u0065xt": "y"}',
    ],
    "check-and-add": [
        b'{"id": 1, "text": "x", "id": 2}',
        b'{"id": 1, "text": "x", "metadata": {"a": [{"b": 1, "b": 1}]}}',
        b'[{"id": 1, "text": "x", "metadata": 1, "metadata": 2}]',
    ],
    "neighbors": [b'{"text": "x", "text": "x"}'],
    "get": [b'{"ids": [1], "ids": [2]}'],
    "remove": [b'{"ids": [1], "ids": [2]}'],
    "expire": [b'{"newest": 1, "newest": 100}'],
    "orphans": [b'{"limit": 1, "limit": 2}'],
    "compare": [b'{"left": "x", "right": "y", "left": "z"}'],
    "passages": [b'{"left": "x", "right": "y", "left": "z"}'],
    "recent": [b'{"limit": 1, "limit": 2}'],
    "review": [b'{"limit": 1, "limit": 2}'],
    "judge": [
        b'{"left": {"id": 1, "id": 2}, "right": {"id": 3}, "same": true}',
        b'{"left": {}, "right": {}, "left": {}, "same": true}',
    ],
    "judgements": [b'{"limit": 1, "limit": 2}'],
}
"""Bodies in which a key occurs twice, by route; `compact` takes none."""


def test_a_key_that_occurs_twice_is_refused_by_name_on_every_route(client):
    routes = {row.path.rpartition("/")[2] for row in ROUTES if row.method == "POST"}
    assert routes == {*TWICE, "compact"}
    before = client.get("/v1/stores/default/info").json()
    for route, bodies in TWICE.items():
        for body in bodies:
            response = client.post(f"/v1/stores/default/{route}", content=body, headers=JSON)
            said = is_problem(response, 422, "invalid_value")
            assert "occurs 2 times, so it is not clear which one is meant. Give each key once" in said, (route, body)
            assert "The body cannot be taken: the key " in said
            if not body.startswith(b"[") and route in ("check", "check-and-add"):
                response = client.post(f"/v1/stores/default/{route}", content=body + b"\n", headers=LINES)
                assert "line 0 (counted from 0) cannot be taken" in is_problem(response, 422, "invalid_value")
    assert client.get("/v1/stores/default/info").json() == before
    odd = b'{"text": "{\\"text\\": 1, \\"text\\": 2}"}'
    assert client.post(CHECK, content=odd, headers=JSON).status_code == 200


def test_a_body_without_a_length_is_refused_when_it_has_become_too_large(client):
    def parts():
        yield b'{"id": "a", "text": "'
        for _ in range(20):
            yield b"x" * 1000

    is_problem(client.post(ADD, content=parts(), headers=JSON), 413, "too_large")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {"Content-Type": ""},
    ],
    ids=str,
)
def test_other_media_types(client, headers):
    assert "Content-" in is_problem(client.post(ADD, content=b"{}", headers=headers), 415, "unsupported_media_type")


def test_lines_where_one_value_is_taken(client):
    for name in ("get", "remove", "neighbors", "expire", "compact", "compare"):
        response = client.post(f"/v1/stores/default/{name}", content=b"{}", headers=LINES)
        assert "one value" in is_problem(response, 415, "unsupported_media_type")


def test_utf_8_may_be_named(client):
    response = client.post(
        CHECK, content=b'{"text": "x"}', headers={"Content-Type": 'Application/JSON; charset="UTF-8"'}
    )
    assert response.status_code == 200


@pytest.mark.parametrize(
    "path", ["/page", "/v1", "/v1/stores/default", "/v1/stores/default/nothing", "/v1/stores//check"]
)
def test_other_paths(client, path):
    assert "/v1/openapi.json" in is_problem(client.post(path, json={}), 404, "not_found")


def test_other_methods(client):
    response = client.put(CHECK, json={})
    assert "does not take this method" in is_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize("name", ["a/b", "..%2Fs", "%00", "s" * 500, "ü"])
def test_stores_that_are_not_there(client, name):
    assert client.post(f"/v1/stores/{name}/check", json={"text": "x"}).json()["code"] in ("unknown_store", "not_found")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("neighbors", {"text": "x", "id": 1}, "Give a text, or the `id` of a kept document."),
        ("neighbors", {"text": "x", "min_similarity": 2}, "min_similarity"),
        ("expire", {"older_than": "long"}, "`older_than='long'`"),
        ("expire", {"older_than": -1}, "`older_than=-1.0`"),
        ("expire", {"newest": -1}, "`newest=-1`"),
        ("expire", {"by": "age"}, "Invalid enum value 'age'"),
        ("get", {"ids": "x"}, "Expected `array`"),
        ("remove", {}, "required field `ids`"),
    ],
)
def test_values_that_the_library_refuses(client, name, given, said):
    assert said in is_problem(post(client, name, given), 422, "invalid_value")


def test_texts_that_are_too_long_to_be_shown_step_by_step(client, tmp_path):
    with asking(new_store(tmp_path / "s")) as larger:
        long = {"left": "x", "right": "y " * COMPARED_CHARACTERS}
        assert "`right` has 20,000 characters" in is_problem(post(larger, "compare", long), 413, "too_large")


def test_too_many_ids(client):
    assert "at most 5" in is_problem(post(client, "get", {"ids": list(range(6))}), 413, "too_many_documents")


def test_a_wrong_line_ends_a_stream_after_what_was_answered(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        good = [{"id": number, "text": f"{FERRY} {number}"} for number in range(PART + 3)]
        body = lines(good) + b'{"id": 1}\n' + lines([{"id": "after", "text": BREAD}])
        response = client.post(ADD, content=body, headers=LINES)
        *answered, last = map(json.loads, response.text.splitlines())
        assert response.status_code == 200
        assert [each["id"] for each in answered] == list(range(PART))
        assert (last["status"], last["code"]) == (422, "invalid_value")
        assert last["detail"].startswith(f"The line {PART + 3} (counted from 0) is not what is taken here")
        found = post(client, "get", {"ids": [0, "after", PART]}).json()
        assert found["unknown"] == ["after", PART]


def test_a_stream_that_is_wrong_from_the_beginning_is_a_problem(client):
    is_problem(client.post(ADD, content=b"{\n", headers=LINES), 400, "invalid_json")
    is_problem(client.post(ADD, content=b"x" * 20_000, headers=LINES), 413, "too_large")


@pytest.mark.parametrize("key", ["", '""', "x" * 201, 'a"b', "a\\b", '"a" b', "tab\there"])
def test_keys_that_are_none(client, key):
    response = client.post(ADD, json={"id": 1, "text": "x"}, headers={"Idempotency-Key": key})
    assert "Give up to 200 printable ASCII characters" in is_problem(response, 422, "invalid_value")


def test_without_tokens_only_names_of_this_machine_are_served(tmp_path):
    with asking(new_store(tmp_path / "s"), hosts=("localhost", "127.0.0.1", "::1")) as client:
        for host in ("localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80", "LOCALHOST"):
            assert client.get("/v1/stores", headers={"Host": host}).status_code == 200, host
        for host in ("evil.example", "localhost.evil.example", "evil.example:8080", "", "[::2]"):
            assert "is not served" in is_problem(client.get("/v1/stores", headers={"Host": host}), 400, "invalid_host")
        assert client.get("/v1/health", headers={"Host": "10.0.0.7"}).status_code == 200


ALLOWED = {
    "read": ["check", "neighbors", "get", "compare"],
    "write": ["check-and-add"],
    "admin": ["remove", "expire", "compact"],
}
BODIES = {
    "check": {"text": FERRY}, "neighbors": {"text": FERRY}, "get": {"ids": [1]}, "compare": {"left": "a", "right": "b"},
    "check-and-add": {"id": 1, "text": FERRY}, "remove": {"ids": [2]}, "expire": {}, "compact": {},
}  # fmt: skip


def test_a_slash_at_the_end_leads_nowhere(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        for path in ("/v1/stores/", "/v1/health/", f"{CHECK}/"):
            is_problem(client.post(path, json={"text": FERRY}, follow_redirects=False), 404, "not_found")


def test_each_role_may_do_what_it_is_for_and_what_lower_ones_may(tmp_path):
    log = []
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path), log=log) as client:
        allowed = []
        for role, more in ALLOWED.items():
            allowed += more
            token = {"Authorization": f"Bearer {TOKEN}{role[0]}"}
            for name, body in BODIES.items():
                response = client.post(f"/v1/stores/default/{name}", json=body, headers=token)
                if name in allowed:
                    assert response.status_code == 200, (role, name)
                else:
                    detail = is_problem(response, 403, "forbidden")
                    assert detail.startswith(f"The token of {role}er has the role {role}. This needs "), name
            for path in ("/v1/stores", "/v1/stores/default/info", "/metrics"):
                assert client.get(path, headers=token).status_code == 200
    assert {line["caller"] for line in log if line["event"] == "request"} == {"reader", "writeer", "adminer"}
    refused = [line for line in log if line.get("status") == 403]
    assert {(line["caller"], line["code"]) for line in refused} == {("reader", "forbidden"), ("writeer", "forbidden")}


@pytest.mark.parametrize(
    "given",
    [
        None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}", f"Bearer {TOKEN}R", f"Basic {TOKEN}r", f"{TOKEN}r",
        f"Bearer {TOKEN}r {TOKEN}r", b"Bearer \xff\xfe",
    ],
    ids=str,
)  # fmt: skip
def test_without_a_token_nothing_is_told_but_that_the_service_is_alive(tmp_path, given):
    log = []
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path), log=log) as client:
        headers = {} if given is None else {"Authorization": given}
        for name, body in BODIES.items():
            response = client.post(f"/v1/stores/default/{name}", json=body, headers=headers)
            assert "Authorization: Bearer TOKEN" in is_problem(response, 401, "unauthorized")
            assert response.headers["www-authenticate"].startswith("Bearer")
        assert client.get("/v1/stores/other/info", headers=headers).status_code == 401
        assert client.get("/metrics", headers=headers).status_code == 401
        assert client.get("/v1/health", headers=headers).status_code == 200
        assert client.get("/v1/ready", headers=headers).status_code == 200
        assert client.get("/v1/openapi.json", headers=headers).status_code == 200
    assert TOKEN not in json.dumps(log)


def test_texts_ids_and_tokens_are_in_no_log(tmp_path, monkeypatch):
    log = []
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path), log=log) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}a"
        add(client, "secret-id", f"{FERRY} secret-text")
        post(client, "check", {"text": "secret-text", "secret-field": 1})
        post(client, "neighbors", {"id": "secret-id-2"})
        client.post(ADD, content=b'{"id": "secret-id-3"}\n', headers=LINES)
        worker = client.service.workers["default"]
        monkeypatch.setattr(worker, "_check", lambda *_: 1 / 0)
        is_problem(post(client, "check", {"text": "secret-text"}), 500, "internal")
        client.get("/v1/stores/secret-store/info")
        client.get("/secret-path")
    told = json.dumps(log)
    assert "secret" not in told
    assert TOKEN not in told
    assert {line["event"] for line in log} >= {"started", "request", "store_failed", "request_failed", "ended"}
    failed = next(line for line in log if line["event"] == "store_failed")
    assert failed["failure"] == "ZeroDivisionError"
    assert any("worker.py:" in place for place in failed["at"])


def test_every_code_has_a_status_and_unexpected_failures_tell_only_their_kind():
    assert all(400 <= status < 600 for status in CODES.values())
    assert "secret" not in problem_of(RuntimeError("secret")).detail
    assert problem_of(RuntimeError("secret")).detail.startswith("The service failed unexpectedly (RuntimeError)")
    assert problem_of(OSError(28, "No space left on device")).code == "store_unavailable"


def test_a_stream_waits_until_its_rate_allows_more(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_rate=1000.0, max_batch=4)) as client:
        body = lines([{"text": f"{FERRY} {number}"} for number in range(1300)])
        began = time.monotonic()
        response = client.post(CHECK, content=body, headers=LINES)
        assert response.text.count("\n") == 1300
        assert time.monotonic() - began >= 0.3 * 0.9  # the first thousand come at once


def test_a_rate_is_of_each_caller_and_says_when_to_ask_again(tmp_path):
    limits = Limits(max_rate=0.5, max_batch=4, lines_per_part=1)
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path), limits=limits) as client:
        reader, writer = ({"Authorization": f"Bearer {TOKEN}{letter}"} for letter in "rw")
        for _ in range(4):
            assert post(client, "check", {"text": FERRY}, headers=reader).status_code == 200
        response = post(client, "check", [{"text": FERRY}] * 3, headers=reader)
        assert "reader may give 0.5 documents a second" in is_problem(response, 429, "rate_exceeded")
        assert 5 <= int(response.headers["retry-after"]) <= 6
        assert post(client, "check", [{"text": FERRY}] * 4, headers=writer).status_code == 200
        assert client.get("/v1/stores/default/info", headers=reader).status_code == 200  # it has no documents


def test_bodies_together_may_not_take_more_memory_than_is_given(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_memory=500)) as client:
        response = post(client, "check", {"text": "x" * 600})
        assert "are being read or answered" in is_problem(response, 503, "busy")
        assert response.headers["retry-after"] == "1"
        assert post(client, "check", {"text": LATER}).status_code == 200
        assert client.service.admission.held == 0
        assert client.post(CHECK, content=lines([{"text": "x" * 300}] * 3), headers=LINES).status_code == 503
        assert client.service.admission.held == 0
        assert client.service.admission.running == 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"x \\ud835", "x \ufffd"),
        (b"\\udc00\\ud83d", "\ufffd\ufffd"),
        (b"\\ud83d\\uD83D\\uDE00 \\\\ud83d", "\ufffd\U0001f600 \\ud83d"),
    ],
)
def test_half_of_a_surrogate_pair_in_a_text_is_replaced_and_the_rest_of_the_batch_taken(tmp_path, given, kept):
    with asking(new_store(tmp_path / "s", texts=True)) as client:
        body = b'[{"id": "a", "text": "%s"}, {"id": "b", "text": "%s"}]' % (given, BREAD.encode())
        answers = client.post(ADD, content=body, headers=JSON).json()
        assert [answer["is_new"] for answer in answers] == [True, True]
        assert post(client, "get", {"ids": ["a"]}).json()["documents"][0]["text"] == kept


@pytest.mark.parametrize("media", [JSON, LINES])
def test_a_byte_order_mark_at_the_start_of_a_body_is_taken(tmp_path, media):
    with asking(new_store(tmp_path / "s")) as client:
        assert client.post(ADD, content=b'\xef\xbb\xbf{"id": "a", "text": "x"}\n', headers=media).status_code == 200
