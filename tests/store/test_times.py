"""Times of a store only go forward, whatever clocks do; and what is in the past is refused."""

from datetime import timedelta

import numpy as np
import pytest
from streams import near_copies

import neardup as nd
from neardup.store.record.notes_table import NotedError
from neardup.store.store import Store

DAY = 86_400.0
NOW = 1_800_000_000.0
TEXT = "the ferry crosses the river at noon and the bell of the old church rings twice"
TEXTS = list(near_copies(12, 5))


@pytest.fixture
def clock(monkeypatch):
    """The clock of this machine, in a list."""
    now = [NOW]
    monkeypatch.setattr("time.time", lambda: now[0])
    return now


@pytest.mark.parametrize("keep", ["first", "always", "last", "longest"])
@pytest.mark.parametrize("by", ["last_seen", "first_seen"])
def test_a_clock_that_jumps_back_lets_nothing_expire_that_was_just_seen(any_place, clock, keep, by):
    with Store(any_place, keep=keep) as store:
        store.check_and_add("a", TEXT)
        before = store.get("a").last_seen
        clock[0] -= 60 * DAY
        store.check_and_add("a", TEXT)
        assert store.get("a").last_seen >= before
        store.check_and_add("b", "something else that was not there before, and is like nothing else")
        assert store.get("b").first_seen >= before
        clock[0] += 60 * DAY
        assert store.expire(older_than="30d", by=by) == 0
        assert store.verify().is_sound


def test_the_latest_time_outlives_a_store_that_is_opened_again(tmp_path, clock):
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", TEXT)
        clock[0] += DAY
        store.check_and_add("copy", TEXT)
        store.remove(["a"])
        clock[0] -= 30 * DAY
    with Store(tmp_path / "s") as store:
        store.check_and_add("b", TEXT)
        assert store.get("b").first_seen == NOW + DAY


def test_a_machine_whose_clock_is_wrong_lets_nothing_expire_that_others_have_just_added(server, place, clock):
    with Store(place) as one, Store(place) as other:
        one.check_and_add("a", TEXT)
        for wrong in (NOW + 400 * DAY, 0.0):
            clock[0] = wrong
            assert other.expire(older_than="30d") == 0
        other.check_and_add("b", "something else that was not there before, and is like nothing else")
        clock[0] = NOW
        assert one.expire(older_than="30d") == 0
        assert len(one) == 2


def test_a_compacted_database_has_the_latest_times(server, schema, place):
    with Store(place) as store:
        store.check_and_add("a", TEXT)
        store.check_and_add("b", TEXTS[0])
        store.check_and_add("copy", TEXT)
        seen = store.get("a").last_seen
        store.check_and_add("copy", TEXT)
        server.execute(f"UPDATE {schema}.changes SET at = 5 WHERE position = 4")  # of a version that let times go back
        store.remove(["b"])
        assert store.compact()
        with Store(place) as late:
            assert late.get("a").last_seen == store.get("a").last_seen == seen


@pytest.mark.parametrize("ttl", [90, 90.0, "90s", "1.5m", timedelta(seconds=90), np.int64(90)])
def test_a_document_expires_when_its_time_to_live_is_over(any_place, ttl):
    with Store(any_place) as store:
        store.check_and_add("a", TEXT, ttl=ttl)
        store.check_and_add_many([1, 2], TEXTS[:2], ttl=[None, ttl])
        for id in ("a", 2):  # noqa: A001
            found = store.get(id)
            assert found.expires == found.first_seen + 90
        assert store.get(1).expires is None
        assert store.expire() == 0
        assert store.expire(now=store.get(2).expires) == 2


@pytest.mark.parametrize("past", [0, 60, 3600, 3600.0, NOW - 1])
def test_a_time_in_the_past_is_refused_and_the_time_to_live_named(any_place, past, monkeypatch):
    with Store(any_place) as store:
        with pytest.raises(nd.OptionError, match=r"`expires=.*` is in the past: .* give `ttl`"):
            store.check_and_add("a", TEXT, expires=past if past < 1e9 else 1e9)
        with pytest.raises(nd.OptionError, match=r"for document 1 \(counted from 0\) is in the past"):
            store.check_and_add_many([1, 2], TEXTS[:2], expires=[5e9, 3600])
        assert len(store) == 0
        assert store.check_and_add("a", TEXT, expires=5e9).is_new
        assert store.info().gone == 0


@pytest.mark.parametrize("late", [1e3 * NOW, 1e6 * NOW, 1e9 * NOW])
def test_a_time_in_milliseconds_is_refused_and_the_unit_named(any_place, late):
    with Store(any_place) as store:
        for name, answer in (("expires", "is after the year 9999"), ("ttl", "ends after the year 9999")):
            with pytest.raises(nd.OptionError, match=rf"`{name}=.*` {answer}: .* not in milliseconds"):
                store.check_and_add("a", TEXT, **{name: late})
        with pytest.raises(nd.OptionError, match="`now=.*` is after the year 9999"):
            store.expire(now=late)
        with pytest.raises(nd.OptionError, match=r"did you mean 1764241000\?"):
            store.check_and_add("a", TEXT, expires=1764241000123)
        assert len(store) == 0
        assert store.check_and_add("a", TEXT, expires=253_402_300_799).is_new


def test_a_time_to_live_that_is_none_is_refused(tmp_path):
    with Store(tmp_path / "s") as store:
        for bad in ("soon", -1, True, float("nan"), np.timedelta64(3)):
            with pytest.raises(nd.OptionError, match="`ttl=.*`: give seconds, 0 or more"):
                store.check_and_add("a", TEXT, ttl=bad)
        with pytest.raises(nd.OptionError, match="1 values of `ttl` for 2 texts"):
            store.check_and_add_many([1, 2], TEXTS[:2], ttl=["1d"])
        with pytest.raises(nd.OptionError, match="Give either `expires` or `ttl`"):
            store.check_and_add("a", TEXT, ttl="1d", expires=5e9)
        assert len(store) == 0


@pytest.mark.parametrize("wrong", [NOW + 400 * DAY, 1.0])
def test_notes_and_judgements_follow_the_clock_of_the_record_not_of_a_machine(place, clock, wrong):
    """Of a service whose clock is wrong: its notes are kept as long as others', and it sees those of others."""
    keeping = timedelta(hours=1)
    with Store(place, min_similarity=0.7, texts=True) as one, Store(place) as other:
        clock[0] = wrong
        one.check_and_add_many(["a"], [TEXT], notes=lambda _: {"k": (1, keeping)})
        one.check_and_add_many(["b"], [TEXT + " again"], notes=lambda _: {"j": (2, keeping)})
        assert one.notes(["k", "j"]) == other.notes(["k", "j"]) == {"k": 1, "j": 2}
        clock[0] = NOW
        assert other.notes(["k", "j"]) == {"k": 1, "j": 2}
        other.check_and_add_many(["c"], [TEXTS[0]], notes=lambda _: {"i": (3, keeping)})  # sweeps what has expired
        clock[0] = wrong
        with pytest.raises(NotedError):
            one.check_and_add_many(["d"], [TEXTS[1]], unless=["i"])
        added = one.get("a").first_seen
        one.judge(one.recent(limit=1)[0], same=True)
        [judged] = other.judgements()
        assert added <= judged.judged < added + 3600


def test_a_clock_that_jumps_back_shortens_no_note_and_dates_no_judgement_back(tmp_path, clock):
    with Store(tmp_path / "s", min_similarity=0.7) as store:
        store.check_and_add("a", TEXT)
        store.check_and_add("b", TEXT + " again")
        clock[0] -= 60 * DAY
        store.check_and_add_many(["c"], [TEXTS[0]], notes=lambda _: {"k": (1, timedelta(hours=1))})
        store.judge(store.recent(limit=1)[0], same=True)
        assert store.judgements()[0].judged == NOW
        clock[0] += 60 * DAY
        assert store.notes(["k"]) == {"k": 1}
        clock[0] += 7200
        assert store.notes(["k"]) == {}


@pytest.mark.parametrize("until", [timedelta(seconds=-1), timedelta(days=-3), -1, "1h", None])
def test_an_end_of_a_note_that_is_none_is_refused(tmp_path, until):
    with Store(tmp_path / "s") as store:
        with pytest.raises(nd.OptionError, match="`notes="):
            store.check_and_add_many(["a"], [TEXT], notes=lambda _: {"k": (1, until)})
        assert len(store) == 0
