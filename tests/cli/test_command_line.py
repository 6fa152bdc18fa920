"""The command line as such: help, version, what is unknown, streams that end, and no import before it is needed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_corpora import BRIDGE, FERRY, ROWS, lines, write_lines

from neardup.cli.main import COMMANDS

HEAVY = ("numba", "llvmlite", "numpy", "pyarrow", "msgspec", "zstandard")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_help_is_given_on_standard_output(run, arguments):
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(b"Usage: neardup ")
    assert b"\\b" not in done.out


def test_commands_in_a_help_are_lines_that_can_be_copied(run):
    lines = [line.strip() for line in run("completion", "--help").out.decode().splitlines()]
    assert "neardup completion bash > ~/.local/share/bash-completion/completions/neardup" in lines
    assert "neardup completion fish > ~/.config/fish/completions/neardup.fish" in lines


def test_the_help_lists_every_command(run):
    shown = run("--help").out.decode()
    assert all(f"  {name} " in shown and purpose in shown for name, purpose in COMMANDS.items())
    assert "Exit codes: 0 done; 2 something in the call must change" in " ".join(shown.split())


def test_the_version_is_told(run):
    from importlib.metadata import version

    assert run("--version").out.decode() == f"neardup {version('neardup')}\n"


def test_recipes_are_listed_with_what_they_are_for(run):
    from neardup import RECIPES

    shown = run("recipes").out.decode()
    for name, named in RECIPES.items():
        assert f"{name}  ({named.recipe.digest()})\n    {named.purpose}\n" in shown
    assert "bits=128, min_tokens=8, max_distance=18" in shown


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["quux"], "No such command 'quux'.", "Try 'neardup --help'."),
        (["dedupe"], "No such command 'dedupe'. Did you mean 'dedup'?", "Try 'neardup --help'."),
        (
            ["dedup", "--threshold", "0.8"],
            "No such option '--threshold'. Did you mean '--min-similarity'?",
            "Try 'neardup dedup --help'.",
        ),
        (
            ["dedup", "--treshold=0.8"],
            "No such option '--treshold'. Did you mean '--min-similarity'?",
            "Try 'neardup dedup --help'.",
        ),
        (
            ["dedup", "--distance", "3"],
            "No such option '--distance'. Did you mean '--max-distance'?",
            "Try 'neardup dedup --help'.",
        ),
        (
            ["dedup", "--similarty", "edit"],
            "No such option '--similarty'. Did you mean '--similarity'?",
            "Try 'neardup dedup --help'.",
        ),
        (
            ["filter", "in.jsonl", "-o", "out.jsonl", "--keep-most", "2"],
            "No such option '--keep-most': it needs all documents of a cluster, in `neardup dedup`; what answers about one document "
            "after another has answered before.",
            "Try 'neardup filter --help'.",
        ),
        (
            ["store", "build", "s", "in.jsonl", "--prefer", "best"],
            "No such option '--prefer': it orders the documents of a reference and of the inputs together, in `neardup dedup`; a store "
            "does so by its own --keep.",
            "Try 'neardup store build --help'.",
        ),
        (["--loud"], "No such option '--loud'.", "Try 'neardup --help'."),
        (["dedup", "--loud", "in.jsonl"], "No such option '--loud'.", "Try 'neardup dedup --help'."),
        (["dedup"], "Missing argument 'INPUT...'.", "Try 'neardup dedup --help'."),
        (["pairs", "in.jsonl"], "Missing option '-o'", "Try 'neardup pairs --help'."),
        (["recipes", "default"], "Got unexpected extra argument (default)", "Try 'neardup recipes --help'."),
    ],
)
def test_what_is_unknown_or_missing_in_the_call_is_told(run, arguments, message, hint):
    done = run(*arguments)
    assert (done.code, done.out) == (2, b"")
    first, *_, last = done.err.splitlines()
    assert first.startswith(f"neardup: error: {message}")
    assert last == hint


def test_without_a_command_the_help_is_shown(run):
    done = run()
    assert re.search("dedup +Remove near-duplicate documents from a corpus.", done.out.decode() + done.err)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["dedup", "--help"], ["compare", "--help"], ["recipes"], ["--version"], ["dedup", "--loud"]],
)
def test_nothing_heavy_is_imported_before_there_is_work(place, arguments):
    code = f"""
import sys, atexit
atexit.register(lambda: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr))
from neardup.cli.main import main
main({arguments})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=place.work, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_the_module_is_the_command(start):
    process = start("--version")
    out, err = process.communicate()
    assert (process.returncode, out[:8], err) == (0, b"neardup ", b"")


def test_a_process_reads_standard_input_and_writes_standard_output(start, place):
    process = start("dedup", "-", "-o", "-", "--quiet")
    out, err = process.communicate(lines(ROWS))
    assert (process.returncode, out, err) == (0, lines([ROWS[0], ROWS[2], ROWS[4]]), b"")
    assert place.leftovers() == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_seen_enough_ends_the_run_quietly(start, place, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    write_lines("in.jsonl", [{"id": i, "text": f"{i} {FERRY}" * 20} for i in range(300)])
    process = start("dedup", "in.jsonl", "-o", "-", "--audit", "audit.jsonl", "--quiet", "--min-similarity", "1")
    assert process.stdout.readline().startswith(b'{"id": 0')
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr.read() == b""
    assert place.leftovers() == []
    assert sorted(path.name for path in place.work.iterdir()) == ["in.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("flags", [["-o", "-"], ["--dry-run", "--json"]])
def test_standard_output_that_takes_no_more_is_told(start, place, flags):
    write_lines("in.jsonl", ROWS)
    with open("/dev/full", "wb") as full:
        process = start("dedup", "in.jsonl", "--quiet", *flags, stdout=full)
        _, err = process.communicate()
    assert process.returncode == 1
    assert err.decode().startswith("neardup: error: No space left on device. Make room")
    assert len(err.splitlines()) == 1
    assert place.leftovers() == []


def test_texts_are_shown_even_where_the_terminal_lacks_their_characters(start, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    out, err = start("compare", "--text", BRIDGE, FERRY).communicate()
    assert b"\\u6cb3" in out
    assert b"Traceback" not in err


def test_json_on_standard_output_is_utf_8_whatever_the_terminal(start, monkeypatch):
    write_lines("橋.jsonl", ROWS)
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    out, _ = start("dedup", "橋.jsonl", "--dry-run", "--json").communicate()
    assert json.loads(out.decode())["files"]["inputs"] == ["橋.jsonl"]


def test_memory_that_does_not_suffice_is_told(run, monkeypatch):
    from neardup.jobs.removal import dedup_steps

    def exhausted(*_, **__):
        raise MemoryError

    write_lines("in.jsonl", ROWS)
    monkeypatch.setattr(dedup_steps, "find_duplicates", exhausted)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl")
    assert (done.code, done.err) == (1, "neardup: error: out of memory; split the input, or run on a larger machine\n")


def test_a_refusal_with_standard_output_closed_is_told(start):
    process = start("dedup", "nowhere.jsonl", "-o", "out.jsonl", prepare=lambda: os.close(1))
    _, said = process.communicate()
    assert process.returncode == 2
    assert b"nowhere.jsonl" in said
    assert b"Traceback" not in said
