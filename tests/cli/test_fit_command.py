"""`neardup fit`: the file that it writes, and recipes that use it."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, FERRY, ROWS, files, write_lines

import neardup

TFIDF = 'weights = "tfidf"\ndocument_frequencies = "df.parquet"\nbits = 64\nmax_distance = 8\n'


def test_a_corpus_is_counted_and_its_recipe_makes_fingerprints(run):
    write_lines("in.jsonl", ROWS)
    done = run("fit", "in.jsonl", "-o", "df.parquet")
    found = neardup.fit([row["text"] for row in ROWS], "library.parquet")
    assert (done.code, done.out) == (0, b"")
    assert f"read     5 documents\ncounted  {found.features} features\noutput   df.parquet" in done.err
    assert Path("df.parquet").read_bytes() == Path("library.parquet").read_bytes()
    Path("mine.toml").write_text(TFIDF)
    assert run("fingerprint", "in.jsonl", "-o", "out.parquet", "--recipe", "mine.toml").code == 0
    recipe = neardup.Recipe(weights="tfidf", document_frequencies=found, bits=64, max_distance=8)
    expected = neardup.fingerprint([row["text"] for row in ROWS], recipe=recipe)
    assert pq.read_table("out.parquet").column("fingerprint").to_pylist() == expected.tolist()
    assert run("dedup", "in.jsonl", "-o", "kept.jsonl", "--recipe", "mine.toml", "--similarity", "cosine").code == 0


def test_shards_are_merged_and_documents_are_added_later(run):
    write_lines("in.jsonl", ROWS)
    for number, row in enumerate(ROWS):
        write_lines(f"in/{number}.jsonl", [row])
    run("fit", "in.jsonl", "-o", "whole.parquet")
    run("fit", "in/0.jsonl", "in/1.jsonl", "-o", "a.parquet")
    run("fit", "in/2.jsonl", "-o", "b.parquet")
    assert run("fit", "--merge", "a.parquet", "--merge", "b.parquet", "-o", "ab.parquet").code == 0
    assert run("fit", "in/3.jsonl", "in/4.jsonl", "--merge", "ab.parquet", "-o", "ab.parquet", "--overwrite").code == 0
    assert Path("ab.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_rows_that_cannot_be_read_are_set_aside_and_not_counted(run):
    Path("in.jsonl").write_text('{"text": "red green"}\n{"text": 3}\n{"text": "red"}\n', encoding="utf-8")
    done = run("fit", "in.jsonl", "-o", "df.parquet", "--on-error", "skip")
    done.said("read     2 documents\ncounted  2 features", "1 row could not be read: df.rejects.jsonl")
    assert files() == ["df.parquet", "df.rejects.jsonl", "in.jsonl"]


def test_columns_and_lines_are_read_as_everywhere(run):
    write_lines("in.jsonl", [{"body": FERRY}, {"body": BREAD}])
    run("fit", "in.jsonl", "-o", "a.parquet", "--text", "body")
    Path("in.txt").write_text(f"{FERRY}\n\n{BREAD}\n", encoding="utf-8")
    assert run("fit", "in.txt", "-o", "b.parquet", "--lines", "--quiet").err == ""
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "df.parquet"], 2, "Give texts to count, or files of document frequencies to merge."),
        (["in.jsonl", "-o", "df"], 2, "df: document frequencies are Parquet. Give a name that ends in .parquet."),
        (["in.jsonl", "-o", "old.parquet"], 2, "old.parquet exists already."),
        (["none.jsonl", "-o", "df.parquet"], 2, "none.jsonl"),
        (["in.jsonl", "-o", "df.parquet", "--merge", "old.parquet"], 1, "old.parquet cannot be read as a file of"),
        (["in.jsonl", "-o", "df.parquet", "--merge", "none.parquet"], 2, "There is no file 'none.parquet'"),
        (["in.jsonl", "-o", "df.parquet", "--merge", "two.parquet"], 2, "word_shingle: 2 there, 1 here"),
        (["in.jsonl", "-o", "df.parquet", "--recipe", "mine.toml"], 2, "There is no file 'df.parquet'"),
        (["in.jsonl", "-o", "in.jsonl/df.parquet"], 2, "df.parquet"),
    ],
)
def test_what_cannot_be_is_refused(run, arguments, code, message):
    write_lines("in.jsonl", [{"text": BRIDGE}])
    Path("old.parquet").write_text("old")
    Path("mine.toml").write_text(TFIDF)
    neardup.fit([FERRY], "two.parquet", recipe=neardup.Recipe(word_shingle=2))
    before = files()
    done = run("fit", *arguments)
    assert done.code == code
    assert message in done.err
    assert files() == before
