"""Every runner gives the same survivors, clusters and audit as `neardup dedup`, on every corpus, by every method."""

import functools
import itertools
import json
import math
import os
import re
from collections import Counter

import pytest

import naive
import neardup
import postgres_server
from agreement import corpora, layouts
from agreement.layouts import COMPRESS, Layout
from agreement.runners import COUNTS, ONLY_DIGITS, QUICK, RUNNERS, Case

SIMILARITIES = ("jaccard", "weighted", "containment", "cosine", "edit")
FOUND = [
    *({"method": "exact", "similarity": similarity, "min_similarity": 0.6} for similarity in SIMILARITIES),
    {"method": "minhash", "min_similarity": 0.7},
    {"method": "simhash", "max_distance": 24},
    {"method": "simhash", "min_similarity": 0.0, "max_distance": 16},
    {"method": "auto"},
]
CLUSTERED = [{}, {"cluster": "components"}]
CHOSEN = [{"keep": "longest"}, {"keep": "last"}, {"keep": "shortest", "within": "language"}, {"within": "language"}]
SECOND = {"recipe": "all-scripts"}
FEW = ("one", "no document", "huge")
"""Corpora in which few documents are near-duplicates."""
LAYOUTS = [
    *(Layout(kind, ending) for kind in ("jsonl", "csv", "tsv", "txt", "lines") for ending in COMPRESS),
    Layout("parquet"),
    Layout("jsonl", "", "utf-16"),
    Layout("jsonl", ".gz", "gb18030"),
    Layout("csv", ".zst", "gb18030"),
    Layout("tsv", "", "shift_jis"),
    Layout("txt", "", "utf-16"),
    Layout("lines", ".gz", "shift_jis"),
]


@functools.cache
def corpus(name):
    return corpora.make(name)


def cases():
    """All cases: corpora by methods and clusters, choices of survivors, and formats; those of `make test` first."""
    for name in corpora.NAMES:
        more = SECOND if name == "spaceless" else {}
        for found, clustered in itertools.product(FOUND, CLUSTERED[:1] if name in FEW else CLUSTERED):
            yield Case(corpus(name), found | clustered | more)
    for name, chosen, clustered in itertools.product(("mixture", "reference"), CHOSEN, CLUSTERED):
        for found in (FOUND[0], FOUND[5], FOUND[6]):
            yield Case(corpus(name), found | clustered | chosen)
    for number, layout in enumerate(LAYOUTS):
        keep = ({}, {"keep": "longest"}, {"keep": "last"})[number % 3]
        yield Case(corpus("mixture"), FOUND[(0, 5, 6, 7)[number % 4]] | keep, layout)


def title(case):
    words = [case.corpus.name, *(str(value) for value in case.options.values())]
    return " ".join([*words, str(case.layout)] if case.layout != Layout() else words)


CASES = list(cases())


_DIGITS = rf'"{ONLY_DIGITS}": (?:true|false|null)'.encode()


def is_quick(case):
    """One set of options for each corpus, and every method on one corpus of each version."""
    clustered, more = CLUSTERED[case.corpus.name == "chains"], SECOND if case.version == 2 else {}
    usual = case.options == FOUND[0] | clustered | more and not case.corpus.is_huge
    every = case.corpus.name in ("reference", "spaceless") and case.options in [each | more for each in FOUND]
    return case.layout == Layout() and (usual or every)


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=0, abs_tol=1e-12)
    return type(a) is type(b) and a == b


def compare(name, case, expected, found):
    """Refuse every difference between the outcomes of a runner and of the first one."""
    open_columns = RUNNERS[name].leaves_open(case)
    assert found.removed == expected.removed, name
    assert found.counts.keys() >= {"documents", "survivors", "duplicates"}, name
    assert found.counts == {each: expected.counts[each] for each in found.counts}, name
    assert len(found.audit) == len(expected.audit), name
    for ours, theirs in zip(expected.audit, found.audit, strict=True):
        columns = ours.keys() - set(open_columns)
        assert columns <= theirs.keys(), name
        differing = {each: (ours[each], theirs[each]) for each in columns if not same(ours[each], theirs[each])}
        assert not differing, (name, ours["row"])
    if found.output is not None:
        assert found.output == expected.output, name
        ours, theirs = (re.sub(_DIGITS, b"", each.audit_bytes) for each in (expected, found))
        assert set(open_columns) - {ONLY_DIGITS} or ours == theirs, name


def run_in_its_folder(name, case, place):
    """Run a runner in a folder of its own, in which the files have the same names as for the others."""
    place.mkdir()
    os.chdir(place)
    files = layouts.write(case.corpus, case.layout)
    return RUNNERS[name].run(case, files)


def check(case, names, place):
    first, *others = names
    expected = run_in_its_folder(first, case, place / first)
    audit = json.loads(neardup.verify_files("kept/", audit="audit.jsonl").to_json())
    assert audit["proven"], [check for check in audit["checks"] if check["failures"]]
    assert set(expected.counts) == set(COUNTS)
    assert case.options != FOUND[0] or len(expected.removed) > 3 or case.corpus.name in FEW
    for name in others:
        if RUNNERS[name].cannot(case) is None:
            compare(name, case, expected, run_in_its_folder(name, case, place / name))


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", [case for case in CASES if is_quick(case)], ids=title)
def test_some_runners_agree(case, tmp_path):
    check(case, QUICK, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=title)
def test_all_runners_agree(case, tmp_path):
    check(case, RUNNERS, tmp_path)


CANNOT = {
    ("rows in memory", "ids in memory are of one kind"): 18,
    ("table in memory", "ids in memory are of one kind"): 18,
    ("stages", "stages have no reference"): 42,
    ("stages at once", "stages have no reference"): 42,
    ("store", "a store has no reference"): 42,
    ("store", "a store has one method"): 23,
    ("store", "a store keeps the first of a star"): 118,
    ("store in PostgreSQL", "a store has no reference"): 42,
    ("store in PostgreSQL", "a store has one method"): 23,
    ("store in PostgreSQL", "a store keeps the first of a star"): 118,
    ("service", "a store has no reference"): 42,
    ("service", "a store has one method"): 23,
    ("service", "a store keeps the first of a star"): 118,
    ("serial engine", "an engine does not choose a method"): 25,
    ("divided engine", "an engine does not choose a method"): 25,
    ("definition", "the definition compares huge texts for hours"): 9,
    ("definition", "what minhash misses is not defined by texts alone"): 46,
}


def test_what_a_runner_cannot_take_is_counted():
    """Of all cases; a new refusal, or one that is gone, is seen here."""
    missing = (None, postgres_server.why_not())
    reasons = ((name, runner.cannot(case)) for name, runner in RUNNERS.items() for case in CASES)
    assert Counter(reason for reason in reasons if reason[1] not in missing) == CANNOT


def test_what_the_library_cannot_take_is_refused_by_it():
    rows = corpus("ids of both kinds").rows
    with pytest.raises(neardup.DataError, match="The ids are not all of one kind"):
        neardup.deduplicate(rows, id="id")


def test_corpora_have_their_traps():
    texts = {name: [row["text"] for row in corpus(name).rows] for name in corpora.NAMES}
    assert len(set(texts["equal texts"])) < len(texts["equal texts"])
    sets = [(naive.normalize(text), set(naive.shingle_counts(text))) for text in texts["equal sets"]]
    assert any(a != b and of_a == of_b for (a, of_a), (b, of_b) in itertools.combinations(sets, 2))
    chained = [
        len(neardup.deduplicate(texts["chains"], min_similarity=0.6, cluster=each).survivors)
        for each in ("components", "star")
    ]
    assert chained == [2, 6]
    assert {0, 1, 2, 3} <= {len(naive.tokens(text)) for text in texts["short"]}
    assert {len(naive.tokens(text)) for text in texts["empty"]} == {0}
    assert all(any(letter in text for text in texts["scripts"]) for letter in "桥橋はtالद🌉다")
    assert {row["language"] for row in corpus("mixture").rows} == {"en", "de", None}
    assert any(len(row["text"]) > 500_000 for row in corpus("huge").rows)
    ids = [row["id"] for row in corpus("repeated ids").rows]
    assert len(set(ids)) < len(ids)
    assert {type(row["id"]) for row in corpus("ids of both kinds").rows} == {int, str}
    assert corpus("reference").reference
    assert not corpus("no document").rows
