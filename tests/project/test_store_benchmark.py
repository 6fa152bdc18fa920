"""The benchmarks of stores: their texts are the same every time, their contenders are compared fairly, their tables say what is missed."""

import itertools
import sys

import pytest

from places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import store
import store_contenders
import tables_of_stores
from store_texts import questions, short_documents


def test_short_documents_begin_alike_however_many_and_some_repeat_others():
    few, many = (list(itertools.chain.from_iterable(short_documents(count))) for count in (100, 1000))
    assert many[:100] == few
    assert len(few) == 100
    assert 0 < len(many) - len(set(many)) < 100
    assert 150 < sum(map(len, many)) / len(many) < 250


def test_questions_are_new_texts_and_kept_ones_with_and_without_a_word_more():
    asked = questions(["one two three"], ["four", "five"]).by_kind()
    assert asked["new"] == ["four", "five"]
    assert asked["copies"] == ["one two three"] * 2
    assert all(text.startswith("one two three ") for text in asked["near copies"])


@pytest.mark.parametrize("name", ["neardup exact", "neardup minhash", "SQLite table of bands"])
def test_a_durable_contender_finds_duplicates_and_finds_them_after_it_was_closed(name, tmp_path):
    texts = [text for part in short_documents(64) for text in part]
    given = {"texts": [*texts, *texts[:8]], "is_new": [True] * 64 + [False] * 8, "unseen": texts[:4], "seconds": 60.0}
    record = store_contenders.run(store_contenders.CONTENDERS[name], given, tmp_path)
    assert record["documents"] == 72
    assert record["duplicates_found"] == 1.0
    assert record["opened_finds_copies"]
    assert record["check"]["copies"]["answered_new"] == 0


def test_rounds_are_put_together_by_their_medians_unless_one_gave_nothing():
    rounds = [
        {
            "documents": 10, "documents_a_second": speed, "decides_by": "bits", "durable": "nothing",
            "load": [1.0, speed], "duplicates_found": None,
        }
        for speed in (5.0, 1.0, 3.0)
    ]  # fmt: skip
    found = store.together(rounds)
    assert (found["documents_a_second"], found["min"], found["max"], found["rounds"]) == (3.0, 1.0, 5.0, 3)
    assert (found["load"], found["duplicates_found"], found["durable"]) == ([1.0, 3.0], None, "nothing")
    assert store.together([*rounds, {"skipped": "no package"}]) == {"skipped": "no package"}


def test_the_targets_say_what_was_missed_and_whether_the_best_round_reached_it():
    def contenders(speed):
        return {
            "contenders": {
                "neardup exact": {
                    "documents": 1, "documents_a_second": speed, "min": speed, "max": 2 * speed, "rounds": 3,
                    "bytes_a_document_besides_sets": 2_000,
                },
                "other": {"skipped": "no package"},
            }
        }  # fmt: skip

    table = tables_of_stores.store_targets({"pieces": contenders(20_000), "short": contenders(30_000)})
    assert "20,000 (20,000-40,000) | reached |" in table
    assert "missed (reached in the best of 3 rounds)" in table
    assert "| at most 1,000 | 2,000 | missed |" in table
