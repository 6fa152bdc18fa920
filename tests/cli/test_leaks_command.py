"""`neardup leaks`: a list of what of the test set is in the training set, a page, and an exit code."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, FERRY_EDITED, files, read_lines, write_lines

SALT = "How many grams of salt go into the plain loaf of the village bakery?"
TRAIN = [
    {"id": "ferry", "text": FERRY},
    {"id": "quiz", "text": f"{CLOCK} Now a quiz! {SALT} {BREAD}"},
    {"id": "bridge", "text": BRIDGE},
]
TESTS = [
    {"key": 1, "question": FERRY.upper()},
    {"key": 2, "question": FERRY_EDITED},
    {"key": 3, "question": SALT},
    {"key": 4, "question": "An oak stood at the corner of the yard, and nobody knew its age."},
    {"key": 5, "question": "How many?"},
]
CALL = ("leaks", "in.jsonl", "--against", "test.jsonl", "--against-text", "question", "--against-id", "key")


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", TRAIN)
    write_lines("test.jsonl", TESTS)


def test_leaks_are_told_and_listed_with_their_places(run):
    done = run(*CALL, "-o", "leaks.jsonl")
    assert (done.code, done.out) == (0, b"")
    done.said(
        "read     3 training documents, 5 test documents",
        "leaked   3 test documents (60.0 %)",
        "exact      1 (20.0 %)",
        "near       1 (20.0 %); 2 with stronger ones",
        "contained  1 (20.0 %); 3 with stronger ones",
        "1 test document of fewer than 8 tokens: not searched for in passages",
        "output   leaks.jsonl",
    )
    assert files() == ["in.jsonl", "leaks.jsonl", "leaks.summary.json", "test.jsonl"]
    copy, edited, salt = read_lines("leaks.jsonl")
    assert copy == {
        "id": 1, "file": "test.jsonl", "row": 0, "strength": "exact", "train_id": "ferry", "train_file": "in.jsonl", "train_row": 0,
        "start": 0, "end": len(FERRY), "similarity": 1.0, "item_share": None, "item_run": None, "passage": None,
    }  # fmt: skip
    assert (edited["strength"], edited["train_id"], edited["start"]) == ("near", "ferry", None)
    assert edited["similarity"] == pytest.approx(0.904, abs=1e-3)
    text = TRAIN[1]["text"]
    assert (salt["strength"], salt["passage"], text[salt["start"] : salt["end"]]) == ("contained", SALT, SALT)
    found = json.loads(Path("leaks.summary.json").read_text())
    assert (found["leaked"], found["files"]["against"]) == (3, ["test.jsonl"])


def test_nothing_is_written_without_an_output(run):
    done = run(*CALL, "--json")
    found = json.loads(done.out)
    assert (found["leaked"], found["share"], files()) == (3, 0.6, ["in.jsonl", "test.jsonl"])
    assert [json.loads(line)["id"] for line in run(*CALL, "-o", "-", "--quiet").out.splitlines()] == [1, 2, 3]


@pytest.mark.parametrize(
    ("limit", "code"), [("0.1%", 3), ("59.9%", 3), ("60%", 0), ("0.6", 0), ("0", 3), ("1", 0), ("0.59", 3)]
)
def test_more_leaks_than_allowed_are_an_exit_code(run, limit, code):
    assert run(*CALL, "--fail-over", limit, "-o", "leaks.jsonl").code == code
    assert len(read_lines("leaks.jsonl")) == 3  # the list is there in any case


def test_several_test_files_of_other_formats_and_shards(run):
    Path("train").mkdir()
    Path("train/a.jsonl.gz").write_bytes(gzip.compress(Path("in.jsonl").read_bytes()))
    pq.write_table(pa.table({"id": ["d"], "text": [TESTS[3]["question"]]}), "train/b.parquet")
    pq.write_table(pa.table({"text": [row["question"] for row in TESTS]}), "test.parquet")
    write_lines("more.jsonl", [{"text": "Nobody has seen this text before, not even once."}])
    done = run("leaks", "train", "--against", "test.parquet", "--against", "more.jsonl", "-o", "leaks.jsonl.gz").ok()
    done.said("test.parquet: 4 of 5 (80.0 %)", "more.jsonl: 0 of 1 (0.0 %)")
    lines = [json.loads(line) for line in gzip.decompress(Path("leaks.jsonl.gz").read_bytes()).splitlines()]
    assert [(line["id"], line["train_file"], line["train_row"]) for line in lines] == [
        ("test.parquet:0", "train/a.jsonl.gz", 0),
        ("test.parquet:1", "train/a.jsonl.gz", 0),
        ("test.parquet:2", "train/a.jsonl.gz", 1),
        ("test.parquet:3", "train/b.parquet", 0),
    ]
    piped = run("leaks", "-", "--against", "test.parquet", "--json", stdin=Path("in.jsonl").read_bytes())
    assert json.loads(piped.out)["leaked"] == 3


def test_the_page_shows_them(run):
    write_lines("test.jsonl", [*TESTS, {"key": "<b>", "question": FERRY}])
    run(*CALL, "--report", "page.html").ok("report   page.html")
    page = Path("page.html").read_text()
    assert "<h1>4 of 6 test documents are in the training set</h1>" in page
    assert SALT in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_rows_that_cannot_be_read_are_counted(run):
    write_lines("in.jsonl", [*TRAIN, {"id": "none", "text": None}])
    run(*CALL).refused("row 3 (counted from 0)", code=1)
    run(*CALL, "--on-error", "skip").ok("1 row could not be read")


def test_empty_files_have_no_leaks(run):
    Path("in.jsonl").write_bytes(b"")
    run(*CALL, "--fail-over", "0", "-o", "leaks.jsonl").ok("leaked   0 test documents (0.0 %)")
    assert Path("leaks.jsonl").read_bytes() == b""
    run(*CALL).ok("warning  there are no training documents, so nothing was compared")


REFUSED = [
    (("leaks", "in.jsonl"), "Missing option '--against'"),
    (("leaks", "in.jsonl", "--against", "-"), "--against: a test set is read from files"),
    (("leaks", "in.jsonl", "--against", "in.jsonl"), "in.jsonl is given twice: all of it would be leaks"),
    (("leaks", "in.jsonl", "--against", "test.jsonl"), "--against-text"),
    ((*CALL, "-o", "out/"), "the list is one file of JSON lines"),
    ((*CALL, "-o", "out.csv"), "-o out.csv: the list is one file of JSON lines"),
    ((*CALL, "--min-similarity", "0"), "every test document would match"),
    ((*CALL, "--min-share", "2"), "give a number above 0, up to 1"),
    ((*CALL, "--fail-over", "some"), "'some' is not a share; give one such as 0.1% or 0.001"),
    ((*CALL, "--fail-over", "5"), "(did you mean 5%?)"),
    ((*CALL, "--fail-over", "500%"), "'500%' is not a share from 0 to 1"),
    ((*CALL, "-o", "-", "--json"), "--json and -o - would both write to standard output"),
    ((*CALL, "-o", "test.jsonl"), "test.jsonl"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_searched_is_refused_in_words(run, call, said):
    assert said in run(*call).refused().err
    assert files() == ["in.jsonl", "test.jsonl"]


def test_outputs_that_exist_are_not_replaced(run):
    run(*CALL, "-o", "leaks.jsonl").ok()
    run(*CALL, "-o", "leaks.jsonl").refused("exist already. Name another output, or pass --overwrite to replace them.")
    run(*CALL, "-o", "leaks.jsonl", "--overwrite").ok()
