"""What a person sees on a terminal: colors, lines that fit, one moving line and one summary; and nothing of it in a pipe."""

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import unicodedata
from fcntl import ioctl
from pathlib import Path

import pytest
from cli_corpora import BRIDGE, CLOCK, FERRY, FERRY_EDITED, ROWS, write_lines

from neardup.cli.shown.difference_lines import MAX_PLACES, difference_lines
from neardup.display import cut, display_width
from neardup.judging.difference import Difference, difference
from neardup.resources.progress.stage import Stage, moving_line

COLOR = re.compile(rb"\x1b\[[0-9;]*m")


@pytest.fixture
def on_terminal(place):
    """Runs `neardup` on a pseudo-terminal of so many columns; returns the exit code and all that was written to it."""

    def call(*arguments, columns=80, **environment):
        ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        known = {
            name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", *map(str, arguments)],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=place.work, start_new_session=True,
            env=known | {"TERM": "xterm-256color"} | environment,
        )  # fmt: skip
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(ours)
        return process.wait(), shown

    return call


def screen(shown):
    """The lines that stay on the screen: what a carriage return goes back to is written over."""
    lines = []
    for line in COLOR.sub(b"", shown).decode().replace("\r\n", "\n").split("\n"):
        cells = ""
        for written in line.split("\r"):
            cells = written + cells[len(written) :]
        lines.append(cells.rstrip())
    return lines


@pytest.mark.parametrize("columns", [60, 80])
def test_errors_and_proofs_are_broken_between_words_and_commands_stay_whole(on_terminal, columns):
    def words_of(lines):
        return " ".join(" ".join(lines).split())

    write_lines("in.jsonl", ROWS)
    _, shown = on_terminal("dedup", "in.jsonl", "-o", "out.jsonl", "--text", "contents", columns=columns)
    lines = screen(shown)
    assert all(len(line) < columns for line in lines)
    assert "Name the one that is meant with --text." in words_of(lines)
    on_terminal("dedup", "in.jsonl", "-o", "out.jsonl", columns=columns)
    _, shown = on_terminal("explain", "out.duplicates.jsonl", columns=columns)
    assert re.search(rb"`neardup explain out.duplicates.jsonl [^`\r\n]+`", shown)
    code, shown = on_terminal("verify", "out.jsonl", columns=columns)
    lines = screen(shown)
    assert code == 0
    assert all(len(line) < columns for line in lines)
    assert "every document is in the output or in the audit, once, unchanged and in order ok" in words_of(lines)
    assert lines[1].startswith(" " * lines[0].index("every"))


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_run_ends_with_one_summary_that_fits(on_terminal, columns):
    rows = [*ROWS, *({"id": f"none{i}", "text": ""} for i in range(3))]
    write_lines("语料库/笔记.jsonl", rows)
    code, shown = on_terminal("dedup", "语料库", "-o", "去重后", columns=columns)
    lines = screen(shown)
    assert code == 0
    assert [line.split()[0] for line in lines if line[:1].strip()] == [
        "read", "kept", "removed", "note", "output", "audit", "next",
    ]  # fmt: skip
    whole = [line for line in lines if line.startswith(("output", "audit", "next"))]
    assert whole[0] == "output   去重后/"
    assert all(display_width(line) < columns for line in lines if line not in whole)
    assert b"\x1b[32m\x1b[1mkept" in shown


def test_stages_are_shown_where_they_are_asked_for(on_terminal):
    write_lines("in.jsonl", ROWS)
    _, shown = on_terminal("dedup", "in.jsonl", "-o", "out.jsonl", "--verbose")
    lines = screen(shown)
    together = " ".join(map(str.strip, lines))  # what is wider than the screen goes on in the next line
    assert re.search(r"neardup: fingerprint: [\d.]+ s, 5 documents, [^:]*/s of the files neardup: ", together)
    assert all(len(line) < 80 for line in lines if line.startswith("neardup: "))
    assert any(line.startswith("method   exact: ") for line in lines)


@pytest.mark.parametrize(
    ("environment", "is_colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False)],
)
def test_help_errors_and_summaries_are_in_color_on_a_terminal(on_terminal, environment, is_colored):
    write_lines("in.jsonl", ROWS)
    for arguments, code in (
        (["dedup", "--help"], 0),
        (["--help"], 0),
        (["store", "add", "-h"], 0),
        ([], 2),
        (["dedup", "gone.jsonl", "-o", "out.jsonl"], 2),
        (["dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite"], 0),
    ):
        ended, shown = on_terminal(*arguments, **environment)
        assert (ended, COLOR.search(shown) is not None) == (code, is_colored), arguments


def test_a_pipe_gets_no_color_and_no_moving_line_unless_it_is_forced(run, monkeypatch):
    write_lines("in.jsonl", ROWS)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    calls = (["dedup", "--help"], ["dedup", "gone.jsonl", "-o", "a.jsonl"], ["dedup", "in.jsonl", "-o", "b.jsonl"])
    for arguments in calls:
        done = run(*arguments)
        assert "\x1b" not in done.out.decode() + done.err
        assert "\r" not in done.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    for arguments in (*calls[:2], [*calls[2], "--overwrite"]):
        done = run(*arguments)
        assert "\x1b[" in done.out.decode() + done.err


@pytest.mark.parametrize("columns", range(1, 130, 7))
@pytest.mark.parametrize("total", [None, 0, 1_234_567])
def test_the_moving_line_fits_every_width(columns, total):
    stage = Stage("fingerprint", total, began=0.0, documents=617_283, read_bytes=5_000_000)
    line = moving_line(stage, 100.0, columns)
    assert len(line) <= columns
    assert "fingerprint".startswith(line[: len("fingerprint")].strip())


def test_the_moving_line_leaves_out_first_what_matters_least():
    stage = Stage("count", 400, began=0.0, documents=100)
    whole = "count   25 %  [=====>              ]  about 30 s left  100 documents  10/s"
    assert moving_line(stage, 10.0, 79) == whole
    assert moving_line(stage, 10.0, 59) == "count   25 %  [=====>              ]  about 30 s left"
    assert moving_line(stage, 10.0, 30) == "count   25 %  about 30 s left"
    assert moving_line(stage, 10.0, 20) == "count   25 %"
    assert moving_line(stage, 10.0, 4) == "coun"


def test_width_is_counted_in_columns():
    assert [display_width(text) for text in ("abc", "图书馆", "ｱ", "e\u0301", "Ａ")] == [3, 6, 1, 1, 2]
    assert (cut("图书馆", 5), cut("图书馆", 6), cut("e\u0301e", 1)) == ("图书", "图书馆", "e\u0301")


def test_differences_are_marked_in_words(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    shown = run("explain", "--diff", "out.duplicates.jsonl", "edited").out.decode()
    assert '[-only in "edited"-]  {+only in its survivor, "ferry"+}\n' in shown
    here, there = (re.findall(r"[\w']+", text) for text in (FERRY_EDITED, FERRY))
    for opening, words, others in (("[-", here, there), ("{+", there, here)):
        alone = [word for word in words if word.casefold() not in {each.casefold() for each in others}]
        assert alone
        assert f"{opening}{alone[0]}" in shown
    equal = run("explain", "--diff", "out.duplicates.jsonl", "shouted").out.decode()
    assert "no word differs: the texts are equal but for case, width, punctuation or space" in equal
    kept = run("explain", "--diff", "out.duplicates.jsonl", "ferry").out.decode()
    assert '"ferry" and the nearest, "shouted":\n  no word differs' in kept
    kept = run("explain", "--diff", "out.duplicates.jsonl", "bread").out.decode()
    assert '{+only in the nearest, "' in kept


def test_an_exact_duplicate_has_no_marks_to_explain(run):
    write_lines("in.jsonl", [*ROWS, {"id": "again", "text": FERRY}])
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    for name, told in (
        ("again", "the texts are the same, character by character"),
        ("shouted", "no word differs: the texts are equal but for case, width, punctuation or space"),
    ):
        shown = run("explain", "--diff", "out.duplicates.jsonl", name).out.decode()
        assert shown.endswith(f'  cluster   0\n\n"{name}" and its survivor, "ferry":\n  {told}\n')
        assert "[-" not in shown


@pytest.mark.parametrize("places", [1, 2, 3])
def test_some_of_the_places_are_shown_and_the_others_counted(places):
    first, second = "a x b c y d z e f", "a 1 b c 2 d 3 e f"
    found = Difference.of("a", "b", (first, second))
    shown = re.sub(r"\x1b\[\d+m", "", "\n".join(difference_lines(found, 80, places=places)))
    assert [each in shown for each in ("[-x-] {+1+}", "[-y-] {+2+}", "[-z-] {+3+}")] == [n < places for n in range(3)]
    assert ("… and" in shown) == (places < 3)


def test_differences_need_texts_that_are_as_they_were(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    run("dedup", "in.jsonl", "-o", "lines.jsonl", "--unit", "line")
    write_lines("in.jsonl", ROWS[::-1])
    run("explain", "--diff", "out.duplicates.jsonl", "edited").refused(
        "--diff: the texts are needed. The inputs are not what they were"
    )
    run("explain", "--diff", "lines.duplicates.jsonl", "shouted").refused("--diff: the run removed lines or paragraphs")


def test_differences_to_a_reference_are_shown(run):
    write_lines("old.jsonl", [{"id": "old", "text": FERRY}])
    write_lines("in.jsonl", [{"id": "new", "text": FERRY_EDITED}])
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old.jsonl")
    assert '{+only in its survivor, "old"+}' in run("explain", "--diff", "out.duplicates.jsonl", "new").out.decode()


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (FERRY, FERRY_EDITED),
        (BRIDGE, BRIDGE.replace("桥", "路") + CLOCK),
        ("word " * 500, "another " * 300),
        (" ".join(f"w{i} {'x' * (i % 9)}" for i in range(400)), " ".join(f"w{i} {'y' * (i % 9)}" for i in range(400))),
        ("", FERRY),
        ("\x1b[2J evil", "good"),
    ],
)
def test_differences_fit_the_width_and_show_no_control_characters(first, second, width):
    found = Difference.of("a", "b", (first, second))
    lines = list(difference_lines(found, width))
    assert all(display_width(re.sub(r"\x1b\[\d+m", "", line)) <= width for line in lines)
    assert all(unicodedata.category(each) != "Cc" for line in lines for each in re.sub(r"\x1b\[\d+m", "", line))
    assert (found.places > MAX_PLACES) == any("more place" in line for line in lines)


def test_a_difference_gives_back_both_texts():
    for first, second in ((FERRY, FERRY_EDITED), (BRIDGE, "图书馆" + BRIDGE[5:]), ("a b a b c", "b a c a"), ("", "x")):
        pieces = difference(first, second)
        assert "".join(word for each in pieces if each.kind != "second" for word in each.words) == first
        words = [re.sub(r"\W", "", word).casefold() for each in pieces if each.kind != "first" for word in each.words]
        assert "".join(words) == re.sub(r"\W", "", second).casefold()


def test_a_dry_run_says_that_nothing_was_written_and_annotation_that_rows_are_marked(run):
    write_lines("in.jsonl", ROWS)
    write_lines("bench.jsonl", [{"text": CLOCK}])
    for arguments in (
        ["dedup"],
        ["dedup", "--unit", "line"],
        ["passages"],
        ["decontaminate", "--against", "bench.jsonl"],
    ):
        assert "note     a dry run: nothing was written\n" in run(*arguments, "in.jsonl", "--dry-run").err
    for arguments in (["dedup"], ["decontaminate", "--against", "bench.jsonl"]):
        marked = run(*arguments, "in.jsonl", "-o", f"{arguments[0]}.jsonl", "--annotate").err
        assert re.search("^marked   ", marked, re.MULTILINE)
        assert "removed" not in marked


COMMANDS = (
    ["dedup", "in", "-o", "one"],
    ["dedup", "in", "-o", "two", "--unit", "line"],
    ["fingerprint", "in", "-o", "prints.parquet"],
    ["index", "build", "ix", "in"],
    ["clusters", "prints.pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet"],
    ["filter", "--create", "--store", "seen", "in", "-o", "fresh.jsonl"],
    ["filter", "--create", "--index", "filtered", "in", "-o", "other.jsonl"],
)


def test_every_next_command_runs(run):
    write_lines("in/a.jsonl", ROWS)
    others = (CLOCK, BRIDGE, FERRY + " More.")
    write_lines("in/b.jsonl", [{"id": f"b{i}", "text": text} for i, text in enumerate(others)])
    told = []
    for arguments in COMMANDS:
        done = run(*arguments).ok()
        [following] = re.findall(r"^next +neardup (.*)$", done.err, re.MULTILINE)
        run(*following.split()).ok()
        told.append(following.split()[0])
    assert told == ["explain", "explain", "pairs", "index", "apply", "store", "index"]
    assert "next" not in run("dedup", "in", "-o", "-").err
    assert Path("deduplicated").is_dir()
