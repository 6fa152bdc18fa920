"""Arguments that are not allowed are refused by name before anything changes, and a call that fails is taken back whole."""

import contextlib
import datetime
import re

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from streams import seen

import neardup as nd
from naive_store import NaiveStore
from neardup.store.store import Store

WORDS = [f"w{i}" for i in range(60)]
TEXTS = [" ".join(WORDS[i : i + 12]) for i in range(0, 60, 12)]
OPTIONS = (("method", "exact"), ("similarity", "jaccard"), ("min_similarity", 0.6))


def deep():
    found = []
    for _ in range(100_000):
        found = [found]
    return found


@pytest.mark.parametrize("durable", ["each", "batch"])
def test_arguments_are_checked_before_anything_changes(tmp_path, durable):
    with Store(tmp_path / "s", durable=durable) as store:
        store.check_and_add("first", TEXTS[0])
        times = (
            "30d",
            datetime.timedelta(1),
            True,
            float("nan"),
            float("inf"),
            -1,
            10**400,
            np.timedelta64(3),
            np.array([1.0]),
            1j,
        )
        for value in times:
            with pytest.raises(nd.OptionError, match="`expires=.*`: give a number of seconds since 1970"):
                store.check_and_add("b", TEXTS[1], expires=value)
        for value in ("x", -1, True):
            with pytest.raises(nd.OptionError, match="`now=.*`: give a number of seconds since 1970"):
                store.expire(now=value)
        for value in (object(), float("nan"), {1}):
            with pytest.raises(nd.OptionError, match="is no plain value"):
                store.check_and_add_many(["b"], [TEXTS[1]], state=value)
        for given in (
            {"state": deep()},
            {"metadata": [deep()]},
            {"metadata": [msgspec.Raw(b"[" * 5000 + b"]" * 5000)]},
        ):
            with pytest.raises(nd.OptionError, match="is nested too deeply to be kept"):
                store.check_and_add_many(["b"], [TEXTS[1]], **given)
        for name, call in (
            ("ids", lambda: store.remove("first")),
            ("ids", lambda: store.remove(7)),
            ("ids", lambda: store.check_and_add_many("ab", TEXTS[1:3])),
            ("texts", lambda: store.check_and_add_many(["a", "b", "c"], "abc")),
            ("metadata", lambda: store.check_and_add_many(["b"], TEXTS[1:2], metadata={"a": 1})),
            ("texts", lambda: store.check_many("abc")),
        ):
            with pytest.raises(nd.OptionError, match=f"`{name}=.*` is one value: give a list"):
                call()
        for value in (b"text", 5, None, ["text"]):
            with pytest.raises(nd.OptionError, match="A text is .*Give strings"):
                store.check_and_add_many(["b", "c"], [TEXTS[1], value])
        assert len(store) == 1
        assert store.check_and_add("b", TEXTS[1], expires=np.float32(2**33)).is_new
        assert store.get("b").expires == 2**33
        assert store.expire(now=2**33 - 1) == 0
        assert not store.check(TEXTS[1]).is_new  # it has expired, and decides until `expire` is called
        assert store.expire(now=2**33) == 1
    with Store(tmp_path / "s") as store:
        assert len(store) == 1


@pytest.mark.parametrize("form", [iter, tuple, np.array, pa.array, lambda values: pa.chunked_array([values])])
def test_documents_come_in_any_form_of_a_list(tmp_path, form):
    with Store(tmp_path / "s", keep="longest") as store:
        answers = store.check_and_add_many(form(["a", "b"]), form(TEXTS[:2]), metadata=form(["x", "y"]))
        assert [answer.is_new for answer in answers] == [True, True]
        assert [store.get(name).metadata for name in "ab"] == ["x", "y"]
        assert [answer.duplicate_of for answer in store.check_many(form(TEXTS[:2]))] == ["a", "b"]
        assert store.remove(form(["a", "b"])) == 2


@pytest.mark.parametrize("wait", [-1, float("nan"), "soon", True])
def test_what_is_no_time_to_wait_is_refused_before_a_store_is_made(tmp_path, wait):
    with pytest.raises(nd.OptionError, match="`wait=.*`: give seconds, 0 or more"):
        Store(tmp_path / "s", wait=wait)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("durable", ["each", "batch"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("keep", ["first", "always", "longest"])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, OSError, None])
def test_a_failing_state_takes_back_its_call_alone(tmp_path, durable, method, keep, failure):
    def fail(_):
        if failure is not None:
            raise failure
        return object()

    def state_of(store):
        found = store.check_many([*TEXTS, TEXTS[0] + " more", TEXTS[1] + " more"])
        return found, [store.get(name) for name in "abcd"], len(store), store.state

    with Store(tmp_path / "s", durable=durable, keep=keep, method=method) as store:
        store.check_and_add_many(["a", "b"], TEXTS[:2], state=1)
        before = state_of(store)
        changes = ["c", "b", "d", "e"], [TEXTS[0] + " more", TEXTS[3], TEXTS[2], TEXTS[2]]  # a match, an update, copies
        with pytest.raises(failure or nd.OptionError):
            store.check_and_add_many(*changes, state=fail)
        assert state_of(store) == before
        assert store.verify().is_sound
        found = store.check_and_add_many(*changes, state=lambda answers: len(answers))
        after = state_of(store)
        assert after[3] == 4
    with Store(tmp_path / "s") as store, Store(tmp_path / "other", keep=keep, method=method) as other:
        other.check_and_add_many(["a", "b"], TEXTS[:2])
        assert other.check_and_add_many(*changes) == found
        assert state_of(store)[0] == after[0] == state_of(other)[0]
        assert store.verify().is_sound
        store.compact()
        assert state_of(store)[0] == after[0]


def test_a_store_that_keeps_all_tells_all_matches_of_an_equal_text(tmp_path):
    near = [f"{TEXTS[0]} {word}" for word in ("x", "y", "z")]
    texts = [near[0], TEXTS[0], near[1], TEXTS[0].upper(), near[2], TEXTS[0], "", "", "w", "w"]
    for size in (1, 4, len(texts)):
        naive = NaiveStore(OPTIONS, "always")
        with Store(tmp_path / f"s{size}", keep="always", **dict(OPTIONS)) as store:
            for first in range(0, len(texts), size):
                some = range(first, min(first + size, len(texts)))
                for name, answer in zip(some, store.check_and_add_many(some, [texts[i] for i in some]), strict=True):
                    assert seen(answer) == naive.add(name, texts[name])
            for text in texts:
                assert seen(store.check(text)) == naive.check(text)
            assert [match.id for match in store.check(TEXTS[0]).matches] == [1, 3, 5, 0, 2, 4]
            assert seen(store.check_and_add(3, TEXTS[0])) == naive.add(3, TEXTS[0])
            assert len(store) == len(texts)


def test_a_closed_store_says_so(tmp_path):
    store = Store(tmp_path / "s")
    store.close()
    store.close()
    assert "closed" in repr(store)
    for ask in (
        store.info,
        store.flush,
        store.verify,
        store.compact,
        store.expire,
        lambda: len(store),
        lambda: store.state,
    ):
        with pytest.raises(nd.InputError, match=re.escape(f"The store at {tmp_path / 's'} is closed. Open it again.")):
            ask()
    for ask in (lambda: store.check("a"), lambda: store.check_and_add("a", "b"), lambda: store.get("a")):
        with pytest.raises(nd.InputError, match="is closed"):
            ask()


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_compaction_without_gain_does_nothing(tmp_path, method):
    with Store(tmp_path / "s", method=method) as store:
        before = sorted((each.name, each.stat().st_size) for each in (tmp_path / "s").iterdir())
        assert not store.compact()
        assert sorted((each.name, each.stat().st_size) for each in (tmp_path / "s").iterdir()) == before
        store.check_and_add_many(range(5), TEXTS)
        store.remove([1])
        assert store.compact()


@pytest.mark.parametrize("keep", ["first", "max:score"])
def test_metadata_given_as_json_is_that_of_values(tmp_path, keep):
    values = [{"score": 1, "name": "é"}, None, {"score": 3}]
    texts = [TEXTS[0], TEXTS[1], TEXTS[0]]
    found = []
    for number, given in enumerate((values, [msgspec.Raw(msgspec.json.encode(each)) for each in values])):
        with Store(tmp_path / str(number), keep=keep) as store:
            answers = store.check_and_add_many(list("abc"), texts, metadata=given)
            found.append((answers, [getattr(store.get(name), "metadata", "gone") for name in "abc"]))
    assert found[0] == found[1]
    assert [answer.is_new for answer in found[0][0]] == [True, True, keep != "first"]


def test_a_store_that_is_not_to_be_created_must_exist(any_place, tmp_path):
    with pytest.raises(nd.InputError, match=r"is no store.*pass `create=True` to make it"):
        nd.Store(any_place, create=False)
    nd.Store(any_place).close()
    with nd.Store(any_place, create=False) as store:
        assert len(store) == 0
    nd.Store(tmp_path / "seen.store").close()
    with pytest.raises(nd.InputError, match=r"sen.store is no store \(did you mean .*seen.store"):
        nd.Store(tmp_path / "sen.store", create=False)
    assert not (tmp_path / "sen.store").exists()


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_prepared_texts_get_the_answers_of_others(tmp_path, method):
    """Also of another store, whose features are others: they are made again."""
    how = {"method": method, "min_similarity": 0.3, "texts": True}
    with nd.Store(tmp_path / "a", **how) as one, nd.Store(tmp_path / "b", **how) as other:
        expected = one.check_and_add_many(range(5), TEXTS)
        assert other.check_and_add_many(range(5), other.prepare(TEXTS)) == expected
        asked = [f"{text} and more" for text in TEXTS]
        assert other.check_many(other.prepare(asked)) == one.check_many(asked)
        assert other.neighbors(other.prepare(asked[:1])) == one.neighbors(asked[0])
        assert [other.get(n).text for n in range(5)] == [one.get(n).text for n in range(5)]
    with (
        nd.Store(tmp_path / "c", recipe=nd.Recipe(bits=128), min_similarity=0.3) as third,
        nd.Store(tmp_path / "b") as other,
    ):
        foreign = other.prepare(TEXTS)
        answers = third.check_and_add_many(range(5), foreign)
        assert [each.is_new for each in answers] == [each.is_new for each in expected] or method == "simhash"
        assert third.verify().is_sound
        with pytest.raises(nd.OptionError, match="5 prepared texts were given. Give one"):
            other.neighbors(foreign)
    for bad in (TEXTS[0], ["a", None], ["\ud800"], 3):
        with nd.Store(tmp_path / "b") as other, pytest.raises(nd.OptionError):
            other.prepare(bad)


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("mispelled.store", True), ("misspeled.store", True), ("misspellled.store", True), ("msispelled.store", True),
        ("misspelled.stroe", True), ("misspelled2.store", False), ("misspelled-old.store", False), ("my-misspelled.store", False),
        ("other.store", False), ("misspollod.store", False), ("m.store", False),
    ],
)  # fmt: skip
def test_a_new_store_whose_name_is_a_slip_of_the_keyboard_is_told(tmp_path, name, is_told):
    nd.Store(tmp_path / "misspelled.store").close()
    path = tmp_path / name
    said = re.escape(
        f"{path} is a new store; {tmp_path / 'misspelled.store'} exists. If you meant that one, remove the new"
    )
    with pytest.warns(UserWarning, match=said) if is_told else contextlib.nullcontext() as told:
        nd.Store(path).close()
    assert not is_told or told[0].filename == __file__
    nd.Store(path).close()  # which exists now


@pytest.mark.parametrize("given", [{"create": True}, {"min_similarity": 0.7}, {"texts": True}, {"recipe": nd.Recipe()}])
def test_who_asks_for_a_new_store_is_not_told_of_others(tmp_path, given):
    nd.Store(tmp_path / "misspelled.store").close()
    nd.Store(tmp_path / "mispelled.store", **given).close()


@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_store_that_is_only_read_is_never_made(tmp_path, mode):
    nd.Store(tmp_path / "seen.store").close()
    with pytest.raises(nd.InputError, match=r"sen.store is no store \(did you mean .*seen.store\?\)"):
        nd.Store(tmp_path / "sen.store", mode=mode, **({"create": False} if mode == "w" else {}))
    assert [each.name for each in tmp_path.iterdir()] == ["seen.store"]
