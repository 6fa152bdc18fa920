"""Every route gives what the library gives."""

import json
import random
import re
import time

import pytest

import neardup as nd
from neardup.service.limits import Limits
from neardup.service.messages.examples import EXAMPLES
from neardup.service.routes import ROUTES
from service.serving import BREAD, FERRY, LATER, LINES, add, asking, is_problem, lines, new_store, post, texts_of

ROWS = {row.name: row for row in ROUTES}
VARYING = {"first_seen", "last_seen", "seen", "judged", "bytes", "unicode", "orphaned"}


def without_varying(value):
    if isinstance(value, dict):
        return {name: 0 if name in VARYING else without_varying(inner) for name, inner in value.items()}
    return [without_varying(inner) for inner in value] if isinstance(value, list) else value


def answers(found):
    """Answers of the library as they travel, with their ids."""
    return [
        {
            "id": name,
            "is_new": each.is_new,
            "duplicate_of": each.duplicate_of,
            "similarity": each.matches[0].similarity if each.matches else None,
            "distance": each.matches[0].distance if each.matches else None,
            "exact": each.exact,
            "matches": [{"id": m.id, "similarity": m.similarity, "distance": m.distance} for m in each.matches],
            "replaces": [{"id": m.id, "similarity": m.similarity, "distance": m.distance} for m in each.replaces],
        }
        | ({"is_update": True} if each.is_update else {})
        | {"status": each.status}
        for name, each in found
    ]


def test_the_examples_are_what_is_answered(tmp_path):
    with asking(new_store(tmp_path / "s", texts=True)) as client:
        for each in EXAMPLES:
            row = ROWS[each.route]
            path = row.path.replace("{store}", "default")
            given = {} if each.given is None else {"json": each.given}
            found = client.request(row.method, path, **given)
            assert found.status_code == 200, found.text
            if each.answer is not None:
                assert without_varying(found.json()) == without_varying(each.answer), each.title
    assert {each.route for each in EXAMPLES} == set(ROWS) - {"metrics"}


OPTIONS = (
    {}, {"method": "minhash"}, {"method": "simhash", "min_similarity": 0.5},
    {"method": "simhash", "min_similarity": 0.0, "max_distance": 12}, {"similarity": "containment"},
    {"keep": "longest"}, {"keep": "last"}, {"keep": "always"}, {"keep": "max:stars"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "form"),
    [(options, ("array", "lines")[number % 2]) for number, options in enumerate(OPTIONS)]
    + [({}, "one"), ({}, "lines"), ({"keep": "longest"}, "one")],
    ids=str,
)
def test_documents_get_the_answers_of_the_library(tmp_path, options, form):
    texts = texts_of(random.Random(3), 40)
    documents = [
        {"id": number if number % 3 else f"d{number}", "text": text, "metadata": {"stars": number % 5}}
        for number, text in enumerate(texts)
    ]
    documents[30]["id"] = documents[2]["id"]  # an update
    with nd.Store(tmp_path / "library", **({"min_similarity": 0.7} | options)) as store:
        expected = [
            (each["id"], store.check_and_add(each["id"], each["text"], metadata=each["metadata"])) for each in documents
        ]
        asked = list(enumerate(store.check_many(texts)))
    with asking(new_store(tmp_path / "s", **options)) as client:
        if form == "one":
            found = [post(client, "check-and-add", each).json() for each in documents]
            checked = [post(client, "check", {"id": i, "text": text}).json() for i, text in enumerate(texts)]
        elif form == "array":
            found = post(client, "check-and-add", documents).json()
            checked = post(client, "check", [{"text": text} for text in texts]).json()
        else:
            paths = [f"/v1/stores/default/{name}" for name in ("check-and-add", "check")]
            bodies = [lines(documents), lines([{"text": text} for text in texts]).rstrip(b"\n")]
            replies = [client.post(path, content=body, headers=LINES) for path, body in zip(paths, bodies, strict=True)]
            assert [each.headers["content-type"] for each in replies] == [LINES["Content-Type"]] * 2
            found, checked = ([json.loads(line) for line in each.text.splitlines()] for each in replies)
    assert found == answers(expected)
    assert checked == answers(asked)


def test_what_was_kept_is_told_and_removed_by_its_id(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        add(client, "17", FERRY, metadata=[1, {"ü": None}], expires=5e9)
        add(client, 17, BREAD)
        found = post(client, "get", {"ids": ["17", 17, "no", 17]}).json()
        assert [each["id"] for each in found["documents"]] == ["17", 17]
        assert found["unknown"] == ["no"]
        assert found["documents"][0]["metadata"] == [1, {"ü": None}]
        assert found["documents"][0]["expires"] == 5e9
        assert bytes.fromhex(found["documents"][1]["fingerprint"]) == nd.fingerprint([BREAD])[0].astype(">u8").tobytes()
        assert post(client, "remove", {"ids": [17, "no", 17]}).json() == {"removed": 1, "unknown": ["no"], "ids": [17]}
        assert post(client, "check", {"text": BREAD}).json()["is_new"]
        assert not post(client, "check", {"text": FERRY}).json()["is_new"]


def test_neighbors_are_those_of_the_library(tmp_path):
    texts = texts_of(random.Random(5), 30, copies=0.8)
    path = new_store(tmp_path / "s", keep="always", floor=0.3, min_similarity=0.6)
    with asking(path) as client:
        post(client, "check-and-add", [{"id": i, "text": text} for i, text in enumerate(texts)])
        with nd.Store(path, mode="r") as store:
            for given in ({"id": 3}, {"text": texts[4]}, {"id": 5, "min_similarity": 0.4}):
                expected = [
                    {"id": each.id, "similarity": each.similarity, "distance": each.distance}
                    for each in store.neighbors(**given)
                ]
                assert post(client, "neighbors", given).json() == {"neighbors": expected}
        detail = is_problem(post(client, "neighbors", {"id": 3, "min_similarity": 0.1}), 422, "invalid_value")
        assert "floor" in detail
        detail = is_problem(post(client, "neighbors", {"id": "no"}), 404, "unknown_document")
        with nd.Store(path, mode="r") as store, pytest.raises(nd.OptionError, match=re.escape(detail)):
            store.neighbors(id="no")
        assert "Give a text, or the `id`" in is_problem(post(client, "neighbors", {}), 422, "invalid_value")


def test_two_texts_are_compared_with_the_recipe_of_the_store(tmp_path):
    recipe = nd.Recipe(bits=64, max_distance=3)
    with asking(new_store(tmp_path / "s", recipe=recipe)) as client:
        found = post(client, "compare", {"left": FERRY, "right": LATER}).json()
    expected = nd.compare(FERRY, LATER, recipe=recipe)
    assert found["left"]["fingerprint"] == f"{int(expected.left.bits, 2):016x}"
    assert found["right"]["features"][0]["hash"] == f"{int(expected.right.features[0].hash, 2):016x}"
    assert [float(each) for each in found["left"]["sums"]] == [float(each) for each in expected.left.sums]
    for name in ("distance", "similarity", "similarities", "common_shingles", "all_shingles", "estimated_cosine"):
        assert found[name] == getattr(expected, name)


def test_documents_expire_each_at_its_own_time(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        post(client, "check-and-add", [{"id": "a", "text": FERRY, "ttl": 0.1}, {"id": "b", "text": BREAD}])
        assert not post(client, "check", {"text": FERRY}).json()["is_new"]
        time.sleep(0.2)
        assert post(client, "expire", {}).json() == {"removed": 1}
        assert post(client, "check", {"text": FERRY}).json()["is_new"]
        assert post(client, "expire", {"newest": 0}).json() == {"removed": 1}


def test_a_document_expires_after_its_time_to_live_and_not_in_the_past(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        add(client, "a", FERRY, ttl="30d")
        found = post(client, "get", {"ids": ["a"]}).json()["documents"][0]
        assert found["expires"] == found["first_seen"] + 30 * 86_400
        for given, said in (
            ({"expires": 60}, "`expires=60.0` is in the past: it is a time in seconds since 1970. .* give `ttl`"),
            ({"ttl": "soon"}, r"Document 0 \(counted from 0\): `ttl='soon'`: give seconds"),
            ({"ttl": 60, "expires": 5e9}, "Give either `expires` or `ttl`"),
        ):
            answer = post(client, "check-and-add", {"id": "b", "text": BREAD} | given)
            is_problem(answer, 422, "invalid_value")
            assert re.search(said, answer.json()["detail"])
        assert post(client, "get", {"ids": ["b"]}).json()["unknown"] == ["b"]


def test_a_service_removes_what_has_expired_at_its_pace(tmp_path):
    log = []
    with asking(new_store(tmp_path / "s"), limits=Limits(expire_every=0.1), log=log) as client:
        post(client, "check-and-add", [{"id": "a", "text": FERRY, "ttl": 0.3}, {"id": "b", "text": BREAD}])
        assert post(client, "get", {"ids": ["a"]}).json()["unknown"] == []
        ends = time.monotonic() + 60
        while (
            time.monotonic() < ends
            and 'neardup_store_expired_total{store="default"} 1.0' not in client.get("/metrics").text
        ):
            time.sleep(0.05)
        assert post(client, "get", {"ids": ["a", "b"]}).json()["unknown"] == ["a"]
        assert 'neardup_store_documents{store="default"} 1.0' in client.get("/metrics").text
    assert [each["removed"] for each in log if each["event"] == "expired"] == [1]


def test_several_stores_are_apart(tmp_path):
    stores = {"default": new_store(tmp_path / "a"), "news": new_store(tmp_path / "b", min_similarity=0.9)}
    with asking(stores) as client:
        add(client, "x", FERRY)
        assert not post(client, "check", {"text": FERRY}).json()["is_new"]
        assert post(client, "check", {"text": FERRY}, store="news").json()["is_new"]
        assert client.get("/v1/stores").json() == {"stores": ["default", "news"]}
        assert client.get("/v1/stores/news/info").json()["min_similarity"] == 0.9
        detail = is_problem(post(client, "check", {"text": FERRY}, store="old"), 404, "unknown_store")
        assert detail == "There is no store 'old'. There are: default, news."


def test_what_was_answered_is_there_when_the_store_is_opened_again(tmp_path):
    path = new_store(tmp_path / "s")
    with asking(path) as client:
        add(client, "x", FERRY)
        with nd.Store(path, mode="r") as beside:  # durable when it is answered
            assert beside.get("x") is not None
        with pytest.raises(nd.InputError, match="Another process writes to the store"):
            nd.Store(path)
    with nd.Store(path) as store:
        assert store.verify().is_sound
        assert store.check(LATER).duplicate_of == "x"


def test_an_update_says_what_it_replaced(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        assert "is_update" not in add(client, "x", FERRY)
        answer = add(client, "x", LATER)
        counted = client.get("/metrics").text
    assert (answer["is_new"], answer["is_update"]) == (True, True)
    assert answer["replaces"] == [{"id": "x", "similarity": 0.75, "distance": 16}]
    for outcome in ("new", "update"):
        assert f'neardup_store_added_total{{outcome="{outcome}",store="default"}} 1' in counted


def test_metrics_count_requests_and_documents(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        post(client, "check-and-add", [{"id": 1, "text": FERRY}, {"id": 2, "text": LATER}, {"id": 3, "text": BREAD}])
        post(client, "check", {"text": BREAD})
        post(client, "check", {"txt": BREAD})
        response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    counted = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    for name, value in {
        'neardup_store_added_total{outcome="new",store="default"}': 2,
        'neardup_store_added_total{outcome="duplicate",store="default"}': 1,
        'neardup_store_checks_total{store="default"}': 1,
        'neardup_store_documents{store="default"}': 2,
        'neardup_store_ready{store="default"}': 1,
        'neardup_store_waiting_documents{store="default"}': 0,
        'neardup_requests_total{route="check",status="200"}': 1,
        'neardup_requests_total{route="check",status="422"}': 1,
        'neardup_commit_documents_sum{store="default"}': 3,
    }.items():
        assert float(counted[name]) == value, name


def test_an_empty_body_of_documents_has_no_answers(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        for name in ("check", "check-and-add"):
            assert post(client, name, []).json() == []
            empty = client.post(f"/v1/stores/default/{name}", content=b"", headers=LINES)
            assert (empty.status_code, empty.text) == (200, "")
            assert client.post(f"/v1/stores/default/{name}", content=b"\n \n", headers=LINES).text == ""
        assert post(client, "get", {"ids": []}).json() == {"documents": [], "unknown": []}
        assert post(client, "remove", {"ids": []}).json() == {"removed": 0, "unknown": [], "ids": []}
