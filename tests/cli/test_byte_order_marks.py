"""Byte order marks are never part of a value: files that were joined keep theirs inside, editors write one before settings."""

from pathlib import Path

import pytest

FERRY, CLOCK, BREAD = "the ferry to the island", "a clock on the wall", "bread from the oven"
MARK = "\ufeff"
JOINED = "it begins with a byte-order mark, as where files were joined"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("kind", "row", "told"),
    [
        ("csv", f"{MARK}2,{CLOCK}\n", JOINED),
        ("csv", f'{MARK}"2","{CLOCK}"\r\n', JOINED),
        ("csv", f"{MARK}id,text\n", JOINED),
        ("csv", "id,text\n", "it repeats the header, as where files were joined"),
        ("csv", "id,text\r\n", "it repeats the header, as where files were joined"),
        ("tsv", f"{MARK}2\t{CLOCK}\n", JOINED),
        ("tsv", "id\ttext\n", "it repeats the header, as where files were joined"),
        ("jsonl", f'{MARK}{{"id": 2, "text": "{CLOCK}"}}\n', "it begins with a byte-order mark"),
    ],
)
def test_rows_of_joined_files_that_are_none_are_named(run, encoding, kind, row, told):
    separator = "\t" if kind == "tsv" else ","
    head = f"id{separator}text\n" if kind != "jsonl" else ""
    good = [
        f"{name}{separator}{text}\n" if kind != "jsonl" else f'{{"id": "{name}", "text": "{text}"}}\n'
        for name, text in (("a", FERRY), ("b", BREAD))
    ]
    Path(f"in.{kind}").write_bytes((MARK + head + good[0] + row + good[1]).encode(encoding))
    how = () if encoding == "utf-8" else ("--encoding", "utf-16")
    flags = ("--dialect", {"tsv": "\\t", "csv": ',"'}[kind]) if kind != "jsonl" else ()
    run("dedup", f"in.{kind}", "-o", f"out.{kind}", *how, *flags).refused(f"in.{kind}, row 1 ", told, code=1)
    done = run("dedup", f"in.{kind}", "-o", f"out.{kind}", *how, *flags, "--on-error", "skip")
    done.ok("kept     2 documents", "1 row could not be read")
    written = Path(f"out.{kind}").read_bytes().decode("utf-8" if encoding == "utf-8" else "utf-16").lstrip(MARK)
    assert written == head + "".join(good)


def test_a_text_that_is_called_as_its_only_column_is_a_text(run):
    Path("in.csv").write_text(f"text\n{FERRY}\ntext\n")
    run("dedup", "in.csv", "-o", "out.csv").ok("kept     2 documents")


@pytest.mark.parametrize("option", ["--recipe", "--similarity", "--config"])
def test_a_mark_before_settings_is_not_one_of_them(run, option):
    content = {
        "--recipe": "bits = 64\n",
        "--similarity": 'measure = "jaccard"\n',
        "--config": "min-similarity = 0.9\n",
    }
    Path("in.txt").write_text(FERRY)
    for mark in ("", MARK):
        Path("set.toml").write_text(mark + content[option], encoding="utf-8")
        run("dedup", "in.txt", "-o", "out/", "--overwrite", option, "set.toml").ok()
