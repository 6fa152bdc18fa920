"""Several services on one store in PostgreSQL answer as one store in a folder that got the same calls."""

import contextlib
import itertools
import random
import time

import pytest
from sizes import set_sizes
from streams import WAYS, decisions, near_copies, streamed

import neardup as nd
from at_rest import WatchedStore as Store

KEEPS = ("first", "always", "longest", "shortest", "last", "max:stars", "min:stars")


@pytest.mark.parametrize(("method", "similarity", "least"), WAYS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_two_services_decide_as_the_batch_does(server, schema, monkeypatch, method, similarity, least, size):
    most_bytes = 700 if size == 7 else 1 << 25
    set_sizes(monkeypatch, learned=4, growth=2, texts=13, rows=5, followed=9, ahead=4, bytes=most_bytes)
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    texts = list(near_copies(60, size))
    expected, found = decisions(texts, **options), {}
    assert len(expected) > 5
    place = server.place(schema)
    with Store(place, **options) as one, Store(place) as other:
        for service, first in zip(itertools.cycle([one, other, other]), range(0, 60, 10), strict=False):
            found |= streamed(service, texts[first : first + 10], size, first)
        assert found == expected
        assert len(one) == len(other) == len(texts) - len(expected)
        answers = one.check_many(texts)
    with Store(place, mode="r") as again, Store(place) as late:
        assert again.check_many(texts) == late.check_many(texts) == answers
        assert again.verify().is_sound
        assert late.verify().is_sound


def calls(keep, seed, count=40):
    """Calls of a store by name and arguments: documents, updates, removals, copies and expiry."""
    choose, texts = random.Random(seed), list(near_copies(3 * count, seed))
    for number in range(count):
        some = range(choose.randrange(1, 6))
        ids = [choose.choice([f"d{choose.randrange(30)}", choose.randrange(30), number + 100 * i]) for i in some]
        stars = [{"stars": choose.randrange(9)} for _ in some]
        what = choose.randrange(10)
        if what < 7:
            yield (
                "check_and_add_many",
                (ids, choose.choices(texts, k=len(ids))),
                {"metadata": stars, "state": {"at": number}},
            )
        elif what == 7:
            yield "remove", (ids,), {}
        elif what == 8:
            yield "expire", (), {"newest": 25, "by": "first_seen"}
        else:
            yield "check_and_add_many", (ids, choose.choices(texts, k=len(ids))), {"metadata": stars, "expires": 1e10}


def known(store, texts):
    """What a store tells of texts and ids, without times."""
    ids = [*range(0, 140, 3), *(f"d{number}" for number in range(30))]
    documents = [store.get(each) for each in ids]
    told = [None if each is None else (each.id, each.tokens, each.fingerprint, each.metadata) for each in documents]
    return store.check_many(texts), told, len(store), store.state


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize(("method", "similarity", "least"), [WAYS[0], WAYS[1], WAYS[5], WAYS[8]])
def test_services_answer_as_one_store_in_a_folder(tmp_path, server, schema, keep, method, similarity, least):
    options = {"method": method, "similarity": similarity, "min_similarity": least, "keep": keep}
    place, choose = server.place(schema), random.Random(keep)
    with contextlib.ExitStack() as stack:
        alone = stack.enter_context(Store(tmp_path / "s", **options))
        services = [stack.enter_context(Store(place, **options)) for _ in range(3)]
        for name, arguments, named in calls(keep, 5):
            expected = getattr(alone, name)(*arguments, **named)
            assert getattr(choose.choice(services), name)(*arguments, **named) == expected
            if choose.random() < 0.1:  # a service is closed, and opened again
                at = choose.randrange(3)
                services[at].close()
                services[at] = stack.enter_context(Store(place))
        asked = list(near_copies(120, 5))
        late = stack.enter_context(Store(place, mode="r"))
        for service in (*services, late):
            assert known(service, asked) == known(alone, asked)
            assert service.verify().is_sound


def test_times_are_those_of_the_database(server, place, monkeypatch):
    now = time.time()
    monkeypatch.setattr("time.time", lambda: 100.0)
    text = "The night ferry to the islands leaves at ten past nine from the old customs pier."
    with Store(place, min_similarity=0.6) as one, Store(place) as other:
        one.check_and_add("a", text, metadata={"at": 1}, expires=5e9)
        assert other.check_and_add("b", text.replace("night", "evening") + " Bring a coat.").is_new is False
        assert other.check_and_add("c", text.upper()).exact
        with Store(place, mode="r") as late:
            for service in (one, other, late):
                found = service.get("a")
                assert now - 60 < found.first_seen < found.last_seen < now + 600
                assert found.expires == 5e9
                assert found.metadata == {"at": 1}
        assert one.expire(older_than=150, by="last_seen") == 0
        assert other.expire(older_than=50, by="last_seen", now=now + 1000) == 1
        assert len(one) == 0


def test_a_state_may_ask_and_not_change(place):
    texts = list(near_copies(30, 2))
    with Store(place) as one, Store(place) as other:
        expected = one.check_and_add_many(range(10), texts[:10])

        def changing(_):
            one.remove([0])

        def asking(answers):
            one.flush()
            return [sum(answer.is_new for answer in answers), len(one), one.check(texts[0]).exact]

        with pytest.raises(nd.InputError, match="cannot change the store"):
            one.check_and_add_many(range(10, 20), texts[10:20], state=changing)
        assert len(one) == len(other) == sum(answer.is_new for answer in expected)
        found = one.check_and_add_many(range(10, 20), texts[10:20], state=asking)
        assert other.state == [sum(answer.is_new for answer in found), len(other), True]
        assert one.check_many(texts) == other.check_many(texts)
        assert one.verify().is_sound


def test_what_changes_nothing_writes_nothing(server, place, schema):
    with Store(place) as store:
        store.check_and_add("a", "Some words that are not many.")
        before = server.execute(f"SELECT position, request FROM {schema}.stores")
        assert store.check_and_add_many([], []) == []
        assert (store.remove(["b"]), store.expire()) == (0, 0)
        assert server.execute(f"SELECT position, request FROM {schema}.stores") == before


def test_removed_texts_leave_the_database(server, place, schema):
    words = [f"w{i}" for i in range(40)]
    with Store(place, min_similarity=0.7) as store:
        store.check_and_add_many(
            ["a", "b"], [" ".join(words), " ".join([*words[:-2], "x", "y"])], metadata=["secret"] * 2
        )
        assert server.execute(f"SELECT count(digest) FROM {schema}.removed") == [(1,)]
        assert store.remove(["a"]) == 1
    assert server.execute(f"SELECT id, metadata, content FROM {schema}.documents") == [(None, None, None)]
    assert server.execute(f"SELECT count(digest), count(*) FROM {schema}.removed") == [(0, 1)]
    with Store(place, mode="r") as late:
        assert (len(late), late.check(" ".join(words)).is_new, late.info().gone) == (0, True, 1)


def test_stores_of_one_database_are_apart(server, schema):
    text = "The night ferry to the islands leaves at ten past nine."
    places = [server.place(schema), server.place(schema, "other"), server.place(f"{schema}_b")]
    stores = [Store(place) for place in places]
    with contextlib.ExitStack() as stack:
        for number, store in enumerate(stores):
            stack.enter_context(store)
            noted = {"k": (number, 2e11)}
            assert store.check_and_add_many([number], [text], notes=lambda _, noted=noted: noted, unless=["k"])[
                0
            ].is_new
        assert [(len(store), store.notes(["k"])) for store in stores] == [(1, {"k": number}) for number in range(3)]
        assert len({store.path.parent for store in stores}) == 3
