"""What an evaluation says, beside the definition: every pair looked at in plain Python."""

import dataclasses
import gzip
import itertools
import json
import random
from functools import reduce
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.judging.evaluation.evaluate import evaluate_corpus
from neardup.judging.evaluation.given_labels import labels_of
from neardup.judging.evaluation.labels import LabelFile, read_labels
from neardup.judging.evaluation.recommendation import Definition, recommend
from neardup.judging.evaluation.request import OTHER_SHINGLES, EvaluationRequest
from neardup.judging.evaluation.scoring import compared, held, intervals, listing, sampling, trials
from neardup.judging.evaluation.scoring.curves import similarity_counts
from neardup.judging.evaluation.scoring.sampled_corpus import DocumentCounts
from neardup.judging.evaluation.scoring.scores import RecipeScore, Trial
from neardup.judging.evaluation.warnings import warnings_of_few, warnings_of_short
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.tables.methods import MEASURED
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.resources import Resources
from strategies import word_text

SIMILARITY_NAMES = get_args(SimilarityName)
WORDS = [f"w{number}" for number in range(400)]


def corpus(families=12, copies=3, alone=20, length=70, seed=1):
    """Families of texts with words exchanged, and texts that are like no other."""
    chance = random.Random(seed)
    texts = []
    for _ in range(families):
        original = chance.choices(WORDS, k=length)
        for copy in range(copies):
            words = list(original)
            for _ in range(copy):
                words[chance.randrange(length)] = chance.choice(WORDS)
            texts.append(" ".join(words))
    texts += [" ".join(chance.choices(WORDS, k=length)) for _ in range(alone)]
    return texts


TEXTS = corpus()
SIMILARITIES = {
    (left, right): naive.similarity(a, b) for (left, a), (right, b) in itertools.combinations(enumerate(TEXTS), 2)
}
FINGERPRINTS = [naive.fingerprint(text) for text in TEXTS]
DISTANCES = {(left, right): (FINGERPRINTS[left] ^ FINGERPRINTS[right]).bit_count() for left, right in SIMILARITIES}
ROWS = [{"id": f"t{row}", "text": text} for row, text in enumerate(TEXTS)]


def write_labels(path, pairs, column="similarity"):
    path.write_text("".join(json.dumps({"a": f"t{a}", "b": f"t{b}", column: value}) + "\n" for (a, b), value in pairs))
    return path


# the numbers


def test_wilson_has_the_published_values():
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3
    for count, of, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        share = intervals.wilson(count, of)
        assert (round(share.low, 4), round(share.high, 4)) == (low, high)
    assert intervals.wilson(29, 29).high == 1
    assert intervals.wilson(0, 0) == intervals.UNKNOWN


def test_pairs_of_independent_documents_have_the_interval_of_independent_pairs():
    generator = np.random.default_rng(5)
    totals = np.ones(2000, np.int64)
    counts = (generator.random(2000) < 0.9).astype(np.int64)
    clustered, plain = intervals.clustered(counts, totals, 0.0), intervals.wilson(int(counts.sum()), 2000)
    assert (clustered.value, clustered.count, clustered.of) == (plain.value, plain.count, plain.of)
    assert clustered.low == pytest.approx(plain.low, abs=1e-4)
    assert clustered.high == pytest.approx(plain.high, abs=1e-4)


def test_pairs_that_go_together_count_as_one():
    totals = np.full(50, 40)
    counts = totals * (np.arange(50) < 25)
    share = intervals.clustered(counts, totals, 0.0)
    single = intervals.wilson(25, 50)
    assert share.value == 0.5
    assert share.low == pytest.approx(single.low, abs=0.01)
    assert intervals.clustered(totals, totals, 0.0).low == pytest.approx(intervals.wilson(50, 50).low)
    assert intervals.clustered(totals * 0, totals, 0.0).high == pytest.approx(intervals.wilson(0, 50).high)
    assert intervals.clustered(totals * 0, totals * 0, 0.0) == intervals.UNKNOWN


def test_f1_is_the_harmonic_mean():
    true, false, missed = 30, 10, 20
    found = intervals.f1_of(intervals.wilson(true, true + false + missed))
    precision, recall = true / (true + false), true / (true + missed)
    assert found.value == pytest.approx(2 * precision * recall / (precision + recall))
    assert found.low < found.value < found.high


# the sampling


@given(
    texts=st.lists(word_text, min_size=1, max_size=14),
    size=st.integers(1, 14),
    least=st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.95, 1.0]),
    steps=st.sampled_from([["nfkc_casefold"], ["digits"], ["nfkc_casefold", "punctuation", "digits"]]),
)
def test_every_similar_pair_of_a_sampled_document_is_found_and_no_other(texts, size, least, steps):
    sampled = sampling.choose(np.arange(len(texts)), size, seed=0)
    found = sampling.similar_pairs(
        TableCorpus(texts),
        sampled,
        np.ones(len(texts), np.bool_),
        least=least,
        recipe=nd.Recipe(normalize=steps),
        resources=Resources(1),
    )
    texts = [reduce(lambda text, name: naive.NORMALIZERS[name](text), steps, text) for text in texts]
    expected = {}
    for left, right in itertools.combinations(range(len(texts)), 2):
        if {left, right} & set(sampled.tolist()) and naive.tokens(texts[left]):
            value = naive.similarity(texts[left], texts[right])
            if value >= least:
                expected[left, right] = value
    assert (
        dict(zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.similarity.tolist(), strict=True))
        == expected
    )


def test_more_similar_pairs_than_there_was_room_for_are_all_found():
    texts = [f"one text that is here again and again and always the same, {number}" for number in range(60)]
    found = sampling.similar_pairs(
        TableCorpus(texts), np.arange(60), np.ones(60, np.bool_), least=0.5, recipe=nd.Recipe(), resources=Resources(1)
    )
    assert len(found) == 60 * 59 // 2


def test_distances_are_counted_and_pairs_drawn_as_they_are():
    fingerprints = np.random.default_rng(0).integers(0, 2**64, (40, 2), dtype=np.uint64)
    fingerprints[7] = fingerprints[3]
    chosen = np.array([0, 3, 39])
    counts = sampling.distance_counts(fingerprints, chosen, threads=2)
    everything = {(a, b): d for a, b, d in naive.pairs_within(fingerprints, 128)}
    of_three = [everything[min(3, other), max(3, other)] for other in range(40) if other != 3]
    assert counts[1].tolist() == np.bincount(of_three, minlength=129).tolist()
    assert counts.sum(axis=1).tolist() == [39, 39, 39]

    wanted = {pair for pair, d in everything.items() if 50 <= d <= 60 and {0, 3, 39} & set(pair)}
    left, right = sampling.sample_pairs(fingerprints, chosen, counts, (50, 60), size=10_000, seed=0)
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == wanted
    left, right = sampling.sample_pairs(fingerprints, chosen, counts, (50, 60), size=5, seed=0)
    assert 1 <= len(left) <= 5
    assert set(zip(left.tolist(), right.tolist(), strict=True)) <= wanted


def test_a_sample_is_the_same_every_time_and_another_with_another_seed():
    rows = np.arange(100, 1100)
    first = sampling.choose(rows, 50, seed=0)
    assert len(set(first.tolist())) == 50
    assert first.tolist() == sorted(sampling.choose(rows, 50, seed=0).tolist())
    assert first.tolist() != sampling.choose(rows, 50, seed=1).tolist()
    assert sampling.choose(rows, 5000, seed=0) is rows


# without labels


def test_where_every_document_is_sampled_all_numbers_are_those_of_all_pairs():
    result = nd.evaluate(TEXTS, threads=1)
    true = {pair for pair, value in SIMILARITIES.items() if value >= 0.8}
    assert 20 < len(true) <= 36
    assert (result.truth, result.near_duplicates, result.sampled_documents) == ("sample", len(true), len(TEXTS))
    assert result.with_near_duplicate.count == len(set(itertools.chain(*true)))
    for score in result.distances:
        within = {pair for pair, distance in DISTANCES.items() if distance <= score.max_distance}
        assert score.pairs == len(within)
        assert score.recall.value == pytest.approx(len(true & within) / len(true))
        if within:
            assert score.precision.value == pytest.approx(len(true & within) / len(within))
            assert score.precision.of == len(within)
            assert score.f1.value == pytest.approx(2 * len(true & within) / (len(true) + len(within)))
        assert score.recall.low <= score.recall.value <= score.recall.high
    for part in result.strata:
        first, last = (
            (0, 128)
            if part.distance == "any"
            else (int(part.distance.split("-")[0]), int(part.distance.split("-")[-1]))
        )
        inside = {pair for pair, distance in DISTANCES.items() if first <= distance <= last}
        assert part.pairs == len(inside)
        assert part.sampled <= 200
        if inside:
            assert part.similar.value == pytest.approx(len(true & inside) / len(inside))
            assert part.highest <= max(SIMILARITIES[pair] for pair in inside) + 1e-12
    assert sum(part.pairs for part in result.strata[:-1]) == result.strata[-1].pairs == len(DISTANCES)


def test_every_method_but_auto_is_measured_on_its_own():
    result = nd.evaluate(TEXTS, threads=1)
    assert [score.method for score in result.methods] == list(MEASURED)
    assert "auto" not in MEASURED
    for score in result.methods:
        assert score.recall.value > 0.9
        assert score.precision.value == 1
        assert score.recall.count == score.found
        assert sum(score.bands[name].of for name in ("0.8-0.95", "0.95-1")) == score.recall.of
    simhash = next(score for score in result.methods if score.method == "simhash")
    found = {pair for pair, value in SIMILARITIES.items() if value >= 0.8 and DISTANCES[pair] <= 18}
    assert simhash.recall.count == len(found)


def test_the_estimates_from_a_sample_hold_what_is_true():
    texts = corpus(families=60, alone=240, seed=4)
    whole = nd.evaluate(texts, methods=["simhash"])
    inside = 0
    for seed in range(10):
        part = nd.evaluate(texts, methods=["simhash"], sample=120, seed=seed)
        assert part.sampled_documents == 120
        assert part.near_duplicates != whole.near_duplicates
        inside += part.near_duplicates_low <= whole.near_duplicates <= part.near_duplicates_high
        share = part.with_near_duplicate
        inside += share.low <= whole.with_near_duplicate.value <= share.high
        recall = part.distances[8].recall
        inside += recall.low <= whole.distances[8].recall.value <= recall.high
        precision = part.distances[18].precision
        inside += precision.low <= whole.distances[18].precision.value <= precision.high
    assert inside >= 35


def test_the_same_seed_gives_the_same_result_on_one_thread_and_on_two():
    values = [nd.evaluate(TEXTS, sample=20, seed=3, threads=threads).as_dict() for threads in (1, 2)]
    for value in values:
        del value["seconds"]
    assert values[0] == values[1]


def test_equal_texts_are_set_aside_and_counted():
    result = nd.evaluate([*TEXTS, TEXTS[0].upper(), TEXTS[0]])
    assert (result.equal_texts, result.documents) == (2, len(TEXTS) + 2)
    assert result.near_duplicates == nd.evaluate(TEXTS).near_duplicates


def test_a_corpus_without_near_duplicates_is_told_and_nothing_is_claimed():
    result = nd.evaluate(corpus(families=0))
    assert result.near_duplicates == 0
    assert result.methods[0].recall == intervals.UNKNOWN
    assert (result.recommendation.best, result.recommendation.options()) == (None, {})
    assert "nothing can be said about recall" in result.warnings[-1]


@pytest.mark.parametrize("texts", [[], [""], ["one"], ["", "…"]])
def test_a_corpus_of_next_to_nothing_is_evaluated(texts):
    assert nd.evaluate(texts).near_duplicates == 0


# with labels


def test_labels_with_similarities_give_the_scores_of_the_definition(tmp_path):
    listed = {pair: value for pair, value in SIMILARITIES.items() if value >= 0.5}
    result = nd.evaluate(ROWS, pairs=write_labels(tmp_path / "labels.jsonl", listed.items()), complete=True)
    true = {pair for pair, value in listed.items() if value >= 0.8}
    assert (result.labeled_pairs, result.labeled_positive) == (len(listed), len(true))
    for score in result.distances[::9]:
        within = {pair for pair, distance in DISTANCES.items() if distance <= score.max_distance}
        assert score.recall == intervals.wilson(len(true & within), len(true))
        assert score.precision.value is None or score.precision.value == pytest.approx(len(true & within) / len(within))
    for score in result.thresholds:
        over = {pair for pair, value in listed.items() if value >= score.min_similarity}
        assert score.recall == intervals.wilson(len(true & over), len(true))
        assert score.precision == intervals.wilson(len(true & over), len(over))
    simhash = next(score for score in result.methods if score.method == "simhash")
    found = {pair for pair in true if DISTANCES[pair] <= 18}
    assert simhash.recall == intervals.wilson(len(found), len(true))
    assert simhash.precision == intervals.wilson(len(found), len(found))
    hard = {pair for pair in true if SIMILARITIES[pair] < 0.95}
    assert simhash.bands["0.8-0.95"] == intervals.wilson(len(found & hard), len(hard))
    assert result.strata == ()


@pytest.mark.parametrize("complete", [True, False])
def test_labels_that_state_the_similarity_that_is_compared_define_it_as_no_labels_do(tmp_path, complete):
    listed = {pair: round(value, 3) for pair, value in SIMILARITIES.items() if value >= 0.8}
    labels = write_labels(tmp_path / "labels.jsonl", listed.items())
    stated = nd.evaluate(ROWS, pairs=labels, complete=complete)
    unlabeled = nd.evaluate(ROWS)
    for result in (stated, unlabeled):
        assert (result.judged_by, result.is_definition("exact")) == ("similarity", True)
        assert not any(map(result.is_definition, ("minhash", "simhash")))
        assert {trial.min_similarity for trial in result.trials if trial.similarity is not None} == {0.8}
        best = result.recommendation
        assert (best.threshold_is_given, best.by_definition, best.best.method) == (True, True, "exact")
    assert stated.recommendation.best.found == unlabeled.recommendation.best.found == len(listed)
    assert (
        f"{4 + len(OTHER_SHINGLES)} other similarities and thresholds other than `min_similarity=0.8`"
        in stated.left_out[-1]
    )


def test_labels_that_state_another_similarity_are_evaluated_and_told_from_judgements(tmp_path):
    listed = {pair: value / 2 for pair, value in SIMILARITIES.items() if value >= 0.5}
    result = nd.evaluate(ROWS, pairs=write_labels(tmp_path / "labels.jsonl", listed.items()), min_similarity=0.4)
    assert (result.judged_by, result.is_definition("exact")) == ("other similarity", False)
    assert result.recommendation.best.found == sum(value >= 0.4 for value in listed.values())
    assert not result.recommendation.threshold_is_given
    assert result.recommendation.notes[0].startswith("The labels state similarities, not judgements")


@pytest.mark.parametrize(("column", "judged_by"), [("label", "label"), (None, "listing")])
def test_labels_that_people_gave_say_what_is_near(tmp_path, column, judged_by):
    (tmp_path / "l.jsonl").write_text(json.dumps({"a": "t0", "b": "t1"} | ({column: 1} if column else {})))
    result = nd.evaluate(ROWS, pairs=tmp_path / "l.jsonl", methods=["simhash"])
    assert (result.judged_by, result.is_definition("exact")) == (judged_by, False)


def test_pairs_without_a_label_count_neither_for_nor_against(tmp_path):
    true = sorted(pair for pair, value in SIMILARITIES.items() if value >= 0.8 and DISTANCES[pair] <= 18)
    far = sorted(pair for pair, value in SIMILARITIES.items() if value == 0)
    some = [*((pair, 1) for pair in true[:5]), *((pair, 0) for pair in far[:3])]
    labels = write_labels(tmp_path / "some.jsonl", some, "label")
    [score] = nd.evaluate(ROWS, pairs=labels, methods=["simhash"]).methods
    assert score.unlabeled == len(true) - 5
    assert score.precision == intervals.wilson(5, 5)
    [score] = nd.evaluate(ROWS, pairs=labels, complete=True, methods=["simhash"]).methods
    assert score.unlabeled == 0
    assert score.precision == intervals.wilson(5, len(true))


def test_where_no_pair_is_known_to_be_false_there_is_no_precision(tmp_path):
    true = [pair for pair, value in SIMILARITIES.items() if value >= 0.8]
    (tmp_path / "p.csv").write_text("left_id,right_id\n" + "".join(f"t{a},t{b}\n" for a, b in true))
    result = nd.evaluate(ROWS, pairs=tmp_path / "p.csv")
    assert result.labeled_positive == len(true)
    for score in (*result.methods, *result.distances, *result.thresholds):
        assert score.precision == score.f1 == intervals.UNKNOWN


def test_labels_may_contradict_the_similarity(tmp_path):
    near, far = max(SIMILARITIES, key=SIMILARITIES.get), min(SIMILARITIES, key=SIMILARITIES.get)
    labels = write_labels(tmp_path / "l.jsonl", [(near, False), (far, True)], "label")
    result = nd.evaluate(ROWS, pairs=labels, methods=["simhash"])
    assert result.methods[0].recall == intervals.wilson(0, 1)
    assert result.methods[0].precision == intervals.wilson(0, 1)
    assert result.recommendation.options() == {}
    assert result.recommendation.reasons[0] == (
        "Nothing that was tried reaches recall 0.99 with a precision of 0.9 or more."
    )


FORMS = {
    "a.jsonl": lambda path: path.write_text(
        '{"a": "x", "b": "7", "jaccard": 0.9}\n\n{"a": "x", "b": "z", "jaccard": 0.1}\n'
    ),
    "a.jsonl.gz": lambda path: path.write_bytes(
        gzip.compress(
            b'{"left_id": "x", "right_id": 7, "similarity": 0.9}\n{"left_id": "x", "right_id": "z", "similarity": 0.1}\n'
        )
    ),
    "a.csv": lambda path: path.write_text('\ufeffa,note,b,label\nx,"so, so",7,True\nz,,x,0\n'),
    "a.tsv": lambda path: path.write_text("a\tb\tlabel\nx\t7\t1\nx\tz\tfalse\n"),
    "a.parquet": lambda path: pq.write_table(
        pa.table({"left_id": ["x", "z"], "right_id": ["7", "x"], "label": [1.0, 0.0]}), path
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_labels_are_read_in_every_form(tmp_path, name):
    FORMS[name](tmp_path / name)
    labels = read_labels(LabelFile(tmp_path / name), ["z", "x", "7"], min_similarity=0.8)
    found = sorted(zip(labels.left.tolist(), labels.right.tolist(), labels.positive.tolist(), strict=True))
    assert found == [(0, 1, False), (1, 2, True)]


LABELED = [("x", "7", 1), ("z", "x", 0)]
IN_MEMORY = {
    "tuples": lambda: LABELED,
    "tuples of truth values": lambda: [("x", "7", True), ("z", "x", False)],
    "tuples of similarities": lambda: iter([("x", 7, 0.9), ["z", "x", 0]]),
    "dicts": lambda: [{"a": a, "b": b, "jaccard": label} for a, b, label in LABELED],
    "Arrow": lambda: pa.table({"left_id": ["x", "z"], "right_id": ["7", "x"], "label": [1, 0]}),
    "pandas": lambda: pd.DataFrame(LABELED, columns=["left_id", "right_id", "label"]),
    "polars": lambda: pl.DataFrame(LABELED, schema=["left_id", "right_id", "similarity"], orient="row"),
    "path": lambda: Path("labels.csv"),
}


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_labels_are_taken_from_memory_in_every_form(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text("a,b,label\nx,7,1\nz,x,0\n")
    labels = read_labels(labels_of(IN_MEMORY[kind]()), ["z", "x", "7"], min_similarity=0.8)
    found = sorted(zip(labels.left.tolist(), labels.right.tolist(), labels.positive.tolist(), strict=True))
    assert found == [(0, 1, False), (1, 2, True)]


def test_labels_in_memory_give_what_those_of_a_file_do(tmp_path):
    texts = ["a rose is a rose is a rose, she said to them", "A rose is a rose is a rose, she said to them!", "a tulip"]
    (tmp_path / "labels.csv").write_text("a,b\n0,1\n")
    (tmp_path / "in.txt").write_text("\n".join(texts))
    expected = nd.evaluate(texts, pairs=tmp_path / "labels.csv")
    for pairs in ([(0, 1)], np.array([[0, 1]]), [{"left_id": "0", "right_id": "1"}], pa.table({"a": [0], "b": [1]})):
        found = nd.evaluate(texts, pairs=pairs)
        assert dataclasses.replace(found, seconds={}) == dataclasses.replace(expected, seconds={})
    named = [(f"{tmp_path / 'in.txt'}:{row}", f"{tmp_path / 'in.txt'}:{row + 1}") for row in (0, 1)]
    of_files = nd.evaluate_files(tmp_path / "in.txt", lines=True, pairs=named)
    assert (of_files.labeled_pairs, of_files.labeled_positive) == (2, 2)


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        (
            17,
            OptionError,
            "pairs is a int; give a list of .left_id, right_id., with a similarity or a label after them",
        ),
        ({(0, 1)}, OptionError, "pairs is a set; give a list of"),
        (["ab", "cd"], OptionError, "pairs has ab at place 0 .counted from 0., unlike others; give a list of"),
        ([(0, 1), (1, 2, 1)], OptionError, r"pairs has \(1, 2, 1\) at place 1"),
        ([(0, 1, 1, 1)], OptionError, r"pairs has \(0, 1, 1, 1\) at place 0"),
        ([(0, 1, 3)], DataError, "pairs, pair 1: .* has not what the first has: left_id, right_id and label"),
        ([(0, 1, 1.5)], DataError, "pairs, pair 1: .* and similarity, a number from 0 to 1"),
        ([(0, 9)], InputError, "pairs names 1 id that no document of the input has: '9'"),
        ([], InputError, "pairs has no pairs"),
        (pa.table({"left": [0], "right": [1]}), InputError, "pairs names no pairs: its columns are left, right"),
        ("labels.csv", InputError, "There is no file of labels 'labels.csv'"),
    ],
)
def test_labels_in_memory_that_say_nothing_clear_are_refused(pairs, error, message):
    with pytest.raises(error, match=message):
        nd.evaluate(["a rose", "a tulip"], pairs=pairs)


def test_a_pair_that_is_listed_twice_counts_once(tmp_path):
    (tmp_path / "l.csv").write_text("a,b\nx,z\nz,x\n")
    assert len(read_labels(LabelFile(tmp_path / "l.csv"), ["z", "x"], min_similarity=0.8)) == 1


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("l.txt", "x", InputError, "labels are read from files that end in .jsonl"),
        ("l.csv", "one,two\nx,z\n", InputError, "its columns are one, two. Give left_id and right_id, or a and b."),
        ("l.csv", "a,b\n", InputError, "has no pairs"),
        ("l.csv", "a,b\nx,q\nr,s\n", InputError, "names 3 ids that no document of the input has: 'q', 'r', 's'"),
        ("l.csv", "a,b\nx,x\n", DataError, "pair 1: 'x' is paired with itself"),
        ("l.csv", "a,b\nx,twice\n", InputError, "pair 1: several documents have the id 'twice'"),
        ("l.csv", "a,b,label\nx,z,1\nz,x,0\n", DataError, "pair 2: 'z' and 'x' are both near and not"),
        ("l.csv", "a,b,label\nx,z,maybe\n", DataError, "a, b and label, 0, 1, true or false."),
        ("l.csv", "a,b,jaccard\nx,z,1.5\n", DataError, "a, b and jaccard, a number from 0 to 1."),
        ("l.jsonl", '{"a": "x", "b": "z"}\n{"a": "x"}\n', DataError, "pair 2:"),
        ("l.jsonl", '{"a": "x", "b": "z"}\n{"a": "x", "b": "z", "label": 0}\n', DataError, "and nothing that judges"),
        ("l.csv", "a,b\nx\n", DataError, "pair 1: .* has not what the first has"),
        ("l.jsonl", '{"a": "x", \n', DataError, "cannot be read as jsonl"),
        ("l.jsonl", "17\n", InputError, "its columns are none"),
        ("l.parquet", "no", DataError, "is no readable Parquet file"),
    ],
)
def test_labels_that_say_nothing_clear_are_refused(tmp_path, name, content, error, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(error, match=message):
        read_labels(LabelFile(tmp_path / name), ["x", "z", "twice", "twice"], min_similarity=0.8)


def test_labels_in_parquet_that_are_not_utf_8_are_refused(tmp_path):
    names = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    pq.write_table(pa.table({"a": names, "b": ["x"]}), tmp_path / "l.parquet")
    with pytest.raises(DataError, match="l.parquet is no readable Parquet file"):
        list(LabelFile(tmp_path / "l.parquet").rows())


def test_a_label_decides_where_there_is_a_similarity_as_well(tmp_path):
    lines = [{"a": "x", "b": "y", "similarity": 0.9, "label": 0}, {"a": "x", "b": "z", "similarity": 0.1, "label": 1}]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    labels = read_labels(LabelFile(tmp_path / "l.jsonl"), ["x", "y", "z"], min_similarity=0.8)
    assert labels.positive.tolist() == [False, True]
    assert labels.score.tolist() == [0.9, 0.1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "There is no file of labels"),
        ("l.csv", "its columns are one, two"),
        ("l.txt", "labels are read from files that end in .jsonl"),
    ],
)
def test_labels_are_looked_at_before_documents_are_read(tmp_path, name, message):
    for each in ("l.csv", "l.txt"):
        (tmp_path / each).write_text("one,two\nx,z\n")
    told = []
    with pytest.raises(InputError, match=message):
        nd.evaluate(["a text", "another text"], pairs=tmp_path / name, progress=told.append)
    assert told == []


# what is tried, and what it removes


def labels_of_families():
    """Pairs of a family, 12 of three texts each."""
    return [(3 * family + a, 3 * family + b) for family in range(12) for a, b in ((0, 1), (0, 2), (1, 2))]


def test_every_similarity_and_method_is_tried_at_the_threshold_that_is_best_by_definition():
    result = nd.evaluate(TEXTS, pairs=labels_of_families(), complete=True, min_similarity=0.95)
    tried = {(score.method, score.similarity) for score in result.trials}
    assert tried == {("exact", each) for each in (*SIMILARITY_NAMES, *OTHER_SHINGLES)} | {
        ("minhash", "jaccard"),
        ("simhash", "jaccard"),
        ("simhash", None),
    }
    assert {score.recipe for score in result.trials if score.similarity is None} == {
        "default",
        "default-64",
        "textbook",
    }
    positive = set(labels_of_families())
    exact = next(score for score in result.trials if score.similarity == "jaccard")
    best = 0.0
    for percent in range(1, 101):
        found = {pair for pair, value in SIMILARITIES.items() if value >= percent / 100}
        true = len(found & positive)
        if found and true / 36 >= 0.99 and true / len(found) >= 0.9:
            best = max(best, 2 * true / (len(found) + 36))
    assert exact.f1.value == pytest.approx(best)
    assert result.recommendation.reaches_target
    assert [score.similarity for score in nd.evaluate(
        TEXTS, pairs=labels_of_families(), complete=True, similarity="edit", methods="exact"
    ).trials] == ["edit"]  # fmt: skip


@pytest.mark.parametrize("asked", [{}, {"target_recall": 0.5}, {"min_precision": 1.0}, {"methods": "simhash"}])
@pytest.mark.parametrize("complete", [True, False])
def test_what_is_recommended_finds_what_was_said_when_it_is_done(asked, complete):
    pairs = labels_of_families()[:30]
    result = nd.evaluate(TEXTS, pairs=pairs, complete=complete, **asked)
    best = result.recommendation.best
    found = nd.match(TEXTS, **best.options())
    listed = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert len(listed) == best.found
    assert best.recall == intervals.wilson(len(listed & set(pairs)), len(pairs))
    if complete:
        assert best.precision == intervals.wilson(len(listed & set(pairs)), len(listed))
    else:
        assert best.unlabeled == len(listed - set(pairs))
    assert result.recommendation.removed == nd.deduplicate(TEXTS, **best.options()).duplicates.num_rows


def test_without_labels_the_recommendation_is_run_among_different_texts():
    texts = [*TEXTS, TEXTS[0].upper(), TEXTS[0], ""]
    result = nd.evaluate(texts)
    best = result.recommendation.best
    unlike = nd.match(TEXTS, **best.options())
    assert (best.found, best.recall.value, best.precision.value) == (len(unlike), 1, 1)
    assert result.recommendation.removed == nd.deduplicate(texts, **best.options()).duplicates.num_rows


def removed_by(result):
    return {(score.similarity, score.min_similarity): score.removed for score in result.removal}


def test_the_removed_share_at_each_threshold_is_that_of_deduplication():
    texts = [*TEXTS, TEXTS[0].upper(), TEXTS[0], "", "…"]
    shown = removed_by(nd.evaluate(texts)) | removed_by(nd.evaluate(texts, pairs=labels_of_families(), complete=True))
    assert {similarity for similarity, _ in shown} == set(SIMILARITY_NAMES)
    for (similarity, threshold), removed in shown.items():
        done = nd.deduplicate(texts, method="exact", similarity=similarity, min_similarity=threshold)
        assert removed == done.duplicates.num_rows, (similarity, threshold)
    by_jaccard = [score.min_similarity for score in nd.evaluate(texts).removal]
    assert by_jaccard == [percent / 100 for percent in range(50, 101, 5)]


def test_the_removed_share_of_a_sample_is_an_upper_bound():
    texts = corpus(families=60, alone=240, seed=4)
    inside = 0
    for seed in range(5):
        part = nd.evaluate(texts, methods=["simhash"], sample=120, seed=seed)
        assert part.is_estimate
        assert part.recommendation.removed is None
        for score in part.removal:
            done = nd.deduplicate(texts, min_similarity=score.min_similarity, method="exact")
            inside += done.duplicates.num_rows <= score.share.high * len(texts)
    assert inside >= 0.9 * 5 * 11


def test_what_takes_too_long_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr(compared, "COMPARE_SECONDS", 1e-9)
    result = nd.evaluate(TEXTS, pairs=labels_of_families())
    assert result.removal == ()
    assert {score.method for score in result.trials} == {"minhash", "simhash"}
    assert len(result.left_out) == len(SIMILARITY_NAMES) + len(OTHER_SHINGLES)
    assert result.left_out[0].startswith("`similarity='jaccard'` was left out: the labeled pairs alone take")
    assert result.left_out[0].endswith("s of the reference machine, more than 1e-09.")


@pytest.mark.parametrize(("where", "limit", "value"), [(listing, "MAX_PAIRS", 20), (trials, "BUDGET_SECONDS", 0)])
def test_options_whose_run_takes_too_long_are_not_run(monkeypatch, where, limit, value):
    monkeypatch.setattr(where, limit, value)
    best = nd.evaluate(TEXTS, pairs=labels_of_families(), complete=True, methods="exact").recommendation
    assert best.best.recall.value == 1
    assert best.removed is None


def curve(similarity, values, positive, complete):
    """Precision and recall by threshold, from the similarities of all pairs."""
    found = []
    for percent in range(1, 101):
        over = {pair for pair, value in values.items() if value >= percent / 100}
        known = over if complete else over & set(positive)
        precision = intervals.wilson(len(over & set(positive)), len(known)) if complete else intervals.UNKNOWN
        found.append((precision, intervals.wilson(len(over & set(positive)), len(positive)), len(over)))
    return found


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("given", ["jaccard", nd.Similarity(segmenter="characters", word_shingle=4)], ids=str)
def test_every_threshold_has_the_scores_of_all_pairs(given, complete):
    pairs = list(itertools.combinations(range(len(TEXTS)), 2))
    values = {(a, b): nd.similarity(TEXTS[a], TEXTS[b], similarity=given) for a, b in pairs}
    positive = labels_of_families()
    result = nd.evaluate(TEXTS, pairs=positive, complete=complete, similarity=given, methods="exact")
    shown = [(score.precision, score.recall, score.found) for score in result.thresholds]
    assert shown == curve(given, values, positive, complete)
    for score in result.thresholds:
        right = sum(values[pair] >= score.min_similarity for pair in positive)
        assert score.unlabeled == (0 if complete else score.found - right)


def test_of_many_documents_a_sample_estimates_and_the_best_are_listed(monkeypatch):
    texts = corpus(families=60, alone=240, seed=4)
    positive = [(3 * family + a, 3 * family + b) for family in range(60) for a, b in ((0, 1), (0, 2), (1, 2))]
    whole = nd.evaluate(texts, pairs=positive, complete=True, methods="exact")
    monkeypatch.setattr(compared, "MAX_PAIRS", 10_000)
    part = nd.evaluate(texts, pairs=positive, complete=True, methods="exact")
    assert part.recommendation.best.f1 == whole.recommendation.best.f1
    assert part.recommendation.removed == whole.recommendation.removed
    dropped = [line for line in part.left_out if line.endswith("was tried on a sample of pairs alone.")]
    assert len(part.trials) == len(whole.trials) - len(dropped)


def test_where_jaccard_is_sampled_other_methods_are_tried_where_the_labels_are_and_in_bounded_time(monkeypatch):
    texts = corpus(families=0, alone=240, seed=4)
    texts += [f"{one} {other}" for one, other in itertools.pairwise(texts[:61])]  # which containment finds best
    positive = [(row, 240 + row) for row in range(60)]
    monkeypatch.setattr(compared, "MAX_PAIRS", 10_000)
    monkeypatch.setattr(trials, "MOST_REFINED", 1)
    found = nd.evaluate(texts, pairs=positive, complete=True)
    assert "`similarity='jaccard'` was tried on a sample of pairs alone." in found.left_out
    tried = [trial for trial in found.trials if trial.similarity == "jaccard" and trial.method != "exact"]
    assert {trial.method for trial in tried} == {"minhash", "simhash"}
    assert {trial.min_similarity < 0.6 for trial in tried} == {True}
    assert max(trial.recall.value for trial in tried) > 0.8
    monkeypatch.setattr(trials, "BUDGET_SECONDS", 0)
    found = nd.evaluate(texts, pairs=positive, complete=True)
    assert [line for line in found.left_out if line.startswith("`method='minhash'` was not tried at `min_similarity=")]
    assert "minhash" not in {trial.method for trial in found.trials}


def test_more_pairs_than_can_be_held_are_not_listed(monkeypatch):
    texts = corpus(families=60, alone=240, seed=4)
    monkeypatch.setattr(compared, "MAX_PAIRS", 10_000)
    monkeypatch.setattr(trials, "MAX_PAIRS", 3)
    monkeypatch.setattr(trials, "collected", None)
    found = nd.evaluate(texts, pairs=[(0, 1), (3, 4), (6, 7), (9, 10)], methods="exact")
    assert found.recommendation.best.found > 3
    assert found.recommendation.removed is None


def test_of_long_texts_some_are_held(monkeypatch):
    monkeypatch.setattr(held, "HELD_TOKENS", 70 * 30)
    monkeypatch.setattr(compared, "FEWEST", 10)
    texts = corpus(families=60, alone=240, seed=4)
    positive = [(3 * family, 3 * family + 1) for family in range(60)]
    result = nd.evaluate(texts, pairs=positive, similarity="jaccard", methods="exact")
    [trial] = result.trials
    assert 10 <= trial.recall.of < 60
    assert result.recommendation.best.recall.of == 60  # it was run


def test_a_similarity_that_does_not_go_with_the_recipe_is_left_out(monkeypatch):
    def refuse(*given, **options):
        raise OptionError("no.")

    monkeypatch.setattr(trials, "compare", refuse)
    result = nd.evaluate(TEXTS, pairs=labels_of_families(), similarity="cosine")
    assert result.left_out[0] == "`similarity='cosine'` was left out: no."


# recommendations and warnings


def share(value, of=1000):
    return intervals.wilson(round(value * of), of)


def trial(method, recall, precision=None, f1=None, *, found=100, similarity="jaccard", min_similarity=0.5):
    unknown = intervals.UNKNOWN
    return Trial(
        method=method,
        similarity=similarity,
        min_similarity=min_similarity,
        recipe="default",
        bits=128,
        max_distance=18 if method == "simhash" else None,
        recall=share(recall),
        precision=unknown if precision is None else share(precision),
        f1=unknown if f1 is None else share(f1),
        found=found,
        unlabeled=0,
    )


def recommended(
    given, *, target=0.99, min_precision=0.9, run=lambda trial: (trial, 7), recipes=(), documents=100, **definition
):
    return recommend(
        given, recipes, target=target, min_precision=min_precision, run=run, documents=documents, **definition
    )


def test_without_labels_no_threshold_is_recommended_but_a_method_at_the_one_that_was_given():
    unlabeled = Definition("jaccard", 0.5, by_labels=False)
    best = recommended([trial("minhash", 1, 1, 1.0)], definition=unlabeled)
    assert (best.threshold_is_given, best.by_definition) == (True, False)
    assert "there are no labels, so `min_similarity=0.5`, as it is given, says which pairs are" in best.notes[0]
    best = recommended([trial("minhash", 1, 1, 1.0)])
    assert (best.threshold_is_given, best.notes) == (False, ())
    alone = dataclasses.replace(trial("simhash", 1, 1, 1.0), similarity=None, min_similarity=0.0)
    assert not recommended([alone], definition=unlabeled).threshold_is_given


def test_what_defines_the_near_duplicates_is_right_by_definition_and_no_doubt_is_cast_on_it():
    few = dataclasses.replace(trial("exact", 1), recall=intervals.wilson(20, 20))
    best = recommended([few], definition=Definition("jaccard", 0.5, by_labels=True))
    assert best.by_definition
    assert "`method='exact'` finds every pair of this similarity, by theorem." in best.reasons[0]
    [note] = best.notes
    assert "the labels state the similarities that are compared" in note
    assert "give them with the column label" in note
    assert not recommended([few], definition=Definition("jaccard", 0.6, by_labels=True)).by_definition


def test_where_precision_is_unknown_but_every_pair_is_right_by_definition_the_highest_recall_wins():
    most, fewest = trial("exact", 1, found=600), trial("minhash", 0.995, found=590)
    assert recommended([fewest, most], definition=Definition("jaccard", 0.5, by_labels=True)).best == most
    assert recommended([fewest, most]).best == fewest


def test_labels_of_another_similarity_are_told_from_judgements():
    [note] = recommended([trial("exact", 1, 1, 1.0)], is_stated=True).notes
    assert note.startswith("The labels state similarities, not judgements: `min_similarity` says which")


def test_similarities_are_counted_in_steps_of_near_duplicates_and_others():
    found = similarity_counts(np.array([0.5, 0.519, 0.98, 1.0, 0.6]), np.array([False, False, True, True, True]))
    assert (found[0].least, found[0].near, found[0].others) == (0.5, 0, 2)
    assert (found[-1].least, found[-1].near, found[-1].others) == (0.98, 2, 0)
    assert sum(each.near + each.others for each in found) == 5
    assert similarity_counts(np.empty(0), np.empty(0, np.bool_)) == ()


def test_of_options_that_reach_the_target_those_with_the_highest_f1_are_recommended():
    given = [trial("simhash", 0.97, 1, 0.985), trial("exact", 1, 0.98, 0.99), trial("minhash", 0.999, 0.91, 0.95)]
    best = recommended(given)
    assert (best.best, best.reaches_target, best.removed) == (given[1], True, 7)
    assert best.options() == {"method": "exact", "min_similarity": 0.5, "similarity": "jaccard", "recipe": "default"}
    assert "`method='exact'`, `min_similarity=0.5`, `similarity='jaccard'`" in best.reasons[0]
    assert "asked for is recall 0.99 with a precision of 0.9 or more" in best.reasons[0]


def test_false_pairs_are_capped_and_the_nearest_is_named_where_nothing_reaches_the_target():
    wide, narrow, empty = trial("exact", 1, 0.5, 0.667), trial("exact", 0.6, 0.95, 0.735), trial("exact", 0, 1, 0.0)
    best = recommended([wide, narrow, empty])
    assert (best.best, best.reaches_target, best.options()) == (narrow, False, {})
    assert best.reasons[0] == "Nothing that was tried reaches recall 0.99 with a precision of 0.9 or more."
    assert recommended([wide, narrow, empty], min_precision=0.5).best == wide
    assert recommended([wide], min_precision=0.9).best == wide
    assert (
        recommended([]).reasons[0] == "Nothing is recommended: no near-duplicate is known, or nothing could be tried."
    )
    assert recommended([empty]).reasons[0].endswith("; nothing finds any near-duplicate.")
    assert recommended([empty]).best is None


def test_where_precision_is_unknown_the_fewest_pairs_are_best_and_it_is_said():
    many, few = trial("simhash", 1, found=44_866), trial("exact", 0.99, found=600)
    best = recommended([many, few])
    assert best.best == few
    assert "No pair is known to be false, so precision is unknown" in best.notes[0]


def test_no_more_than_a_few_options_are_run():
    given = [trial("exact", 1, 1, 1.0, min_similarity=0.1 * place) for place in range(1, 9)]
    runs = []

    def run(each):
        runs.append(each)
        return dataclasses.replace(each, f1=share(0.9 - 0.01 * len(runs)), recall=share(0.9)), 3

    best = recommended(given, run=run)
    assert len(runs) == 4
    assert (best.best.f1.value, best.removed, best.reaches_target) == (0.89, 3, False)


def test_what_nobody_judged_or_what_removes_most_is_not_recommended():
    judged = dataclasses.replace(trial("exact", 1, 1, 1.0), found=970, unlabeled=950)
    best = recommended([judged])
    assert (best.best, best.reaches_target, best.options()) == (judged, True, {})
    [why] = best.withheld
    assert why.startswith("Only 20 of 970 pairs found are labeled: precision and recall are those of the labeled pairs")
    assert "precision 1.000 [0.996, 1.000] (20 of 970 pairs found are labeled)" in best.reasons[0]
    half = dataclasses.replace(judged, found=40, unlabeled=20)
    assert recommended([half], documents=14).withheld == ()
    [why] = recommended([half], documents=13).withheld
    assert why.startswith("These options remove 7 of 13 documents.")


@pytest.mark.parametrize(("precision", "is_withheld"), [(1, False), (0.51, False), (0.5, True), (0.1, True)])
def test_what_removes_most_is_recommended_where_most_pairs_found_are_labeled_as_near(precision, is_withheld):
    most = dataclasses.replace(trial("exact", 1, precision, 0.9), found=400)
    assert bool(recommended([most], documents=13, min_precision=0).withheld) == is_withheld
    defined = Definition("jaccard", 0.5, by_labels=False)
    assert recommended([most], documents=13, min_precision=0, definition=defined).withheld
    assert recommended([most], documents=13, min_precision=0, is_stated=True).withheld


def test_options_that_find_less_when_they_are_run_give_way_to_others():
    promised, second = trial("simhash", 1, 1, 1.0), trial("exact", 0.995, 0.95, 0.97)
    runs = []

    def run(each):
        runs.append(each.method)
        return (trial("simhash", 0.5, 1, 0.6), 3) if each == promised else (each, 9)

    best = recommended([promised, second], run=run)
    assert (best.best, best.removed, runs) == (second, 9, ["simhash", "exact"])


def test_recipes_are_named_with_their_cost():
    scores = [
        RecipeScore("default", 128, 20, share(0.995), 1.0, 100.0, 18, share(0.9)),
        RecipeScore("the given recipe", 128, None, share(0.7), None, None, 18, share(0.7)),
    ]
    reasons = recommended([], recipes=scores).reasons
    assert reasons[1].startswith("By fingerprints alone: `recipe='default'` with `max_distance=20` finds 0.995")
    assert reasons[1].endswith("with 1.0 false candidates for each true one, in about 100 s by estimate.")
    assert "the given recipe reaches 0.99 at no distance: it finds 0.700" in reasons[2]


def test_few_pairs_are_said_to_show_little():
    few = dataclasses.replace(trial("simhash", 1), recall=intervals.wilson(20, 20))
    assert "20 near-duplicates cannot show a recall of 0.99" in recommended([few]).notes[-1]


def test_short_texts_are_warned_of_with_what_was_measured():
    def warned(short=0, few=0, **recalls):
        counts = DocumentCounts(documents=1000, equal_texts=0, short=short, few_tokens=few)
        recalls = {"recall_of_few": intervals.UNKNOWN, "recall_of_others": intervals.UNKNOWN} | recalls
        return [*warnings_of_short(counts, 8), *warnings_of_few(counts, max_distance=18, **recalls)]

    assert warned(few=50) == []
    assert "1 document of 1,000 (0.1%) has fewer than 8 tokens" in warned(short=1)[0]
    assert "none is known" in warned(few=51)[0]
    [line] = warned(few=2, recall_of_few=share(0.5), recall_of_others=share(0.99))
    assert "within distance 18 are 0.500" in line
    assert "0.990 [0.982, 0.995] of the others" in line


def test_a_corpus_of_short_texts_is_warned_of():
    chance = random.Random(9)
    texts = []
    for _ in range(40):
        words = chance.choices(WORDS, k=30)
        texts += [" ".join(words), " ".join(words[:-1])]
    texts += ["only four words here", "only four words there"]
    result = nd.evaluate(texts)
    assert (result.short, result.few_tokens) == (2, 82)
    assert "2 documents of 82 (2.4%) have fewer than 8 tokens" in result.warnings[0]
    assert "`method='exact'` or `method='minhash'` finds their near copies" in result.warnings[0]
    assert "82 documents of 82 (100.0%) have fewer than 50 tokens" in result.warnings[1]


# what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_recall": 0}, "`target_recall=0`: give a number above 0, up to 1"),
        ({"target_recall": 1.5}, "target_recall=1.5"),
        ({"min_precision": -0.1}, "`min_precision=-0.1`: give a number from 0 to 1"),
        ({"min_precision": True}, "`min_precision=True`: give a number from 0 to 1"),
        ({"min_precision": "0.9"}, "`min_precision='0.9'`: give a number from 0 to 1"),
        ({"sample": 0}, "`sample=0`: give an integer from 1 up"),
        ({"seed": -1}, "`seed=-1`: give an integer from 0 up"),
        ({"methods": ["auto"]}, "`methods=\\['auto'\\]`: give one of"),
        ({"min_similarity": 0}, "`min_similarity=0`: without labels"),
        ({"similarity": "cosine"}, "`similarity='cosine'`: without labels near-duplicates are looked for by jaccard"),
        ({"complete": True}, "`complete=True` is about labels, and none are given"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        nd.evaluate(TEXTS[:3], **options)


def test_a_recipe_without_a_distance_of_its_own_gets_the_one_that_is_needed():
    result = nd.evaluate(TEXTS, recipe=nd.Recipe(bits=100), methods=["simhash"])
    assert result.recipe["max_distance"] == result.recipes[0].max_distance
    assert (result.recipes[0].recipe, result.recipes[0].usual_distance) == ("the given recipe", None)
    assert result.methods[0].recall.value >= 0.99


def test_the_result_is_json_and_says_what_it_is():
    result = nd.evaluate(TEXTS)
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.as_dict()))
    assert repr(result).startswith(f"Evaluation({len(TEXTS)} documents, truth from sample, recommended: method=")


def test_ids_of_any_kind_are_found(tmp_path):
    (tmp_path / "l.csv").write_text("a,b\n0,1\n")
    assert nd.evaluate(TEXTS[:4], pairs=tmp_path / "l.csv").labeled_pairs == 1
    whole = evaluate_corpus(
        TableCorpus(TEXTS[:4]),
        recipe=nd.Recipe(),
        options=DedupOptions(),
        request=EvaluationRequest(labels=LabelFile(tmp_path / "l.csv")),
        ids=pa.array(["0", "1", "2", "3"]),
        progress=Progress(),
    )
    assert whole.labeled_pairs == 1


def test_a_label_with_a_key_that_occurs_twice_is_refused_by_its_name(tmp_path):
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"left": 0, "right": 1, "right": 2}\n')
    with pytest.raises(nd.DataError, match='the key "right" occurs 2 times'):
        nd.evaluate(["a b c", "a b c", "d e f"], pairs=labels)
