"""`neardup evaluate`: the summary, tables, JSON, plots, and what is refused."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from cli_corpora import BREAD, BRIDGE, CHAIN, CLOCK, FERRY, FERRY_EDITED, files, lines, write_lines

TEXTS = {"ferry": FERRY, "edited": FERRY_EDITED, "bread": BREAD, "clock": CLOCK, "bridge": BRIDGE}
TEXTS |= {f"chain-{place}": text for place, text in enumerate(CHAIN)}
ROWS = [{"id": name, "text": text} for name, text in TEXTS.items()]
LABELS = [
    {"a": "ferry", "b": "edited", "similarity": 0.9},
    {"a": "chain-0", "b": "chain-1", "similarity": 0.81},
    {"a": "bread", "b": "clock", "similarity": 0.0},
]


@pytest.fixture(autouse=True)
def corpus(place):
    write_lines("texts.jsonl", ROWS)
    write_lines("labels.jsonl", LABELS)


def shown_by(run, *arguments):
    """What is printed, and the same as one line for each label."""
    done = run("evaluate", "texts.jsonl", *arguments).ok()
    shown = done.out.decode()
    return shown, re.sub(r"\n {9}(?=\S)", " ", shown)


def test_the_advice_comes_first_and_what_it_rests_on_after_it(run):
    shown, told = shown_by(run, "--quiet")
    assert shown.startswith(
        "use      --method exact, --min-similarity 0.8 (the threshold as it is given)\n"
        "finds    5 pairs, all of similarity 0.8 or more: right by definition\n"
        "removes  3 of 10 documents (30.0 %)\n"
        "next     neardup dedup texts.jsonl -o deduplicated/ --method exact --min-similarity 0.8\n"
        "pairs    neardup pairs texts.jsonl -o pairs.jsonl --distinct --method exact --min-similarity 0.8\n"
        "read     10 documents\n"
        "truth    every document compared with all of other text\n"
        "         5 pairs of similarity 0.8 or more\n"
    )
    assert (
        "note     No threshold is recommended: there are no labels, so --min-similarity 0.8, as it is given, says"
        in told
    )
    assert "warning  10 documents of 10 (100.0%) have fewer than 50 tokens" in told
    assert told.endswith(
        "more     --verbose for the reasons and the tables, --json for every number; in brackets: 95 % intervals\n"
    )
    assert "Methods" not in shown
    assert files() == ["labels.jsonl", "texts.jsonl"]


def demand_80_columns(shown):
    assert len(shown.splitlines()) > 60
    assert [line for line in shown.splitlines() if len(line) > 80 and not line.startswith(("next ", "pairs "))] == []


def test_with_verbose_the_reasons_and_the_tables_follow_without_scores_of_what_is_right_by_definition(run):
    shown, told = shown_by(run, "--verbose")
    for part in (
        "why      --method exact finds every pair of this similarity, by theorem.",
        "Methods, at similarity 0.8\n",
        "Recall of methods, by similarity of the pair\n",
        "Fingerprints alone, recipe default, by Hamming distance (in use: 18)",
        "Pairs by Hamming distance, the near-duplicates, and the similarity of some",
        "Recipes: the distance that finds 0.99 of the near-duplicates, and the usual one",
        "Tried, at similarity 0.8\n",
        "Share of documents removed, by threshold of similarity",
        "[intervals]: Wilson's, 95 %",
    ):
        assert part in told
    assert told.index("warning") < told.index("why") < told.index("Methods, ") < told.index("Tried, ")
    assert "more     " not in shown
    demand_80_columns(shown)
    rows = [line.split() for line in shown.splitlines() if line.split()[:1] == ["exact"]]
    assert rows == [
        ["exact", "by", "definition", "–", "–", "5"],
        ["exact", "jaccard", "0.8", "by", "definition", "–", "–", "5"],
    ]


def test_equal_texts_are_told_of_by_what_is_equal(run):
    write_lines("texts.jsonl", [*ROWS, {"id": "again", "text": FERRY.upper()}])
    assert "\n         1 repeats an earlier one: its normalized text is equal\n" in shown_by(run, "--quiet")[0]
    write_lines("texts.jsonl", [*ROWS, *({"id": f"again-{n}", "text": FERRY} for n in range(2))])
    assert "\n         2 repeat an earlier one: their normalized texts are equal\n" in shown_by(run, "--quiet")[0]


def test_a_smaller_sample_says_so_and_is_reproducible(run):
    arguments = ("--method", "simhash", "--sample", 5, "--seed", 7, "--quiet")
    first, told = shown_by(run, *arguments)
    assert "truth    5 documents (seed 7), each compared with all of other text about" in told
    assert first == shown_by(run, *arguments)[0]
    told = shown_by(run, "--sample", 5, "--seed", 7, "--quiet")[1]
    assert "finds    every pair of similarity 0.8 or more: right by definition" in told
    assert "removes" not in told


def test_with_labels_the_summary_and_the_tables_are_about_them(run):
    write_lines("judged.jsonl", [{"a": "ferry", "b": "edited", "label": 1}, {"a": "bread", "b": "clock", "label": 0}])
    arguments = ("--pairs", "judged.jsonl", "--method", "simhash")
    shown, told = shown_by(run, *arguments, "--verbose")
    assert re.search(r"\nfinds    .* pairs?: recall 1.000 \[0.207, 1.000\], precision 1.000 \[", shown)
    assert "truth    2 labeled pairs, 1 of them near-duplicates other pairs count neither for nor against" in told
    assert "note     1 near-duplicate cannot show a recall of 0.99 with certainty" in told
    assert "unlabeled" in shown
    assert "Similarity of the texts, among the labeled pairs" in shown
    assert "Tried, each at its best threshold" in shown
    demand_80_columns(shown)
    assert "any other pair is false" in shown_by(run, *arguments, "--complete", "--quiet")[0]


def test_labels_that_state_similarities_recommend_no_threshold(run):
    _, told = shown_by(run, "--pairs", "labels.jsonl", "--quiet")
    assert "truth    3 labeled pairs, 2 of similarity 0.8 or more" in told
    write_lines("far.jsonl", [label | {"similarity": label["similarity"] * 0.9} for label in LABELS])
    _, told = shown_by(run, "--pairs", "far.jsonl", "--min-similarity", "0.7", "--quiet")
    assert "note     The labels state similarities, not judgements: --min-similarity says which of these" in told


def test_json_has_stable_names_and_is_what_the_output_file_gets(run):
    done = run(
        "evaluate",
        "texts.jsonl",
        "--pairs",
        "labels.jsonl",
        "--method",
        "simhash",
        "--json",
        "-o",
        "result.json",
        "--quiet",
    )
    result = json.loads(done.out)
    assert done.out == Path("result.json").read_bytes()
    assert set(result) == {
        "truth", "documents", "equal_texts", "short", "few_tokens", "min_similarity", "target_recall", "min_precision", "labeled_pairs",
        "labeled_positive", "complete", "judged_by", "sampled_documents", "seed", "near_duplicates", "near_duplicates_low",
        "near_duplicates_high", "with_near_duplicate", "recipe", "methods", "distances", "thresholds", "strata", "recipes",
        "trials", "removal", "similarities", "left_out", "recommendation", "warnings", "seconds", "versions",
    }  # fmt: skip
    [score] = result["methods"]
    assert set(score) == {"method", "recall", "precision", "f1", "found", "unlabeled", "bands"}
    assert set(score["recall"]) == {"value", "low", "high", "count", "of"}
    assert list(score["bands"]) == ["0.5-0.8", "0.8-0.95", "0.95-1"]
    assert [entry["max_distance"] for entry in result["distances"]] == list(range(129))
    assert set(result["recommendation"]) == {
        "reaches_target", "best", "removed", "reasons", "notes", "threshold_is_given", "by_definition", "withheld", "commands",
    }  # fmt: skip
    assert set(result["recommendation"]["best"]) == set(result["trials"][0]) == {
        "method", "similarity", "min_similarity", "recipe", "bits", "max_distance", "recall", "precision", "f1", "found",
        "unlabeled",
    }  # fmt: skip
    result = json.loads(run("evaluate", "texts.jsonl", "--json", "--quiet").out)
    assert [set(score) for score in result["removal"]] == [{"similarity", "min_similarity", "removed", "share"}] * 11
    assert [score["min_similarity"] for score in result["removal"]] == [percent / 100 for percent in range(50, 101, 5)]


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def test_on_a_terminal_the_lines_are_the_same(run, monkeypatch):
    shown = io.BytesIO()
    terminal = Terminal(shown, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "stdout", terminal)
    from neardup.cli.main import main

    main(["evaluate", "texts.jsonl", "--method", "simhash", "--verbose"])
    terminal.flush()
    drawn = shown.getvalue().decode()
    assert "Methods, at similarity 0.8" in drawn
    assert "10 documents of 10" in drawn


@pytest.mark.parametrize(("name", "head"), [("plot.png", b"\x89PNG"), ("plot.svg", b"<?xml"), ("plot.PDF", b"%PDF")])
def test_a_plot_is_drawn_in_the_format_of_its_name(run, name, head):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    arguments = ("--pairs", "labels.jsonl") if name == "plot.png" else ()
    done = run("evaluate", "texts.jsonl", *arguments, "--method", "simhash", "--plot", name, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert Path(name).read_bytes().startswith(head)
    assert f"\nplot     {name}\n" in done.out.decode()


def test_the_files_that_were_written_are_named(run):
    for verbose in ((), ("--verbose",)):
        done = run("evaluate", "texts.jsonl", "--method", "exact", "-o", "e.json", "--overwrite", *verbose).ok()
        assert "\noutput   e.json\n" in done.out.decode()


@pytest.mark.parametrize("labeled", [True, False])
def test_a_plot_has_a_panel_for_each_thing_in_the_size_of_a_column(run, monkeypatch, labeled):
    drawing = pytest.importorskip("matplotlib.figure", reason="the extra `report` is not installed")
    figures = []
    savefig = drawing.Figure.savefig
    monkeypatch.setattr(
        drawing.Figure,
        "savefig",
        lambda figure, *given, **named: (figures.append(figure), savefig(figure, *given, **named)),
    )
    arguments = ("--pairs", "labels.jsonl") if labeled else ()
    run("evaluate", "texts.jsonl", *arguments, "--plot", "plot.pdf", "--quiet").ok()
    [figure] = figures
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.axison]
    expected = [
        "Documents removed",
        "Precision and recall, labeled pairs",
        "Similarity of pairs",
        "Fingerprints alone",
        "Recall of methods",
    ]
    expected = expected if labeled else [expected[0], *expected[2:]]
    assert [title[4 : 4 + len(name)] for title, name in zip(titles, expected, strict=True)] == expected
    assert [title[:3] for title in titles] == [f"({letter})" for letter in "abcde"[: len(expected)]]
    assert (figure.get_figwidth(), figure.get_figheight()) == (6.8, 2.5 * -(-len(expected) // 2))
    sizes = {text.get_fontsize() for axes in figure.axes for text in axes.texts} | {
        figure.axes[0].xaxis.label.get_fontsize()
    }
    assert sizes <= {6.0, 8.0}
    counts = figure.axes[titles.index(next(title for title in titles if "Similarity of pairs" in title))]
    frame = counts.get_legend().get_frame()  # the line of the threshold is behind it
    assert counts.get_legend().get_frame_on()
    assert frame.get_alpha() == 1
    assert counts.get_legend().get_zorder() > max(line.get_zorder() for line in counts.lines)


def test_a_plot_without_matplotlib_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("evaluate", "texts.jsonl", "--plot", "plot.png", "--quiet")
    assert (done.code, done.out) == (2, b"")
    assert "pip install 'neardup[report]'" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot", "plot.gif"], "plot.gif: a plot is written to a file that ends in .png, .svg, .pdf."),
        (["--pairs", "none.csv"], "There is no file of labels 'none.csv'"),
        (["--complete"], "--complete is about labels"),
        (["--target-recall", "2"], "--target-recall 2.0: give a number above 0, up to 1"),
        (["--min-precision", "1.5"], "--min-precision 1.5: give a number from 0 to 1"),
        (["--min-similarity", "0"], "--min-similarity 0: without labels"),
        (["--method", "auto"], "--method auto: give one of exact, minhash, simhash."),
        (["-o", "texts.jsonl", "--overwrite"], "texts.jsonl is an input"),
        (
            ["--pairs", "labels.jsonl", "-o", "labels.jsonl", "--overwrite"],
            "labels.jsonl is the file of labels, and no run replaces what it reads",
        ),
        (["-o", "there.json"], "there.json"),
        (["--text", "body"], "body"),
    ],
)
def test_calls_that_must_change_exit_with_2(run, arguments, message):
    Path("there.json").write_text("{}")
    done = run("evaluate", "texts.jsonl", *arguments, "--quiet")
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert Path("there.json").read_text() == "{}"
    assert Path("labels.jsonl").read_bytes() == lines(LABELS)


def test_unknown_ids_are_named(run):
    write_lines("labels.jsonl", [*LABELS, {"a": "ferry", "b": "boat", "similarity": 0.5}])
    run("evaluate", "texts.jsonl", "--pairs", "labels.jsonl", "--quiet").refused(
        "labels.jsonl names 1 id that no document of the input has: 'boat'"
    )


def test_malformed_labels_are_a_failure_of_the_data(run):
    Path("labels.jsonl").write_text('{"a": "ferry"')
    run("evaluate", "texts.jsonl", "--pairs", "labels.jsonl", "--quiet").refused(
        "labels.jsonl cannot be read as jsonl", code=1
    )
