"""People review a store over HTTP: what was removed, what is worth judging, and judgements, from a service and from its clients."""

import random

import pytest

import neardup as nd
from neardup.service.client import calls
from neardup.service.limits import Limits
from service.clients import BOTH
from service.serving import BREAD, FERRY, LATER, asking, is_problem, listening, new_store, post, texts_of, tokens_in


@BOTH
@pytest.mark.parametrize("texts", [True, False])
def test_a_client_reviews_as_a_store(tmp_path, monkeypatch, made, texts):
    monkeypatch.setattr(calls, "MAX_LISTED", 7)
    given = texts_of(random.Random(3), 80)
    options = {"min_similarity": 0.6, "floor": 0.3, "texts": texts}
    with nd.Store(tmp_path / "here", **options) as store:
        store.check_and_add_many(range(80), given)
        there = {"default": new_store(tmp_path / "there", **options)}
        with listening(there, limits=Limits(max_listed=7)) as url, made(url) as client:
            client.check_and_add_many(range(80), given)

            def both(name, *args, **named):
                found = [getattr(each, name)(*args, **named) for each in (store, client)]
                return [
                    [str(each).partition(" seen=")[0].partition(" judged=")[0] for each in some]
                    if isinstance(some, list)
                    else some
                    for some in found
                ]

            for limit in (1, 7, 10, 100):
                here, there = both("recent", limit=limit)
                assert here == there
            here, there = both("recent", limit=9, before=store.recent(limit=4)[-1].position)
            assert here == there
            here, there = both("review", limit=7)
            assert here == there
            for number in range(4):
                for mine, theirs in zip(store.review(limit=3), client.review(limit=3), strict=True):
                    count = client.judge(theirs, same=number % 2 == 0)
                    assert count == store.judge(mine, same=number % 2 == 0)
            assert client.judge(client.recent(limit=1)[0], same=True) == store.judge(
                store.recent(limit=1)[0], same=True
            )
            kept = [row for row in range(80) if store.get(row)]
            assert client.judge((kept[0], kept[1]), same=False) == store.judge((kept[0], kept[1]), same=False) >= 13
            for named in ({}, {"limit": 3}, {"limit": 9}, {"after": 5}, {"limit": 7, "after": 2}):
                here, there = both("judgements", **named)
                assert here == there, named
            assert client.get(kept[0]).text == store.get(kept[0]).text == (given[kept[0]] if texts else None)


def test_what_review_gives_is_what_judge_takes(tmp_path):
    with asking(new_store(tmp_path / "s", texts=True)) as client:
        post(client, "check-and-add", [{"id": 1, "text": FERRY}, {"id": 2, "text": LATER}, {"id": 3, "text": BREAD}])
        (pair,) = post(client, "review", {}).json()["pairs"]
        assert (pair["kind"], pair["left"]["text"], pair["right"]["text"]) == ("removed", LATER, FERRY)
        given = {"left": pair["left"], "right": pair["right"], "same": True}
        assert post(client, "judge", given).json() == {"judged": 1}
        assert post(client, "review", {"limit": 5}).json() == {"pairs": []}
        found = post(client, "judgements", {}).json()
        assert found["next"] is None
        assert found["judgements"][0]["same"] is True
        assert found["judgements"][0]["left"] == pair["left"] | {"position": None}


def test_judging_needs_the_role_write(tmp_path):
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path)) as client:
        token = {"Authorization": "Bearer " + tokens_in(tmp_path).read_text().split()[2]}
        for name in ("recent", "review", "judgements"):
            assert client.post(f"/v1/stores/default/{name}", json={}, headers=token).status_code == 200
        given = {"left": {"id": 1}, "right": {"id": 2}, "same": True}
        found = client.post("/v1/stores/default/judge", json=given, headers=token)
        assert is_problem(found, 403, "forbidden")


def test_refusals_name_what_is_allowed(tmp_path):
    with asking(new_store(tmp_path / "s")) as client:
        post(client, "check-and-add", [{"id": 1, "text": FERRY}, {"id": 2, "text": LATER}, {"id": 3, "text": BREAD}])
        for name in ("recent", "review", "judgements"):
            found = post(client, name, {"limit": 201})
            assert is_problem(found, 422, "invalid_value")
            assert found.json()["detail"].startswith("`limit=201`: a response lists at most 200.")
            assert is_problem(post(client, name, {"limit": 0}), 422, "invalid_value")
            assert is_problem(post(client, name, {"limits": 1}), 422, "invalid_value")
        assert is_problem(post(client, "recent", {"before": "x"}), 422, "invalid_value")
        for left, right in (
            ({"id": 1}, {"id": 1}),
            ({"id": 1}, {"id": 9}),
            ({}, {"id": 1}),
            ({"position": "x"}, {"id": 1}),
        ):
            assert is_problem(post(client, "judge", {"left": left, "right": right, "same": True}), 422, "invalid_value")
        assert is_problem(post(client, "judge", {"left": {"id": 1}, "right": {"id": 3}}), 422, "invalid_value")
        changed = {"left": {"id": 1, "digest": "0" * 32}, "right": {"id": 3}, "same": True}
        assert "has another text by now" in post(client, "judge", changed).json()["detail"]


def test_a_response_has_no_more_text_than_is_allowed(tmp_path):
    limits = Limits(max_listed_bytes=600)
    given = [f"{FERRY} {word}" for word in "one two three four five six seven eight nine ten".split()]
    with asking(new_store(tmp_path / "s", texts=True), limits=limits) as client:
        post(client, "check-and-add", [{"id": row, "text": text} for row, text in enumerate([FERRY, *given, BREAD])])
        found, before = [], None
        for _ in range(20):
            page = post(client, "recent", {} if before is None else {"before": before}).json()
            assert sum(len(each["text"] + each["survivor_text"]) for each in page["duplicates"]) <= 600
            found += [each["id"] for each in page["duplicates"]]
            before = page["next"]
            if before is None:
                break
        assert found == list(range(10, 0, -1))
        assert 0 < len(post(client, "review", {}).json()["pairs"]) < 5
    with asking(new_store(tmp_path / "t", texts=True), limits=limits) as client:
        long = " ".join(f"w{number}" for number in range(200))
        post(client, "check-and-add", [{"id": 1, "text": long}, {"id": 2, "text": BREAD}])
        assert post(client, "get", {"ids": [1]}).json()["documents"][0]["text"] == long
        found = post(client, "get", {"ids": [1, 2]})
        assert is_problem(found, 413, "too_large")
        assert found.json()["detail"] == "The texts have more than 600 bytes. Ask for fewer documents."
