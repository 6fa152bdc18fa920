"""Names that are long or would steer a terminal, streams that are closed, records among the inputs, ids that are no text."""

import os
from pathlib import Path

import pytest
from cli_corpora import BREAD, FERRY, FERRY_EDITED, files, read_lines, write_lines

ROWS = [{"id": number, "text": text} for number, text in enumerate([FERRY, BREAD, FERRY_EDITED])]
KEPT = ROWS[:2]


@pytest.mark.parametrize("name", ["x" * 70, "x" * 200, "\N{GRINNING FACE}" * 58])
def test_long_names_are_names_as_long_as_they_are_allowed(run, name):
    write_lines("in.jsonl", ROWS)
    assert run("dedup", "in.jsonl", "-o", f"{name}.jsonl", "--quiet").code == 0
    assert read_lines(f"{name}.jsonl") == KEPT
    command = ["filter", "--create", "in.jsonl", "--index", "ix", "--max-distance", "18"]
    assert run(*command, "-o", f"{name}.passed.jsonl", "--audit", f"{name}.a.jsonl").code == 0
    assert read_lines(f"{name}.passed.jsonl") == KEPT


def test_a_name_that_is_too_long_is_refused_before_any_work(run):
    write_lines("in.jsonl", ROWS)
    refused = run("dedup", "in.jsonl", "-o", "x" * 250 + ".jsonl")
    assert (refused.code, "File name too long" in refused.err, "documents/s" in refused.err) == (2, True, False)
    assert files() == ["in.jsonl"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_closed_stream_is_no_failure_and_gets_nothing_of_another_file(start, number):
    write_lines("in.jsonl", ROWS)
    process = start("dedup", "in.jsonl", "-o", "out.jsonl", prepare=lambda: os.close(number))
    out, err = process.communicate()
    assert (process.returncode, out, err if number == 2 else b"") == (0, b"", b""), err
    assert read_lines("out.jsonl") == KEPT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("how", ["full", "nobody reads"])
@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("dedup", "in.jsonl", "-o", "out.jsonl", "--verbose"), "out.jsonl"),
        (("dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "line"), "out.jsonl"),
        (("filter", "in.jsonl", "-o", "out.jsonl", "--create", "--index", "ix"), "out.jsonl"),
        (("filter", "in.jsonl", "-o", "out.jsonl", "--create", "--store", "seen"), "out.jsonl"),
        (("fingerprint", "in.jsonl", "-o", "out.parquet"), "out.parquet"),
        (("decontaminate", "in.jsonl", "--against", "other.jsonl", "-o", "out.jsonl"), "out.jsonl"),
        (("fit", "in.jsonl", "-o", "out.parquet", "--verbose"), "out.parquet"),
        (("index", "build", "ix", "in.jsonl"), "ix"),
        (("store", "create", "seen"), "seen"),
        (("store", "add", "known", "in.jsonl", "-o", "out.jsonl", "--verbose"), "out.jsonl"),
        (("store", "remove", "known", "nobody"), "known"),
        (("verify", "ready.jsonl", "in.jsonl"), "ready.jsonl"),
        (("report", "ready.duplicates.jsonl", "-o", "report.html"), "report.html"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_standard_error_that_takes_no_more_is_no_failure(start, run, arguments, written, how):
    write_lines("in.jsonl", ROWS)
    write_lines("other.jsonl", [{"id": 1, "text": "nothing of this is in the other file, of which all is"}])
    run("dedup", "in.jsonl", "-o", "ready.jsonl")
    run("store", "create", "known")
    if how == "full":
        sink = os.open("/dev/full", os.O_WRONLY)
    else:
        reads, sink = os.pipe()
        os.close(reads)
    process = start(*arguments, stderr=sink)
    os.close(sink)
    out, _ = process.communicate()
    assert (process.returncode, b"Traceback" in out) == (0, False)
    assert Path(written).exists()


def test_errors_keep_their_codes_where_nobody_reads_them(start):
    with open("/dev/full", "wb") as full:
        process = start("dedup", "nosuch.jsonl", "-o", "out.jsonl", stderr=full)
        process.communicate()
    assert process.returncode == 2


def test_closed_standard_output_is_no_output(start):
    write_lines("in.jsonl", ROWS)
    process = start("dedup", "in.jsonl", "-o", "-", prepare=lambda: os.close(1))
    _, err = process.communicate()
    assert process.returncode == 2
    assert err == b"neardup: error: -o -: standard output is closed. Open it, or name a file.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("dedup", "-", "-o", "-"),
        ("pairs", "-", "-o", "out.jsonl"),
        ("plan", "-"),
        ("filter", "--create", "--store", "seen", "-o", "out.jsonl"),
        ("store", "add", "known", "-"),
    ],
)
def test_closed_standard_input_is_refused(start, run, arguments):
    run("store", "create", "known")
    process = start(*arguments, prepare=lambda: os.close(0))
    _, err = process.communicate()
    assert process.returncode == 2
    assert err.endswith(b"tandard input is closed. Open it, or name a file.\n"), err
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    "arguments", [("compare", "in.jsonl", "in.jsonl"), ("recipes",), ("store", "orphans", "known")]
)
def test_what_is_printed_to_closed_standard_output_goes_nowhere(start, run, arguments):
    write_lines("in.jsonl", ROWS)
    run("store", "create", "known")
    process = start(*arguments, prepare=lambda: os.close(1))
    _, err = process.communicate()
    assert (process.returncode, b"Traceback" in err) in [(0, False), (2, False)], err


def test_names_do_not_steer_the_terminal(run):
    name = "a\x1b[31m\x9bred.jsonl"
    write_lines(name, ROWS)
    told = run("dedup", name, "-o", f"out-{name}").err + run("dedup", name, "-o", f"out-{name}").err
    assert "out-a\\x1b[31m\\x9bred.jsonl" in told
    assert not {"\x1b", "\x9b"} & set(told)


def test_records_in_a_folder_are_passed_over_and_told(run):
    Path("prints").mkdir()
    Path("in.jsonl").write_text(
        '{"text": "a b c d e f g h i j k"}\nno\n{"text": "a b c d e f g h i j k"}\n', encoding="utf-8"
    )
    assert run("fingerprint", "in.jsonl", "-o", "prints/0.parquet", "--on-error", "skip").code == 0
    assert sorted(path.name for path in Path("prints").iterdir()) == ["0.parquet", "0.rejects.jsonl"]
    run("pairs", "prints", "-o", "pairs.parquet", "--max-distance", "3").ok(
        "passed over, for they are records of a run: 0.rejects.jsonl"
    )
    assert run("clusters", "pairs.parquet", "--documents", "prints", "-o", "clusters.parquet").code == 0
    run("dedup", "prints/0.rejects.jsonl", "--text", "reason", "-o", "out.jsonl").ok()  # named, they are read


def test_an_id_that_is_no_text_is_refused(run):
    write_lines("in.jsonl", [{"id": f"a{row['id']}", "text": row["text"]} for row in ROWS])
    assert run("index", "build", "ix", "in.jsonl").code == 0
    run("index", "remove", "ix", "\udcff").refused("is not UTF-8, as all ids of an index are")


def test_many_columns_are_no_attack(run):
    names = [f"c{number}" for number in range(10_000)]
    Path("wide.csv").write_text(f"{','.join(names)}\n{','.join(reversed(names))}\n", encoding="utf-8")
    assert run("dedup", "wide.csv", "--text", "c5", "-o", "out.csv").code == 0
    Path("twice.csv").write_text(f"{','.join(names)},c7\n", encoding="utf-8")
    run("dedup", "twice.csv", "--text", "c5", "-o", "other.csv").refused('has 2 columns "c7"')
