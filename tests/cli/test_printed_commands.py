"""Commands that are printed work as they stand: those of report pages and of error messages are run."""

import ast
import csv
import html
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from cli_corpora import BREAD, CHAIN, CLOCK, FERRY, FERRY_EDITED, ROWS, lines, write_lines

import neardup
from neardup.cli.main import cli

BROKEN = b"no JSON\n"
OLD = [{"id": "old", "text": FERRY + " Again."}, {"id": "clock", "text": CLOCK}]


def commands_of(page):
    """The commands of a page, as words."""
    source = Path(page).read_text(encoding="utf-8")
    codes = [html.unescape(code) for code in re.findall(r"<code>(neardup [^<]* .*?|cd .*?)</code>", source, re.DOTALL)]
    return [shlex.split(line) for code in codes for line in code.splitlines() if line.startswith("neardup ")]


def download_labels(page):
    """What the page saves when every pair is judged."""
    found = re.findall(r'data-ids="([^"]*)"', Path(page).read_text(encoding="utf-8"))
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["left_id", "right_id", "label"])
        rows.writerows([*json.loads(html.unescape(ids)), 1] for ids in found)
    return len(found)


def by_rows(**columns):
    write_lines("in.jsonl", [row | columns for row in ROWS])
    return ("in.jsonl",)


def with_broken_rows():
    Path("in.jsonl").write_bytes(BROKEN + lines(ROWS) + b'{"id": "null", "text": null}\n')
    return ("in.jsonl", "--on-error", "skip")


def with_nested_columns():
    write_lines("in.jsonl", [{"key": row["id"], "meta": {"body": row["text"]}, "title": "T"} for row in ROWS])
    return ("in.jsonl", "--text", "title", "--text", "meta.body", "--id", "key")


def of_lines():
    Path("in.txt").write_text("\n".join(row["text"] for row in ROWS), encoding="utf-16")
    return ("in.txt", "--lines", "--encoding", "utf-16")


def of_pages():
    write_lines("in.jsonl", [{"id": row["id"], "text": f"<p>{row['text']}</p>"} for row in ROWS])
    return ("in.jsonl", "--html", "whole")


def of_csv():
    rows = "".join(f"{row['id']};|{row['text']}|\n" for row in ROWS)
    Path("it's.csv").write_text("id;text\n" + rows, encoding="utf-8")
    return ("it's.csv", "--dialect", ";|", "--max-document-bytes", "1M")


def of_many_files():
    for number, row in enumerate(ROWS * 2):
        write_lines(f"in/{number}.jsonl", [row | {"id": f"{row['id']}{number}"}])
    return tuple(f"in/{number}.jsonl" for number in range(2 * len(ROWS)))


def against_texts():
    write_lines("old/a.jsonl", OLD)
    return (*by_rows(), "--against", "old")


def against_fingerprints():
    write_lines("old.jsonl", OLD)
    neardup.fingerprint_files("old.jsonl", "prints.parquet")
    return (*by_rows(), "--against", "prints.parquet", "--min-similarity", "0", "--max-distance", "20")


CORPORA = (
    by_rows, with_broken_rows, with_nested_columns, of_lines, of_pages, of_csv, of_many_files, against_texts,
    against_fingerprints,
)  # fmt: skip


@pytest.mark.parametrize("afterwards", [False, True], ids=["dedup", "report"])
@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.__name__)
def test_every_command_of_a_page_can_be_run(run, corpus, afterwards):
    endings = {of_lines: ".txt", of_csv: ".csv"}
    flags = (*corpus(), "-o", "out" + endings.get(corpus, ".jsonl"))
    if afterwards:
        assert run("dedup", *flags, "--audit", "a.duplicates.jsonl").code == 0
        assert run("report", "a.duplicates.jsonl", "-o", "page.html").code == 0
    else:
        assert run("dedup", *flags, "--report", "page.html").code == 0
    assert download_labels("page.html") >= 2
    evaluate, again = sorted(commands_of("page.html"), key=lambda words: words[1] != "evaluate")
    assert (evaluate[:2], again[:2]) == (["neardup", "evaluate"], ["neardup", "dedup"])
    done = run(*evaluate[1:], "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "labeled pairs" in done.out.decode()
    run(*again[1:], "--overwrite").ok()


def test_the_commands_of_a_page_of_a_run_in_stages_can_be_run(run):
    for name, texts in {"a": CHAIN[:3], "b": [*CHAIN[2:], FERRY], "c": [FERRY_EDITED, BREAD]}.items():
        write_lines(f"s/{name}.jsonl", [{"id": f"{name}{i}", "text": text} for i, text in enumerate(texts)])
    assert run("fingerprint", "s", "-o", "f/").code == 0
    assert run("pairs", "s", "-o", "p.parquet", "--min-similarity", "0.7", "--method", "exact").code == 0
    assert run("clusters", "p.parquet", "--documents", "f", "-o", "c.parquet").code == 0
    assert run("apply", "c.parquet", "s/b.jsonl", "s/c.jsonl", "-o", "out/", "--audit", "audits/").code == 0
    assert run("report", "audits", "-o", "page.html").code == 0
    assert download_labels("page.html") >= 2
    evaluate, again = sorted(commands_of("page.html"), key=lambda words: words[1] != "evaluate")
    assert run(*evaluate[1:], "--quiet").code == 0
    assert again[:2] == ["neardup", "apply"]
    assert run(*again[1:], "--overwrite").code == 0


def test_a_list_of_inputs_that_is_too_long_for_a_sentence_ends_in_an_ellipsis(run):
    for number in range(40):
        write_lines(f"in/{'x' * 60}{number}.jsonl", [{"id": str(number), "text": FERRY}])
    names = sorted(map(str, Path("in").iterdir()))
    assert run("dedup", *names, "-o", "out.jsonl", "--report", "page.html").code == 0
    [evaluate, _] = commands_of("page.html")
    assert evaluate == ["neardup", "evaluate", *names[:5], "…", "--pairs", "labels.csv"]


def test_evaluate_leaves_broken_rows_out_if_it_is_told_to(run):
    Path("in.jsonl").write_bytes(BROKEN + lines(ROWS) + BROKEN)
    write_lines("labels.jsonl", [{"a": "ferry", "b": "edited"}])
    run("evaluate", "in.jsonl", "--pairs", "labels.jsonl").refused("in.jsonl, row 0 (counted from 0): ", code=1)
    for labels in ((), ("--pairs", "labels.jsonl")):
        done = run("evaluate", "in.jsonl", "--on-error", "skip", "--min-similarity", "0.7", *labels, "--json")
        assert (done.code, json.loads(done.out)["documents"]) == (0, 5)
        assert "2 rows could not be read, and were left out" in done.err
    write_lines("labels.jsonl", [{"a": "None", "b": "edited"}])
    run("evaluate", "in.jsonl", "--on-error", "skip", "--pairs", "labels.jsonl").said("names 1 id that no document")


def test_commands_that_errors_print_can_be_run(run):
    write_lines("in.jsonl", [row | {"lang": "en"} for row in ROWS])
    assert run("dedup", "in.jsonl", "-o", "my out.jsonl").code == 0
    refused = run("report", "my page.html", "-o", "my out.duplicates.jsonl")
    command = re.search(r"neardup report .*", refused.err)[0]
    assert run(*shlex.split(command)[1:]).code == 0
    assert Path("my page.html").exists()
    refused = run("index", "query", "none.index", "in.jsonl")
    command = re.search(r"`neardup (index build [^`]*)`", refused.err)[1].replace("INPUT...", "in.jsonl")
    assert run(*shlex.split(command)).code == 0
    run("fingerprint", "in.jsonl", "-o", "f.parquet")
    run("pairs", "in.jsonl", "-o", "p.parquet", "--method", "exact")
    clusters = ("clusters", "p.parquet", "--documents", "f.parquet", "-o", "c.parquet", "--within", "lang")
    refused = run(*clusters)
    command = re.search(r"`neardup (fingerprint --value [^`]*)`", refused.err)[1]
    assert run(*shlex.split(command), "in.jsonl", "-o", "f.parquet", "--overwrite").code == 0
    assert run(*clusters).code == 0


def test_an_audit_that_an_error_names_instead_is_one(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    refused = run("explain", "out.jsonl", "edited")
    audit = re.search(r"Give the one beside it: (\S+)", refused.err)[1]
    assert run("explain", audit, "edited").code == 0


def told():
    """What the sources say of commands in backquotes: (file, words)."""
    for path in sorted(Path(neardup.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for words in re.findall(r"`neardup ([^`{]*)", node.value):
                    yield path.name, words.split()


def test_every_command_and_flag_that_is_told_exists():
    seen = set()
    for name, words in told():
        place = cli
        for word in words:
            if not isinstance(place, click.Group) or word == "…":
                break
            place = place.get_command(click.Context(place), word)
            assert place is not None, (name, words)
        flags = {flag for parameter in place.params for flag in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= flags, (name, words)
        seen.update(words[:1])
    assert {"dedup", "evaluate", "fingerprint", "pairs", "clusters", "apply", "filter", "index"} <= seen


SHORT = [
    {"id": f"s{n}", "text": text} for n, text in enumerate(["red green", "green red", "blue", "blue sky", "...", ""])
]
CALLS = (
    ("plan", "in.jsonl"),
    ("plan", "in.jsonl", "--min-similarity", "0.1", "--verbose"),
    ("plan", "--documents", "1000"),
    ("plan", "--documents", "1000", "--max-distance", "3"),
    ("compare", "a.txt", "b.txt"),
    ("compare", "--text", "red green", "green red", "--similarity", "jaccard(word_shingle=1)"),
    ("explain", "out.duplicates.jsonl"),
    ("explain", "out.duplicates.jsonl", "s1"),
    ("explain", "--diff", "out.duplicates.jsonl", "s0"),
    ("explain", "out.jsonl", "s0"),
    ("evaluate", "in.jsonl"),
    ("evaluate", "in.jsonl", "--verbose", "--similarity", "jaccard(word_shingle=1)"),
    ("evaluate", "in.jsonl", "--pairs", "labels.csv", "--verbose"),
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize("rows", [SHORT, ROWS], ids=["short", "long"])
def test_what_commands_about_a_corpus_print_can_be_run(run, rows, call):
    names = [row["id"] for row in rows]
    write_lines("in.jsonl", rows)
    Path("labels.csv").write_text(f"a,b,label\n{names[0]},{names[1]},1\n{names[0]},{names[2]},0\n")
    for name, row in zip("ab", rows, strict=False):
        Path(f"{name}.txt").write_text(row["text"])
    words = ["--similarity", "jaccard(word_shingle=1)"]
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", *words).code == 0
    call = [names[int(word[1:])] if re.fullmatch(r"s\d", word) else word for word in call]
    done = run(*call)
    shown = done.out.decode() + done.err
    printed = re.findall(r"^(?:next|pairs) +(neardup .*)$|`(neardup [^`]*)`", shown, re.MULTILINE)
    for command in {shlex.join(shlex.split(first or second)) for first, second in printed}:
        again = run(*shlex.split(command)[1:], *(["--overwrite"] if " -o " in command else []))
        assert again.code == 0, command
    options = " ".join(shown.split())
    for flag in re.findall(r"--similarity '[^']*'", options):
        assert run("dedup", "in.jsonl", "-o", "flag.jsonl", *shlex.split(flag), "--overwrite").code == 0, flag
    assert "Similarity(" not in shown
