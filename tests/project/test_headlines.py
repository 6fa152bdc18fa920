"""`make bench-quick` names each headline figure that is worse than at the last commit measured on the same machine."""

import json
import sys

import pytest

from places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import headlines
import measure

JOIN, QUERIES = headlines.HEADLINES[3:5]


def results(folder, join, queries):
    """Result files in which two of the headline figures were measured."""
    (folder / "hamming_join.json").write_text(
        json.dumps({"side_by_side": {"uniform": {"times_as_long_as_prototype": join}}})
    )
    (folder / "hamming_index.json").write_text(json.dumps({"uniform": {"k=3": {"times_the_fastest_faiss": queries}}}))


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Measures a commit, and returns what is said of it."""

    def run(commit, join, queries, *, changed=False, machine="one"):
        results(tmp_path, join, queries)
        state = {"date": "2026-11-26", "machine": {"processor": machine}, "commit": commit}
        monkeypatch.setattr(measure, "environment", lambda: state | {"uncommitted_changes": changed})
        return headlines.compared(tmp_path, tmp_path / "history.json")

    return run


def test_a_loss_is_named_whether_more_or_less_of_a_figure_is_better(measured):
    assert measured("a" * 40, 0.5, 6.0) == ["headline figures: no other commit was measured on this machine"]
    assert measured("b" * 40, 0.52, 5.8)[0].startswith(
        "headline figures: none worse by more than 5 % since commit aaaaaaaa"
    )
    worse = measured("c" * 40, 0.6, 5.0)
    assert worse == [
        f"WORSE since commit bbbbbbbb (2026-11-26): {JOIN.title}: 0.6, was 0.52 (15% worse)",
        f"WORSE since commit bbbbbbbb (2026-11-26): {QUERIES.title}: 5, was 5.8 (16% worse)",
    ]


def test_a_commit_measured_again_is_compared_with_the_one_before(measured):
    measured("a" * 40, 0.5, 6.0)
    measured("b" * 40, 0.9, 6.0)
    assert "aaaaaaaa" in measured("b" * 40, 0.9, 6.0)[0]


def test_uncommitted_changes_are_compared_but_not_kept(measured):
    measured("a" * 40, 0.5, 6.0)
    assert "WORSE" in measured("b" * 40, 0.9, 6.0, changed=True)[0]
    assert "none worse" in measured("c" * 40, 0.5, 6.0)[0]


def test_other_machines_are_not_compared_with(measured):
    measured("a" * 40, 0.5, 6.0)
    assert measured("b" * 40, 0.9, 6.0, machine="another")[0].endswith("no other commit was measured on this machine")


def test_every_headline_is_in_its_committed_result_file():
    assert set(headlines.figures_of(measure.RESULTS)) == {headline.title for headline in headlines.HEADLINES}
