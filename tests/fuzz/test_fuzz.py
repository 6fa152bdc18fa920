"""The fuzz itself: a short run of it, what it finds where something is wrong, and that its cases are those of their numbers."""

import dataclasses
from collections import Counter

import pytest

from fuzz import cases
from fuzz.__main__ import COUNTED, main
from fuzz.cases import Case, Document
from fuzz.comparison import compare
from fuzz.shrinking import shrunk
from marks import long
from neardup import dedup
from neardup.survivors import clusters, decisions

SEED = 7
SHORT = 25


@pytest.mark.parametrize("count", [SHORT, 80, long(600)])
def test_cases_come_out_as_they_are_defined(count):
    for number in range(count):
        assert compare(cases.draw(SEED, number)).differences == [], number


def test_a_case_is_always_the_same_and_all_kinds_are_drawn():
    assert cases.draw(SEED, 3) == cases.draw(SEED, 3) != cases.draw(SEED + 1, 3)
    drawn = [cases.draw(SEED, number) for number in range(600)]
    for name in ("way", "unit", "share", "step", "patient", "keeps_elements", "block"):
        assert len({getattr(case, name) for case in drawn}) > 1, name
    assert {case.way for case in drawn} == set(cases.WAYS)
    assert {case.kind for case in drawn} == set(cases.KINDS)
    for name, every in (("method", cases.METHODS), ("similarity", cases.SIMILARITIES), ("keep", cases.KEEPS)):
        assert {case.option(name) for case in drawn} >= set(every), name
    assert {case.options["threads"] for case in drawn} == set(range(1, 9))
    assert min(case.option("min_similarity") for case in drawn) == 0
    assert Counter(case.reference is None for case in drawn)[False] > 50
    assert Counter(case.option("within") is None for case in drawn)[False] > 50
    assert Counter(case.option("guard") is None for case in drawn)[False] > 50


CHAIN = tuple(Document(" ".join(f"w{i}" for i in range(shift, shift + 20))) for shift in (0, 3, 6, 9, 40))
OPTIONS = {"method": "exact", "min_similarity": 0.5, "threads": 1, "memory": "16M"}


def lose_a_candidate(monkeypatch):
    original = dedup.opener_of

    def opener_of(method):
        def opened(task):
            return original(method)(
                dataclasses.replace(task, options=dataclasses.replace(task.options, min_similarity=0.99))
            )

        return opened

    monkeypatch.setattr(dedup, "opener_of", opener_of)


def prefer_otherwise(monkeypatch):
    original = decisions.in_order_of_preference
    monkeypatch.setattr(dedup, "in_order_of_preference", lambda *given, **named: original(*given, **named)[::-1])


def cluster_otherwise(monkeypatch):
    monkeypatch.setitem(clusters.CLUSTERERS, "star", clusters.cluster_components)


def fail(monkeypatch):
    monkeypatch.setattr(dedup, "decide", None)


@pytest.mark.parametrize("defect", [lose_a_candidate, prefer_otherwise, cluster_otherwise, fail])
def test_a_defect_is_found_and_shown_by_a_smaller_corpus(monkeypatch, defect):
    monkeypatch.setattr("fuzz.shrinking.PATIENCE_SECONDS", 0.5)
    case = Case(CHAIN, OPTIONS)
    assert compare(case).differences == []
    defect(monkeypatch)
    assert compare(case).differences
    small = shrunk(case, lambda smaller: bool(compare(smaller).differences))
    assert compare(small).differences
    assert len(small.documents) < len(case.documents)


def test_the_loop_counts_and_tells_what_it_finds(monkeypatch, capsys, tmp_path):
    given = ["fuzz", "--seed", str(SEED), "--cases", "6", "--output", str(tmp_path / "figures.json")]
    monkeypatch.setattr("sys.argv", given)
    assert main() == 0
    assert '"cases": 6' in (tmp_path / "figures.json").read_text()
    assert set(COUNTED) <= set((tmp_path / "figures.json").read_text().split('"'))
    prefer_otherwise(monkeypatch)
    monkeypatch.setattr("sys.argv", [*given, "--stop"])
    monkeypatch.setattr("fuzz.shrinking.PATIENCE_SECONDS", 0.5)
    assert main() == 1
    told = capsys.readouterr().out
    assert f"== differs: --seed {SEED} --first" in told
    assert "smallest:" in told
