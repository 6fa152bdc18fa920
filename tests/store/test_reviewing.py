"""What a store removed lately, the pairs nearest the threshold, and judgements, in folders and databases."""

import json
import os
import sqlite3
from contextlib import closing

import pytest
from damage import changed
from streams import near_copies

import neardup as nd
from forked import ended, forked
from neardup.store.postgresql.log import Log
from neardup.store.review import lists
from neardup.store.store import Store

TEXTS = list(near_copies(80, 3))


def sides(judgements):
    return [(each.kind, each.left.text, each.right.text, each.same, each.similarity) for each in judgements]


def test_recent_duplicates_come_page_by_page_newest_first(any_place):
    with Store(any_place, min_similarity=0.6, texts=True) as store:
        answers = store.check_and_add_many(range(80), TEXTS)
        whole = store.recent(limit=100)
        assert [each.position.partition("-")[0] for each in whole] == [str(n) for n in reversed(range(len(whole)))]
        for each in whole:
            answer = answers[each.id]
            assert (each.duplicate_of, each.similarity, each.distance) == (
                answer.duplicate_of,
                answer.matches[0].similarity,
                answer.matches[0].distance,
            )
            assert (each.text, each.survivor_text) == (TEXTS[each.id], TEXTS[each.duplicate_of])
        pages, before = [], None
        while page := store.recent(limit=7, before=before):
            pages += page
            before = page[-1].position
        assert pages == whole
        gone = whole[0].duplicate_of
        store.remove([gone])
        assert store.recent(limit=100) == [each for each in whole if each.duplicate_of != gone]
        assert store.recent(limit=3, before=whole[0].position) == store.recent(limit=3)


def test_a_store_without_texts_tells_what_it_knows(any_place):
    with Store(any_place, min_similarity=0.6) as store:
        store.check_and_add_many(range(80), TEXTS)
        (first,) = store.recent(limit=1)
        assert (first.id, first.text, first.survivor_text, first.exact) == (None, None, None, False)
        assert first.duplicate_of in range(80)
        (pair,) = store.review(limit=1)
        store.judge(pair, same=False)
        (judged,) = store.judgements()
        assert (judged.left.id, judged.left.text, judged.right.id) == (None, None, pair.right.id)
        assert judged.left.digest == pair.left.digest == pair.left.position.partition("-")[2]


@pytest.mark.parametrize(("keep", "floor"), [("first", None), ("first", 0.3), ("always", None), ("always", 0.3)])
def test_the_pairs_nearest_the_threshold_come_first_until_they_are_judged(any_place, keep, floor):
    with Store(any_place, min_similarity=0.7, floor=floor, keep=keep, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        expected = {(each.text, each.survivor_text): each.similarity for each in store.recent(limit=100)}
        if floor or keep == "always":
            texts = {each: store.get(each).text for each in range(80) if store.get(each)}
            for pair in store.pairs(min_similarity=floor):
                expected[texts[pair.a], texts[pair.b], pair.a, pair.b] = pair.similarity
        expected = sorted(abs(alike - 0.7) for alike in expected.values())
        assert len(expected) > 5
        found = store.review(limit=1000)
        assert [abs(pair.similarity - 0.7) for pair in found] == expected
        assert store.review(limit=5) == found[:5]
        seen = []
        for number in range(0, len(found), 3):
            some = store.review(limit=3)
            seen += some
            for pair in some:
                store.judge(pair, same=number % 2 == 0)
        assert {frozenset((pair.left.digest, pair.right.digest)) for pair in seen} == {
            frozenset((pair.left.digest, pair.right.digest)) for pair in found
        }
        assert store.review() == []
        judged = store.judgements()
        assert (
            sides(judged)
            == [
                (pair.kind, pair.left.text, pair.right.text, place // 3 % 2 == 0, pair.similarity)
                for place, pair in enumerate(seen)
            ]
            or keep == "always"
        )  # equal texts under two ids are one pair
        assert store.judgements(limit=4, after=judged[2].number) == judged[3:7]


def test_pairs_of_kept_documents_are_looked_for_among_the_last_ones(tmp_path):
    with Store(tmp_path / "s", min_similarity=0.7, keep="always", texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        pairs = [pair for pair in store.pairs() if pair.b >= 75]
        found = lists.review(store._files, 1000, None, latest=5)
        assert sorted((each.left.id, each.right.id) for each in found) == sorted((pair.a, pair.b) for pair in pairs)


def test_where_distances_decide_the_most_distant_pairs_come_first(any_place):
    with Store(any_place, method="simhash", min_similarity=0.0) as store:
        store.check_and_add_many(range(80), TEXTS)
        found = store.review(limit=1000)
        assert len(found) > 5
        assert [pair.distance for pair in found] == sorted((pair.distance for pair in found), reverse=True)
        store.judge(found[0], same=False)
        assert store.judgements()[0].similarity is None
        assert store.review(limit=1000) == found[1:]


def test_lists_are_cut_where_their_texts_have_too_many_bytes(any_place):
    with Store(any_place, min_similarity=0.6, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        for lists, texts_in in (
            (store.recent, lambda each: (each.text, each.survivor_text)),
            (store.review, lambda each: (each.left.text, each.right.text)),
            (store.judgements, lambda each: (each.left.text, each.right.text)),
        ):
            whole = lists(limit=100)
            assert lists(limit=100, max_bytes=1) == whole[:1]
            assert lists(limit=100, max_bytes=10**9) == whole
            sizes = [sum(len(text.encode()) for text in texts_in(each)) for each in whole]
            assert lists(limit=100, max_bytes=sum(sizes[:6])) == whole[:6]
            assert lists(limit=5, max_bytes=sum(sizes[:6])) == whole[:5]
            if lists == store.review:
                for pair in whole:
                    store.judge(pair, same=True)


def test_a_pair_whose_text_has_changed_since_it_was_listed_is_refused(any_place):
    with Store(any_place, min_similarity=0.7, floor=0.3) as store:
        store.check_and_add_many(range(80), TEXTS)
        pair = next(each for each in store.review(limit=100) if each.kind == "kept")
        store.check_and_add(pair.right.id, "quite another text of a number of words that no document has got so far")
        with pytest.raises(nd.OptionError, match="has another text by now. List pairs again"):
            store.judge(pair, same=True)
        assert store.judge((pair.left.id, pair.right.id), same=True) == 1
        recent = store.recent()[0]
        store.remove([recent.duplicate_of])
        store.check_and_add_many(range(200, 280), TEXTS)
        with pytest.raises(nd.OptionError, match="is forgotten"):
            store.judge(recent, same=True)


def test_a_later_judgement_takes_the_place_of_an_earlier_one(any_place):
    with Store(any_place, min_similarity=0.6, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        recent, kept = store.recent(), [row for row in range(80) if store.get(row)]
        store.judge(recent[0], same=True)
        store.judge((kept[5], kept[2]), same=True)
        store.judge(recent[0], same=False)
        store.judge((kept[2], kept[5]), same=False)
        first, second = store.judgements()
        assert [first.same, second.same] == [False, False]
        assert (first.left.id, first.right.id, first.kind) == (recent[0].id, recent[0].duplicate_of, "removed")
        assert (second.left.id, second.right.id, second.kind) == (kept[2], kept[5], "kept")
        assert second.left.text == TEXTS[kept[2]]
        similarity = nd.similarity(TEXTS[kept[2]], TEXTS[kept[5]])
        assert second.similarity == similarity


def test_a_judgement_is_forgotten_with_either_document_and_stays_through_the_rest(any_place, tmp_path):
    with Store(any_place, min_similarity=0.6, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        recent, kept = store.recent(limit=100), [row for row in range(80) if store.get(row)]
        for each in recent:
            store.judge(each, same=True)
        store.judge((kept[0], kept[1]), same=False)
        judged = sides(store.judgements())
        store.remove([recent[0].duplicate_of])
        left = [each for each in judged if TEXTS[recent[0].duplicate_of] not in each[1:3]]
        assert sides(store.judgements()) == left != judged
        store.compact()
        assert sides(store.judgements()) == left
        assert all(pair.kind == "kept" for pair in store.review(limit=100))
        store.check_and_add(kept[1], "an update of this document, with quite another text of a number of words")
        assert sides(store.judgements()) == [each for each in left if TEXTS[kept[1]] not in each[1:3]]
        assert store.verify().is_sound
        store.export(tmp_path / "export")
        left = sides(store.judgements())
    for place in (tmp_path / "again", f"{any_place}2" if "postgresql" in str(any_place) else tmp_path / "other"):
        with Store.from_export(place, tmp_path / "export") as again:
            assert sides(again.judgements()) == left
            assert again.verify().is_sound


def test_a_judgement_survives_a_failing_call_and_a_new_start(any_place):
    with Store(any_place, min_similarity=0.6, durable="each") as store:
        store.check_and_add_many(range(80), TEXTS)
        store.judge(store.recent()[0], same=True)
        with pytest.raises(ZeroDivisionError):
            store.check_and_add_many(["x"], [TEXTS[3]], notes=lambda _: 1 / 0)
        before = store.judgements()
        assert len(before) == 1
    with Store(any_place, mode="r") as store:
        assert store.judgements() == before
        with pytest.raises(nd.OptionError, match="cannot be changed"):
            store.judge(store.recent()[1], same=True)


def test_refusals_name_what_is_allowed(tmp_path):
    with Store(tmp_path / "s", min_similarity=0.6) as store:
        store.check_and_add_many(range(80), TEXTS)
        pair = store.recent()[0]
        for given, told in (
            (("x", "y"), 'There is no document with the id "x"'),
            ((0, 0), "`pair`: 0 is one document. Give the ids of two."),
            ("ab", "give what `recent` or `review` has listed, or the ids of two kept documents"),
            ((0, 1, 2), "give what `recent` or `review` has listed"),
        ):
            with pytest.raises(nd.OptionError, match=told):
                store.judge(given, same=True)
        with pytest.raises(nd.OptionError, match="`same=1`: give True if the two are duplicates, or False"):
            store.judge(pair, same=1)
        for call in (store.recent, store.review, store.judgements):
            for limit in (0, -1, True, "5", 1 << 31):
                with pytest.raises(nd.OptionError, match=r"`limit=.*`: give a number of pairs, 1 or more"):
                    call(limit=limit)
        for before in (5, "5", "5-xyz", "", f"5-{'é' * 32}"):
            with pytest.raises(nd.OptionError, match=r"`before=.*`: give a `position` that was listed"):
                store.recent(before=before)
        with pytest.raises(nd.OptionError, match="`max_bytes=0`: give a number of bytes, 1 or more"):
            store.recent(max_bytes=0)
        with pytest.raises(nd.OptionError, match="`after=-1`: give the number of a judgement, or 0"):
            store.judgements(after=-1)
        store.remove([pair.duplicate_of])
        with pytest.raises(nd.OptionError, match="is forgotten: its survivor was removed"):
            store.judge(pair, same=True)


def test_a_damaged_judgement_is_named_and_a_repair_keeps_the_others(tmp_path):
    with Store(tmp_path / "s", min_similarity=0.6, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        for pair in store.review(limit=4):
            store.judge(pair, same=True)
        judged = sides(store.judgements())
    changed(tmp_path / "s", "UPDATE judgements SET same = 0 WHERE number = 2")
    with Store(tmp_path / "s", mode="r") as store:
        with pytest.raises(nd.DataError, match="row 2 of `judgements` is not what was written"):
            store.judgements()
        assert "row 2 of `judgements`" in store.verify().problems[0]
    Store.repair(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        assert sides(store.judgements()) == [judged[0], *judged[2:]]
        assert store.verify().is_sound


def test_two_services_share_texts_and_judgements(server, schema, place, tmp_path):
    with Store(place, min_similarity=0.6, texts=True) as one, Store(place) as other:
        one.check_and_add_many(range(40), TEXTS[:40])
        other.check_and_add_many(range(40, 80), TEXTS[40:])
        assert one.recent(limit=100) == other.recent(limit=100)
        kept = [row for row in range(80) if one.get(row)]
        assert [other.get(row).text for row in kept] == [TEXTS[row] for row in kept]
        for pair in one.review(limit=5):
            other.judge(pair, same=True)
        assert one.judgements() == other.judgements()
        assert not {pair.left.digest for pair in one.review()} & {each.left.digest for each in one.judgements()}
        gone = one.judgements()[0].right.id
        other.remove([gone])
        assert gone not in {each.right.id for each in one.judgements()}
        assert one.get(gone) is None
        counts = server.execute(
            f"SELECT (SELECT count(text) FROM {schema}.documents), (SELECT count(text) FROM {schema}.removed), "
            f"(SELECT count(id) FROM {schema}.removed)"
        )
        assert counts == [(len(one), len(one.recent(limit=100)), len(one.recent(limit=100)))]
        before = (one.recent(limit=100)[0].text, one.judgements())
        assert other.compact()
        assert (one.recent(limit=100)[0].text, one.judgements()) == before
        assert one.verify().is_sound
        path, left = one.path, [row for row in range(80) if one.get(row)]
    with Store(path, mode="r") as replica:
        assert replica.get(left[0]).text is None
        assert replica.judgements() == []
        assert replica.verify().is_sound
    with closing(sqlite3.connect(path / "record.sqlite")) as base:
        names = {name for (name,) in base.execute("SELECT name FROM sqlite_schema")}
    assert not names & {"texts", "removed_texts", "judgements"}
    with Store(f"{place}&replica={tmp_path / 'late'}", mode="r") as late:
        assert (late.recent(limit=100)[0].text, late.judgements()) == before
        assert late.verify().is_sound


def test_a_compaction_between_a_look_and_a_text_is_noticed(place, monkeypatch):
    with Store(place, min_similarity=0.6, texts=True) as one, Store(place) as other:
        one.check_and_add_many(range(80), TEXTS)
        kept = [row for row in range(80) if one.get(row)]
        for name, asked in (
            ("originals", lambda: one.get(kept[9]).text),
            ("removed_originals", lambda: one.recent()[0].text),
        ):
            other.remove([kept.pop(0)])
            expected, original, calls = asked(), getattr(Log, name), []

            def compacts_first(self, *arguments, original=original, calls=calls):
                if not calls:
                    calls.append(other.compact())
                return original(self, *arguments)

            with monkeypatch.context() as patched:
                patched.setattr(Log, name, compacts_first)
                assert asked() == expected
            assert calls == [True]


def test_damage_in_the_database_is_found(server, schema, place):
    with Store(place, min_similarity=0.6, texts=True) as store:
        store.check_and_add_many(range(80), TEXTS)
        store.judge(store.review()[0], same=True)
        kept = [row for row in range(80) if store.get(row)]
        server.execute(f"UPDATE {schema}.documents SET text = 'x' WHERE number = 3")
        server.execute(f"UPDATE {schema}.removed SET text = NULL, id = NULL WHERE number = 1")
        server.execute(f"UPDATE {schema}.judgements SET same = false")
        with pytest.raises(nd.DataError, match="the text of the document .* is not what was written"):
            store.get(kept[3])
        with pytest.raises(nd.DataError, match="the judgement 1 is not what was written. Restore the database"):
            store.judgements()
        told = str(store.verify().problems)
        assert "The text of document 3 is not what was written" in told
        assert "the judgement 1 is not what was written" in told


def test_an_upgrade_makes_the_tables_of_this_version(server, schema, place, monkeypatch):
    from neardup.store.postgresql import schema as tables
    from neardup.store.postgresql.connection import Database
    from neardup.store.postgresql.places import database_place

    def columns(name):
        return server.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = %s ORDER BY 1, 2",
            (name,),
        )

    with Store(place, min_similarity=0.6) as store:
        store.check_and_add_many(range(40), TEXTS[:40])
        expected, made = store.check_many(TEXTS), columns(schema)
    for statement in (
        "ALTER TABLE {}.documents DROP text",
        "ALTER TABLE {}.removed DROP text, DROP id",
        "DROP TABLE {}.judgements",
        "DROP TABLE {0}.skipped, {0}.skipped_contents, {0}.orphans",
        "ALTER TABLE {}.stores DROP skipped_since, DROP orphans",
        "UPDATE {}.version SET version = 1",
    ):
        server.execute(statement.format(schema))
    with pytest.raises(nd.DataError, match="has version 1 of the tables .* upgrade the tables as their owner"):
        Store(place)
    database = Database(database_place(place), 0)
    assert database.run(lambda connection: tables.upgrade(connection, database.place)) == (1, 3)
    database.drop()
    assert columns(schema) == made
    with Store(place) as store:
        assert store.check_many(TEXTS) == expected
        assert store.info().skipped_since is not None
        store.judge(store.review()[0], same=True)
        assert store.verify().is_sound


def test_a_judgement_that_was_answered_is_there_after_a_kill(tmp_path):
    def work():
        store = Store(tmp_path / "s", min_similarity=0.6, texts=True, threads=1)
        store.check_and_add_many(range(80), TEXTS)
        store.judge(store.review()[0], same=True)
        (tmp_path / "said").write_text(json.dumps(store.judgements()[0].left.text))
        os._exit(0)  # without a close

    assert ended(forked(work)) == 0
    with Store(tmp_path / "s") as store:
        assert store.judgements()[0].left.text == json.loads((tmp_path / "said").read_text())
        assert store.verify().is_sound
