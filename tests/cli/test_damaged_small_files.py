"""Small files that are handed over (recipes, summaries, removal logs, metadata): whatever is in them, the answer is an error in words."""

import contextlib
import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.cli.main import main
from neardup.judging.comparison import replay

ROWS = [
    {"id": n, "text": f"{text} of the garden by the river"}
    for n, text in enumerate(["a rose", "A rose!", "an old tree", "A ROSE"])
]

LONG = "1" * 10_000
CONTENTS = {
    "empty": b"",
    "no UTF-8": b"\xff\xfe\x00",
    "NUL": b"\0" * 100,
    "arrays": b"[" * 100_000,
    "closed arrays": b"[" * 100_000 + b"]" * 100_000,
    "objects": b'{"a":' * 100_000,
    "TOML arrays": b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "TOML tables": b"a = " + b"{a = " * 5_000 + b"1" + b"}" * 5_000,
    "TOML keys": b".".join([b"a"] * 5_000) + b" = 1",
    "long integer": LONG.encode(),
    "TOML long integer": b"bits = " + LONG.encode(),
    "null": b"null",
    "array": b"[]",
    "object": b"{}",
    "number": b"3",
    "NaN": b"NaN",
    "surrogate": b'{"a": "\\ud800", "b": 1}',
}


def each_integer(content, value):
    """The content, with one integer after another replaced."""
    for found in re.finditer(rb"(?<=[:\[, ])-?\d+(?=[,\]}])", content):
        yield content[: found.start()] + value + content[found.end() :]


CHANGES = {
    "half": lambda content: [content[: len(content) // 2]],
    "negative": lambda content: each_integer(content, b"-1"),
    "huge": lambda content: each_integer(content, b"1" + b"0" * 30),
    "long": lambda content: each_integer(content, LONG.encode()),
    "deep": lambda content: each_integer(content, b"[" * 50_000 + b"]" * 50_000),
    "text": lambda content: each_integer(content, b'"x"'),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        call("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0.3")
        call("fingerprint", "in.jsonl", "-o", "prints.parquet")
        call("pairs", "prints.parquet", "-o", "pairs.jsonl")
        call("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet")
        call("index", "build", "index", "in.jsonl")
    return folder


def call(*words):
    assert not main([*words, "--quiet"])


AUDIT, SUMMARY = "out.duplicates.jsonl", "out.summary.json"
READERS = {
    "recipe": ("recipe.toml", ["dedup", "in.jsonl", "-o", "new.jsonl", "--recipe", "recipe.toml"]),
    "similarity": ("same.toml", ["dedup", "in.jsonl", "-o", "new.jsonl", "--similarity", "same.toml"]),
    "config": ("neardup.toml", ["dedup", "in.jsonl", "-o", "new.jsonl", "--config", "neardup.toml"]),
    "replay": ("features.json", None),
    "labels": ("labels.jsonl", ["evaluate", "in.jsonl", "--pairs", "labels.jsonl"]),
    "summary of verify": (SUMMARY, ["verify", "out.jsonl"]),
    "summary of report": (SUMMARY, ["report", AUDIT, "-o", "report.html"]),
    "summary of explain": (SUMMARY, ["explain", AUDIT, "1"]),
    "summary of compare": (SUMMARY, ["compare", AUDIT, AUDIT]),
    "audit of verify": (AUDIT, ["verify", "out.jsonl"]),
    "audit of report": (AUDIT, ["report", AUDIT, "-o", "report.html"]),
    "audit of explain": (AUDIT, ["explain", AUDIT, "1"]),
    "summary of pairs": (
        "pairs.summary.json",
        ["clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "new.parquet"],
    ),
    "pairs": ("pairs.jsonl", ["clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "new.parquet"]),
    "manifest": ("index/manifest.json", ["index", "info", "index"]),
}


def demand_words(run, reader):
    if reader == "replay":
        with contextlib.suppress(nd.NeardupError):
            replay("features.json")
        return
    words = READERS[reader][1]
    done = run(*words, *(["--overwrite"] if "-o" in words else []))
    assert done.code in (0, 1, 2), done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("damage", [*CONTENTS, *CHANGES])
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_refused_in_words(reader, damage, made, run):
    shutil.copytree(made, ".", dirs_exist_ok=True)
    file = Path(READERS[reader][0])
    content = file.read_bytes() if file.exists() else b""
    for damaged in [CONTENTS[damage]] if damage in CONTENTS else CHANGES[damage](content):
        file.write_bytes(damaged)
        demand_words(run, reader)


PARQUET = {
    "in.parquet": ["dedup", "in.parquet", "-o", "new.parquet", "--annotate"],
    "prints.parquet": ["pairs", "prints.parquet", "-o", "new.jsonl"],
    "clusters.parquet": ["apply", "clusters.parquet", "in.jsonl", "-o", "new.jsonl"],
}


@pytest.mark.parametrize("damage", CONTENTS)
@pytest.mark.parametrize("name", PARQUET)
def test_damaged_metadata_of_parquet_is_refused_in_words(name, damage, made, run):
    shutil.copytree(made, ".", dirs_exist_ok=True)
    table = pa.Table.from_pylist(ROWS) if name == "in.parquet" else pq.read_table(made / name)
    known = table.schema.metadata or {}
    for key in [b"pandas", b"huggingface", *known]:
        pq.write_table(table.replace_schema_metadata(known | {key: CONTENTS[damage]}), name)
        done = run(*PARQUET[name], "--overwrite")
        assert done.code in (0, 1, 2), done.err
        assert "Traceback" not in done.err
