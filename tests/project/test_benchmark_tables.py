"""The pages' tables and figures are what the result files say; the command that runs all benchmarks goes on, and says what is missing."""

import json
import re
import sys

import numpy as np
import pytest

from places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import cells
import comparison
import figures
import judging
import peer_contenders
import tables
import tables_of_capacity
import tables_of_speed
import tables_of_tools
from contender import Interpreters
from contests import Contest, contend


def contested(seconds, memory, recall, precision):
    return {
        "seconds": seconds,
        "processor_seconds": seconds,
        "peak_memory_mb": memory,
        "pairs": {"true": 10, "found": 10, "recall": recall, "precision": precision},
    }


def script(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def test_the_tables_and_figures_of_the_pages_are_what_the_results_say():
    assert tables.stale() == [], "run: python benchmarks/tables.py"


def test_every_table_has_its_place_on_a_page():
    placed = {name for page in tables.pages() for _, name, _ in tables.MARKED.findall(page.read_text(encoding="utf-8"))}
    assert placed == {*tables.TABLES, *tables.SHORT, *tables.DECLARED, "comparison"}


def test_every_named_figure_is_in_its_result_file():
    written = {name: tables.figure_of(name, tables.RESULTS) for name in figures.FIGURES}
    assert [name for name, text in written.items() if not re.match(r"−?\d", text)] == []


def test_every_named_figure_is_used_on_a_page():
    texts = [page.read_text(encoding="utf-8") for page in tables.pages()]
    used = {name for text in texts for _, name, _ in figures.MARKED.findall(text)}
    assert set(figures.FIGURES) - used == set()


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.name)
def test_every_figure_on_a_page_is_marked_as_markdown_can_hide_it(page):
    text = page.read_text(encoding="utf-8")
    marked = len(figures.MARKED.findall(text))
    opened, closed = (len(re.findall(rf"(?<!`)<!-- {name}", text)) for name in ("figure", "/figure"))
    assert (opened, closed) == (marked, marked), "a marker is not closed in its line"
    first = re.findall(r"^[\s>*+-]*(?:\d+\. +)?<!-- /?figure.*", text, re.MULTILINE)
    assert first == [], "a comment that begins a line is a block of its own"


def test_a_figure_is_written_anew_and_the_sentence_around_it_stays():
    page = "It took <!-- figure million-exact-seconds -->1<!-- /figure --> s, and <!-- figure true-pairs -->2<!-- /figure --> pairs."
    seconds, pairs = (tables.figure_of(name, tables.RESULTS) for name in ("million-exact-seconds", "true-pairs"))
    assert (
        re.sub(r"<!--.*?-->", "", tables.rewritten(page, tables.RESULTS)) == f"It took {seconds} s, and {pairs} pairs."
    )


def test_a_figure_of_an_unknown_name_is_an_error_and_one_without_results_says_so(tmp_path):
    with pytest.raises(KeyError, match="nothing"):
        tables.rewritten("<!-- figure nothing -->1<!-- /figure -->", tmp_path)
    page = tables.rewritten("took <!-- figure million-exact-seconds -->1<!-- /figure --> s", tmp_path)
    assert page == "took <!-- figure million-exact-seconds -->(not measured)<!-- /figure --> s"


def grown(seconds, *, slope):
    """Results of the exact join at two sizes."""
    of = {method: {"seconds": seconds} for method in ("exact", "minhash", "simhash")}
    growth = {method: {"seconds": {"all steps": slope, "last two": slope}} for method in of}
    machine = {"machine": {"processors": 2}}
    return {"500,000 documents": of, "1,000,000 documents": of, "growth": growth, "environment": machine}


def test_a_run_is_extrapolated_by_its_growth_and_never_as_less_than_linear():
    factor = tables_of_speed.LARGE_RUN["documents"] / 1e6
    for slope, used in ((0.9, 1), (1, 1), (1.5, 1.5)):
        text = tables_of_speed.extrapolation(grown(60, slope=slope))
        assert f"| neardup `exact`, extrapolated | 60 | {used} | {factor**used:,.0f} | 2 |" in text
    alone = {name: value for name, value in grown(60, slope=1).items() if name != "500,000 documents"}
    assert tables_of_speed.extrapolation(alone) == "Of one size nothing can be told about growth."


def test_capacity_counts_the_bytes_of_what_is_kept_and_the_time_of_all_that_comes():
    check = {"new": {"median": 40.0, "p99": 90.0}, "copies": {"median": 50.0, "p99": 80.0}}
    of = {"bytes": {"record": 600, "rows": 200}, "kept": 4, "documents_a_second": 20_000.0, "check": check}
    contenders = {"contenders": {"neardup exact": of, "neardup minhash": of, "other": {}}}
    written = tables_of_capacity.capacity_of_a_document({"pieces": contenders, "short": contenders})
    assert written.count("\n") == 5
    assert "| 3 KB | `exact` | 4 | 200 | 50 | 50 | 90 |" in written
    stop = {
        "bytes": {"record": 2e9}, "anonymous_mb": 173, "file_backed_mb": 410, "check": check, "open_seconds": 0.0036,
    }  # fmt: skip
    methods = {"exact": {"stops": {"1000000": stop}}, "exact, durable later": {"stops": {"1000000": stop}}}
    written = tables_of_capacity.capacity_of_a_store({"methods": methods})
    assert written.count("\n") == 2
    assert "| `exact` | 1,000,000 | 2 | 173 | 410 | 50 | 90 | 0.0036 |" in written


def test_a_marker_of_an_unknown_table_is_an_error(tmp_path):
    with pytest.raises(KeyError, match="nothing"):
        tables.rewritten("<!-- table nothing -->\n<!-- end -->", tmp_path)


def test_without_results_a_table_says_how_to_get_them(tmp_path):
    page = tables.rewritten("before\n<!-- table soak -->\nold\n<!-- end -->\nafter", tmp_path)
    assert page == (
        "before\n<!-- table soak -->\n\n*No results yet: `python benchmarks/soak.py`.*\n\n<!-- end -->\nafter"
    )
    assert tables.rewritten(page, tmp_path) == page


def test_the_best_of_a_column_is_bold_and_a_peer_that_has_it_is_named():
    rows = [
        ("neardup", [(2.0, "2"), (1.0, "1")]),
        ("other", [(1.0, "1 s"), (1.0, "1")]),
        ("third", [(None, ""), (0.5, "0.5")]),
    ]
    written = cells.ranked(["", "seconds", "recall"], rows, (-1, 1))
    assert "| other | **1 s** | **1** |" in written
    assert "| neardup | 2 | **1** |" in written
    assert written.endswith("Peers win: seconds (other).")


def test_a_share_below_one_is_never_written_as_one():
    assert [cells.share(value) for value in (1.0, 0.999997, 0.9967, 0.5, None)] == ["1", "0.999997", "0.997", "0.5", ""]


def test_a_percentage_below_a_hundred_is_never_written_as_one():
    assert [cells.percent(value) for value in (1.0, 0.999997, 0.9972, 0.409, 0.0551)] == [
        "100", "99.9997", "99.7", "40.9", "5.51",
    ]  # fmt: skip


def test_numbers_have_three_digits_and_commas():
    assert [cells.number(value) for value in (953.4, 1853, 0.0325, 12.34, None)] == [
        "953", "1,850", "0.0325", "12.3", "",
    ]  # fmt: skip


def test_the_comparison_says_what_a_peer_is_better_in():
    record = {
        "documents": 100,
        "results": {
            "neardup exact, pairs": contested(2.0, 900, 1.0, 1.0),
            "quick": contested(1.0, 950, 0.5, 1.0),
            "small": contested(3.0, 100, 0.5, 1.0),
            "absent": {"skipped": "not installed"},
        },
    }
    written = tables_of_tools.comparison({"dedup_peers": record})
    assert "quick: **faster** |" in written
    assert "small: **less memory** |" in written
    assert "absent" not in written


def test_what_did_not_run_is_named_with_its_reason():
    record = {
        "results": {
            "neardup exact, pairs": contested(2.0, 900, 1.0, 1.0),
            "a": {"skipped": "no model"},
            "b": {"skipped": "no model"},
        }
    }
    assert tables_of_tools.dedup_peers(record).endswith("a, b skipped: no model")


def test_of_results_without_their_texts_the_table_says_so():
    assert tables_of_tools.recipes({"skipped": ["laws: no folder"]}) == "skipped: laws: no folder"


def test_pairs_clusters_and_flags_are_judged_by_the_true_pairs():
    truth = np.array([0 * 5 + 1, 2 * 5 + 3])
    listed = judging.judge({"left": np.array([0, 0]), "right": np.array([1, 4])}, truth, 5)
    assert listed["pairs"] == {"true": 2, "found": 2, "recall": 0.5, "precision": 0.5}
    assert listed["survivors"]["removed with a similar survivor"] == 0.5
    clustered = judging.judge({"cluster": np.array([7, 7, 8, 8, 9])}, truth, 5)
    assert clustered["pairs"] == {"true": 2, "found": 2, "recall": 1.0, "precision": 1.0}
    flagged = judging.judge({"removed": np.array([False, True, False, False, True])}, truth, 5)
    assert flagged["survivors"] == {"removed": 2, "true pairs settled": 0.5, "removed with a similar survivor": 0.5}


def test_of_a_contender_that_says_what_it_removes_that_counts_and_not_the_first_of_its_clusters():
    found = {"cluster": np.array([1, 1, 2]), "removed": np.array([True, False, False])}
    assert judging.removed_by(found, 3).tolist() == [True, False, False]


def test_chinese_shingles_are_runs_of_characters_without_punctuation():
    assert peer_contenders.character_shingles("石桥，建于 明代。") == {"石桥建于明", "桥建于明代"}
    assert peer_contenders.character_shingles("石桥") == {"石桥"}


def test_a_contender_runs_in_a_process_of_its_own_and_one_that_cannot_says_why(tmp_path):
    text = "the night ferry to the islands leaves at ten past nine from the old customs pier"
    file = tmp_path / "documents.jsonl"
    file.write_text(
        "".join(json.dumps({"text": each}) + "\n" for each in (text, text + " today", "a")), encoding="utf-8"
    )
    contest = Contest(file, "english", 120, 2, Interpreters(sys.executable, sys.executable))
    [(record, found)] = contend(["neardup exact, pairs"], contest).values()
    assert record["rounds"] == 2
    assert record["min"] <= record["seconds"] <= record["max"]
    assert record["processor_seconds"] > 0, "imports count, too"
    assert (found["left"].tolist(), found["right"].tolist()) == ([0], [1])
    python = script(tmp_path, "python", "raise SystemExit('no such thing')")
    (tmp_path / "interpreter").write_text(f"#!/bin/sh\nexec {' '.join(python)}\n", encoding="utf-8")
    (tmp_path / "interpreter").chmod(0o755)
    lacking = Contest(file, "english", 120, 1, Interpreters(str(tmp_path / "interpreter"), sys.executable))
    assert contend(["text-dedup minhash"], lacking) == {"text-dedup minhash": ({"skipped": "no such thing"}, None)}


def test_every_benchmark_is_run_and_takes_the_options_that_it_is_given():
    programs = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if '"--quick"' in path.read_text(encoding="utf-8")
    }
    shared = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if "arguments(" in path.read_text(encoding="utf-8")
    }
    steps = {step.name for step in comparison.STEPS}
    assert steps <= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert programs - steps == {"measure", "comparison", "start"}  # `make bench-start`: it installs what it measures
    assert steps <= programs | shared
    for step in comparison.STEPS:
        text = (ROOT / "benchmarks" / f"{step.name}.py").read_text(encoding="utf-8")
        assert ("--folder" in step.takes) == ('"--folder"' in text)
        assert ("--datatrove" in step.takes) == ("add_interpreters" in text)


def test_a_benchmark_is_done_skipped_or_failed(tmp_path):
    output = tmp_path / "out.json"
    ways = {
        "done": f"open({str(output)!r}, 'w').write('{{}}')",
        "skipped": "print('skipped: no corpus')",
        "failed": "raise SystemExit('what is wrong')",
    }
    for state, text in ways.items():
        outcome = comparison.run("one", script(tmp_path, f"{state}.py", text), output, 60)
        assert outcome.state == state
    assert outcome.reason == "what is wrong"
    slow = comparison.run("slow", script(tmp_path, "slow.py", "import time; time.sleep(60)"), output, 0.2)
    assert (slow.state, slow.reason) == ("failed", "not done after 0.2 s")


def test_what_a_result_leaves_out_is_found_with_its_place(tmp_path):
    record = {
        "skipped": ["no texts"],
        "results": {"peer": {"failed": "broken"}, "other": {"seconds": 1}},
        "sets": [{"stopped": "late"}],
    }
    assert list(comparison.left_out(record)) == [
        "a part skipped: no texts",
        "results, peer failed: broken",
        "a part stopped: late",
    ]
    (tmp_path / "one.json").write_text(json.dumps(record), encoding="utf-8")
    outcomes = [comparison.Outcome("one", "done", "", 3.0), comparison.Outcome("two", "failed", "why", 1.0)]
    written = comparison.report(outcomes, tmp_path)
    assert written.startswith("one: done, 3 s\n  a part skipped: no texts\n")
    assert written.endswith("two: failed, 1 s why")
