"""Every number that a method of a store takes may be any number: it is answered or refused, and the store goes on."""

import contextlib
import inspect
import re

import numpy as np
import pytest

import neardup as nd
from at_rest import WatchedStore as Store
from neardup.store.store import Store as Plain
from numbers_given import IN_PYTHON

NIGHT = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = NIGHT.replace("night", "evening")
OF_A_NEW_STORE = ("wait", "threads", "floor", "min_similarity", "max_distance")
OF_METHODS = {
    "clusters": ["min_similarity"],
    "expire": ["newest", "older_than", "now"],
    "get": ["id"],
    "judgements": ["limit", "after", "max_bytes"],
    "neighbors": ["id"],
    "orphans": ["limit", "after"],
    "pairs": ["min_similarity"],
    "recent": ["limit", "max_bytes"],
    "review": ["limit", "max_bytes"],
}


def of_new(name):
    return lambda folder, _, number: Store(f"{folder}/new", **{name: number}).close()


def of_method(method, name):
    return lambda _, store, number: getattr(store, method)(**{name: number})


def of_many(**make):
    """Add a document with arguments that are made of a number."""
    return lambda _, store, number: store.check_and_add_many(
        ["c"], [NIGHT * 3], **{name: each(number) for name, each in make.items()}
    )


CALLS = {("__init__", name): of_new(name) for name in OF_A_NEW_STORE}
CALLS |= {(method, name): of_method(method, name) for method, names in OF_METHODS.items() for name in names}
CALLS |= {
    ("build", "threads"): lambda folder, _, number: Store.build(f"{folder}/new", folder, threads=number),
    ("check_and_add", "id"): lambda _, store, number: (
        store.check_and_add(number, LATER + " Soon."),
        store.get(number),
        store.neighbors(id=number),
    ),
    ("check_and_add", "expires"): lambda _, store, number: store.check_and_add("c", NIGHT * 2, expires=number),
    ("check_and_add", "ttl"): lambda _, store, number: store.check_and_add("c", NIGHT * 2, ttl=number),
    ("check_and_add", "metadata"): lambda _, store, number: store.check_and_add("c", NIGHT * 2, metadata=number),
    ("check_and_add_many", "ids"): lambda _, store, number: store.check_and_add_many([number], [NIGHT * 3]),
    ("check_and_add_many", "expires"): of_many(expires=lambda number: [number]),
    ("check_and_add_many", "ttl"): of_many(ttl=lambda number: number),
    ("check_and_add_many", "notes"): of_many(notes=lambda number: lambda _: {"noted": (number, number)}),
    ("check_and_add_many", "state"): of_many(state=lambda number: {"at": number}),
    ("expire", "limit"): lambda _, store, number: store.expire(newest=1, limit=number),
    ("from_export", "threads"): lambda folder, _, number: Store.from_export(f"{folder}/new", folder, threads=number),
    ("judge", "pair"): lambda _, store, number: store.judge((number, "a"), same=True),
    ("neighbors", "min_similarity"): lambda _, store, number: store.neighbors(NIGHT, min_similarity=number),
    ("recent", "before"): lambda _, store, number: store.recent(before=f"{number}-{'0' * 32}"),
    ("remove", "ids"): lambda _, store, number: store.remove([number]),
    ("repair", "wait"): lambda folder, _, number: Store.repair(f"{folder}/none", wait=number),
}
"""A call with a number for each argument of each method that may be one."""


def test_the_table_has_every_argument_that_may_be_a_number():
    for name, method in inspect.getmembers(Plain, callable):
        if not name.startswith("__") or name == "__init__":
            for argument in inspect.signature(method).parameters.values():
                kind = str(argument.annotation)
                if re.search(r"\b(int|float)\b", kind) and "Callable" not in kind:
                    assert (name, argument.name) in CALLS


def demand_all_numbers(call, folder, place):
    """Each number is answered or refused, and the store answers the next question; at the end, it is sound."""
    with Plain(place, min_similarity=0.6) as store:
        store.check_and_add_many(["a", "b"], [NIGHT, LATER])
    for number in IN_PYTHON:
        with Store(place) as store:
            with contextlib.suppress(nd.NeardupError):
                call(folder, store, number)
            answer = store.check(NIGHT)
            assert answer.is_new or answer.exact
            store.check_and_add("a", NIGHT)
    with Store(place) as store:
        assert store.verify().is_sound


ASKED = [("folder", *each) for each in CALLS]
ASKED += [("postgresql", *each) for each in CALLS if each[0] not in ("__init__", "build", "repair")]


@pytest.mark.parametrize(("back_end", "name", "argument"), ASKED, indirect=["back_end"])
def test_a_number_is_answered_or_refused(tmp_path, back_end, name, argument):
    demand_all_numbers(CALLS[name, argument], tmp_path, back_end.place())


@pytest.mark.parametrize("keep", ["max:stars", "min:stars"])
def test_a_number_of_the_metadata_ranks_or_is_refused(tmp_path, keep):
    with Store(tmp_path / "s", keep=keep) as store:
        for place, number in enumerate(IN_PYTHON):
            with contextlib.suppress(nd.OptionError):
                store.check_and_add(place, NIGHT, metadata={"stars": number})
        assert store.verify().is_sound


def test_what_is_too_large_is_refused_in_words_and_what_numpy_has_is_taken(tmp_path):
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(
            range(5), [f"{word} {word}s of a house" for word in ("door", "roof", "wall", "step", "lamp")]
        )
        with pytest.raises(
            nd.OptionError, match=r"^`newest=9223372036854775808`: give a number of .*, below 2\*\*63\.$"
        ):
            store.expire(newest=2**63)
        with pytest.raises(
            nd.OptionError, match=r"^`limit=2147483648`: give a number of pairs, 1 or more, below 2\*\*31\.$"
        ):
            store.review(limit=2**31)
        with pytest.raises(nd.OptionError, match=r"^`newest=3\.0`: give a number of documents, 0 or more\.$"):
            store.expire(newest=3.0)
        assert store.expire(newest=np.int32(3)) == 2
        assert store.recent(limit=np.uint8(3), max_bytes=np.int64(5)) == []
        assert store.judgements(after=np.int64(0), limit=np.int64(1)) == []
