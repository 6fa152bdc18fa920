"""A known id with another text is an update, and the answer says so: in a folder, in PostgreSQL, and in a stream."""

import pytest
from sizes import set_sizes

import neardup as nd
from neardup.store.upkeep import info

FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."


def told(answers):
    return [(each.is_new, each.is_update, [match.id for match in each.replaces]) for each in answers]


def test_an_update_names_the_text_that_it_replaced(any_place):
    with nd.Store(any_place, min_similarity=0.7) as store:
        first = store.check_and_add("x", FERRY)
        again = store.check_and_add("x", FERRY)
        changed = store.check_and_add("x", LATER)
        assert told([first, again, changed]) == [(True, False, []), (False, False, []), (True, True, ["x"])]
        [earlier] = changed.replaces
        assert (earlier.similarity, earlier.distance) == (0.75, 16)
        assert earlier.first_seen <= store.get("x").first_seen
        assert len(store) == 1


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_two_rows_of_one_call_with_an_id_are_an_update(any_place, monkeypatch, at_once):
    set_sizes(monkeypatch, texts=at_once)
    with nd.Store(any_place) as store:
        answers = store.check_and_add_many(["a", "x", "x", "x", "b"], ["one text", FERRY, BREAD, BREAD, FERRY])
        assert [(each.is_new, each.is_update) for each in answers] == [
            (True, False),
            (True, False),
            (True, True),
            (False, False),
            (True, False),
        ]
        assert len(store) == 3


@pytest.mark.parametrize("keep", ["first", "always", "last", "longest", "shortest", "max:stars"])
@pytest.mark.parametrize("at_once", [False, True])
def test_the_status_says_what_became_of_a_document_for_every_keep(any_place, keep, at_once):
    replaces = keep in ("last", "longest", "max:stars")  # the later document is the longer one
    rows = [
        ("x", BREAD, "new"),
        ("x", BREAD.upper(), "unchanged"),
        ("x", FERRY, "updated"),
        ("y", FERRY + " Sure.", "new" if replaces else "duplicate"),
        ("y", FERRY + " Sure.", "unchanged" if replaces or keep == "always" else "duplicate"),
        ("z", BREAD, "new"),
        ("z", FERRY + " Be sure.", {"first": "duplicate", "shortest": "duplicate"}.get(keep, "updated")),
    ]
    ids, texts, expected = zip(*rows, strict=True)
    metadata = [{"stars": n} for n in range(len(rows))]
    with nd.Store(any_place, keep=keep, min_similarity=0.7) as store:
        if at_once:
            answers = store.check_and_add_many(ids, texts, metadata=metadata)
        else:
            answers = [
                store.check_and_add(i, text, metadata=m) for i, text, m in zip(ids, texts, metadata, strict=True)
            ]
        assert [each.status for each in answers] == list(expected)
        assert (store.get("z") is not None) == (expected[-1] == "updated")
        assert [store.check(text).status for text in (FERRY, "anything else")] == ["duplicate", "new"]


def test_an_update_may_be_a_duplicate_of_another_document(any_place):
    with nd.Store(any_place, min_similarity=0.7) as store:
        store.check_and_add_many(["x", "y"], [BREAD, FERRY])
        answer = store.check_and_add("x", LATER)
        assert (answer.is_new, answer.is_update, answer.duplicate_of) == (False, True, "y")
        assert [match.id for match in answer.replaces] == ["x"]
        assert store.get("x") is None


@pytest.mark.parametrize("keep", ["first", "always", "last", "longest", "max:stars"])
def test_with_every_rule_the_earlier_text_comes_first(any_place, keep):
    with nd.Store(any_place, keep=keep, min_similarity=0.7) as store:
        store.check_and_add_many(["x", "y"], [BREAD, FERRY], metadata=[{"stars": 1}, {"stars": 1}])
        answer = store.check_and_add("x", FERRY + " Bring a coat.", metadata={"stars": 2})
        assert answer.is_update
        assert [match.id for match in answer.replaces] == ["x"] + ["y"] * (keep not in ("first", "always"))


def test_where_distance_alone_decides_an_update_has_no_similarity(tmp_path):
    with nd.Store(tmp_path / "s", method="simhash", min_similarity=0) as store:
        store.check_and_add("x", FERRY)
        [earlier] = store.check_and_add("x", BREAD).replaces
        assert earlier.similarity is None
        assert earlier.distance > 20


def test_a_stream_counts_updates():
    with nd.Stream() as stream:
        stream.add_many(["x", "x", "x"], [FERRY, FERRY, BREAD])
        stream.add("x", LATER)
        assert (stream.updated, len(stream)) == (2, 1)


@pytest.mark.parametrize("keep", ["first", "last"])
def test_what_goes_is_named_before_it_is_gone(any_place, keep, monkeypatch):
    monkeypatch.setattr(info, "IDS_AT_ONCE", 2)
    texts = [f"{BREAD} {n} " + " ".join(f"w{n}x{i}" for i in range(12)) for n in range(7)]
    with nd.Store(any_place, keep=keep) as store:
        store.check_and_add_many(list(range(7)), texts)
        gone = []
        assert store.remove([3, "no", 1], report_ids=gone.extend) == 2
        assert gone == [1, 3]
        assert store.expire(newest=2, limit=2, report_ids=gone.extend) == 2
        assert gone == [1, 3, 0, 2]
        with pytest.raises(ZeroDivisionError):
            store.expire(newest=0, report_ids=lambda ids: 1 / 0)
        assert (len(store), store.get(6).id) == (3, 6)
        parts = []
        assert store.expire(newest=0, report_ids=parts.append) == 3
        assert parts == [[4, 5], [6]]
        with pytest.raises(nd.OptionError, match="`limit=0`: give a number of documents, 1 or more"):
            store.expire(limit=0)
