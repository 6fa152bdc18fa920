"""What requests keep in memory is counted until it is answered, and takes no more than was counted."""

import json
import tracemalloc

import httpx
import msgspec
import pytest

from neardup.service.limits import METADATA_BYTES, Limits
from neardup.service.messages.messages import Document
from service.serving import FERRY, LINES, asking, is_problem, lines, new_store, post

ADD = "/v1/stores/default/check-and-add"
KEY = {"Idempotency-Key": "k", **LINES}


def given(count, size=1000):
    """Lines of documents, each of so many bytes."""
    found = [lines([{"id": number, "text": f"{FERRY} {number * 97} "}]) for number in range(count)]
    return [each.replace(b' "}', b" " + b"x" * (size - len(each)) + b'"}') for each in found]


def asked(client, path, pieces, headers=KEY):
    """The response to a body that comes piece after piece, and how much memory is counted before each, and before its end."""
    rest, held, sent = iter(pieces), [], []

    async def receive():
        held.append(client.service.admission.held)
        piece = next(rest, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def send(message):
        sent.append(message)

    named = [(name.lower().encode(), value.encode()) for name, value in {"Host": "localhost", **headers}.items()]
    scope = {
        "type": "http", "method": "POST", "path": path, "headers": named, "query_string": b"", "http_version": "1.1",
        "scheme": "http", "client": None, "server": ("localhost", 80), "root_path": "",
    }  # fmt: skip
    client.portal.call(client.app, scope, receive, send)
    begun, *parts = sent
    content = b"".join(each["body"] for each in parts)
    assert (client.service.admission.held, client.service.admission.running) == (0, 0)
    return httpx.Response(begun["status"], headers=begun["headers"], content=content), held


def test_lines_that_wait_for_their_part_count_until_it_is_answered(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_memory=20_000)) as client:
        response, held = asked(client, ADD, given(40))
        assert "are being read or answered" in is_problem(response, 503, "busy")
        assert response.headers["retry-after"] == "1"
        assert held == [number * 999 for number in range(21)]  # the ends of lines are not kept
        few, _ = asked(client, ADD, given(15))
        assert few.text.count("is_new") == 15


def test_lines_without_a_key_are_answered_and_given_up_as_they_come(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_memory=5_000)) as client:
        response, held = asked(client, ADD, given(40), LINES)
        assert response.text.count("is_new") == 40
        assert held == [0] * 41
        one = b"".join(given(3))
        response, held = asked(client, ADD, [one[:1500], b"", one[1500:2500], b"", one[2500:] + b"\n \n"], LINES)
        assert response.text.count("is_new") == 3
        assert held == [0, 500, 500, 500, 500, 0]


def test_large_lines_make_smaller_parts_which_are_the_same_however_they_come(tmp_path):
    """Else a stream of 256 large lines could never be taken."""
    sizes = [1000] * 35 + [15_000, 15_000, 200, 200]
    body = b"".join(given(len(sizes), size)[number] for number, size in enumerate(sizes))
    path = new_store(tmp_path / "s")

    def ask(client, size):
        return asked(client, ADD, [body[at : at + size] for at in range(0, len(body), size)])

    with asking(path, limits=Limits(max_memory=45_000, bytes_per_part=10_000)) as client:
        first, held = ask(client, 700)
        assert [json.loads(line)["id"] for line in first.text.splitlines()] == list(range(len(sizes)))
        assert max(held) < 2 * 15_000 + 700  # a part, and a line that is coming
    with asking(path, limits=Limits(max_memory=200_000, bytes_per_part=10_000)) as client:
        assert ask(client, 7_000)[0].content == ask(client, len(body))[0].content == first.content
        assert len(client.service.workers["default"].held.store.notes([f"-\n{n}\nk" for n in range(9)])) == 7


def test_few_bytes_are_still_parts_of_a_fixed_number_of_lines(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        client.post(ADD, content=lines([{"id": n, "text": "x"} for n in range(Limits.lines_per_part + 1)]), headers=KEY)
        assert len(client.service.workers["default"].held.store.notes([f"-\n{n}\nk" for n in range(9)])) == 2


# ------------------------------------------------------------------------------------------------------------- metadata


@pytest.mark.parametrize("form", ["one", "array", "lines"])
def test_metadata_has_a_size(tmp_path, form):
    def ask(size):
        documents = [{"id": "a", "text": FERRY}, {"id": "b", "text": FERRY, "metadata": "x" * (size - 2)}]
        if form == "lines":
            return client.post(ADD, content=lines(documents), headers=LINES)
        return post(client, "check-and-add", documents if form == "array" else documents[1])

    with asking(new_store(tmp_path / "s")) as client:
        place = 0 if form == "one" else 1
        assert (
            is_problem(ask(METADATA_BYTES + 1), 413, "too_large")
            == f"The metadata of document {place} (counted from 0) has 64.0 KiB; at most 64.0 KiB are taken. Keep the rest "
            "elsewhere, under the id."
        )
        assert post(client, "get", {"ids": ["a", "b"]}).json()["documents"] == []
        assert ask(METADATA_BYTES).status_code == 200


def test_metadata_is_decoded_one_after_another(tmp_path):
    """An array of empty objects takes 24 times its bytes, once decoded."""
    empty = b"[" + b",".join([b"{}"] * 20_000) + b"]"
    body = (
        b"[" + b",".join(b'{"id":%d,"text":"a%d b%d c%d","metadata":%s}' % (*[n] * 4, empty) for n in range(50)) + b"]"
    )
    with asking(new_store(tmp_path / "s")) as client:

        def traced(name, content):
            tracemalloc.start()
            try:
                path, headers = f"/v1/stores/default/{name}", {"Content-Type": "application/json"}
                return client.post(path, content=content, headers=headers), tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        post(client, "check", {"text": FERRY})
        response, most = traced("check-and-add", body)
        assert response.text.count('"is_new":true') == 50
        assert most < 8 * len(body)
        response, most = traced("get", json.dumps({"ids": list(range(50))}).encode())
        assert most < 8 * len(body)
        assert [len(each["metadata"]) for each in response.json()["documents"]] == [20_000] * 50


def test_the_store_keeps_the_values_that_were_given_however_they_were_written(tmp_path):
    values = [None, 0, False, "", [], {}, {"a": [1, 2.5, None, {"ü": "\u2028"}]}, 10**30, 1e300, "x" * 1000]
    with asking(new_store(tmp_path / "s")) as client:
        for spaces in (None, 1):
            body = json.dumps(
                [{"id": n, "text": f"{FERRY} {n * 97}", "metadata": each} for n, each in enumerate(values)],
                indent=spaces,
            )
            headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
            response = client.post(ADD, content=body, headers=headers)
            assert response.status_code == 200
            assert response.headers.get("idempotency-replayed") == ("true" if spaces else None)
        store = client.service.workers["default"].held.store
        assert [store.get(n).metadata for n in range(len(values)) if store.get(n)] == [
            each for n, each in enumerate(values) if store.get(n)
        ]
        assert store.get(0) is not None


def test_no_depth_of_metadata_makes_a_store_fail(tmp_path):
    log = []
    with asking(new_store(tmp_path / "s"), log=log) as client:
        statuses = set()
        for depth in range(850, 1050, 4):
            body = b'{"id": 1, "text": "x", "metadata": ' + b"[" * depth + b"]" * depth + b"}"
            statuses.add(client.post(ADD, content=body, headers={"Content-Type": "application/json"}).status_code)
        assert {200, 400} <= statuses <= {200, 400, 422}
    assert not [each for each in log if each["event"].startswith("store")]


def test_metadata_that_is_json_has_the_bytes_of_values():
    assert msgspec.json.encode(Document(1, "x", msgspec.Raw(b'{"a":1}'))) == msgspec.json.encode(
        Document(1, "x", {"a": 1})
    )
