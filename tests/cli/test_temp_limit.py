"""Temporary files take no more than their limit: a run that needs more is refused in words, and leaves nothing behind."""

import json
import os
import re
import shutil
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from neardup.resources.temporary_files import TemporaryFiles

DOCUMENTS = 30_000
LITTLE, ENOUGH = 10_000, "500M"
SAID = r"--temp-limit 10000 allows [\d.,]+ K?i?B\. Give a larger --temp-limit,"
DEDUP = ["dedup", "in.jsonl", "-o", "out.jsonl", "--memory", "16M"]
COMMANDS = {
    "exact": [*DEDUP, "--method", "exact"],
    "minhash": [*DEDUP, "--method", "minhash"],
    "simhash": [*DEDUP, "--method", "simhash"],
    "auto": [*DEDUP, "--cluster", "components"],
    "edit": [*DEDUP, "--similarity", "edit"],
    "resumable": [*DEDUP, "--resume"],
    "lines": [*DEDUP, "--unit", "line"],
    "standard input": ["dedup", "-", "-o", "out.jsonl"],
    "pairs": ["pairs", "in.jsonl", "-o", "pairs.jsonl", "--memory", "16M"],
    "fit": ["fit", "in.jsonl", "-o", "counts.parquet", "--memory", "16M"],
    "decontaminate": ["decontaminate", "in.jsonl", "--against", "items.jsonl", "-o", "out.jsonl"],
    "passages": ["passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "9", "--memory", "16M"],
    "fingerprint": ["fingerprint", "-", "-o", "prints.parquet"],
    "index": ["index", "build", "made.index", "-"],
    "store": ["store", "add", "made.store", "-", "-o", "new.jsonl"],
    "evaluate": ["evaluate", "in.jsonl", "-o", "report.json", "--memory", "16M"],
}
"""Commands that write temporary files, each beyond its memory or from standard input."""


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Many short documents, some of them equal or nearly so."""
    path = tmp_path_factory.mktemp("documents") / "in.jsonl"
    words = np.random.default_rng(0).integers(0, 1 << 20, (DOCUMENTS, 10))
    words[9::10] = words[8::10]
    words[4::10, :9] = words[3::10, :9]
    lines = [json.dumps({"id": row, "text": " ".join(map(hex, some))}) for row, some in enumerate(words.tolist())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def contents(folder):
    """What lies in a folder, but for times and the place of the folder."""
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return {name: data for name, data in found.items() if not name.endswith((".summary.json", "report.json"))}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_needs_more_is_refused_and_leaves_nothing(run, documents, name):
    shutil.copy(documents, "in.jsonl")
    shutil.copy(documents, "items.jsonl")
    if name == "store":
        assert run("store", "create", "made.store").code == 0
    given = documents.read_bytes() if "-" in COMMANDS[name] else b""
    Path("scratch").mkdir()
    before = sorted(os.listdir())
    done = run(*COMMANDS[name], "--temp-dir", "scratch", "--quiet", "--temp-limit", str(LITTLE), stdin=given)
    assert done.code == 2
    assert re.search(SAID, done.err), done.err
    assert os.listdir("scratch") == []
    kept = (
        ["out.resume"] if "--resume" in COMMANDS[name] else []
    )  # which the same call with a larger limit goes on from
    assert sorted(os.listdir()) == sorted([*before, *kept])


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash", "auto"])
def test_enough_gives_the_same_bytes_as_no_limit(run, documents, method):
    shutil.copy(documents, "in.jsonl")
    found = []
    for limit in ([], ["--temp-limit", ENOUGH]):
        assert run(*DEDUP, "--method", method, "--overwrite", *limit).code == 0
        found.append(contents(Path()))
    assert found[0] == found[1]
    summary = json.loads(Path("out.summary.json").read_text(encoding="utf-8"))
    assert 0 < summary["peak_temporary_bytes"] <= summary["temporary_limit_bytes"] == 500 << 20
    assert summary["options"]["temp_limit"] == ENOUGH


@pytest.mark.parametrize(
    "command",
    [
        ["filter", "in.jsonl", "-o", "new.jsonl", "--store", "a.store", "--create"],
        ["filter", "-", "-o", "new.jsonl", "--store", "a.store", "--create"],
        ["filter", "-", "-o", "new.jsonl", "--index", "a.index", "--create"],
        ["clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet"],
    ],
    ids=" ".join,
)
def test_commands_without_the_option_write_no_temporary_files(run, documents, monkeypatch, command):
    lines = documents.read_bytes().splitlines(keepends=True)[:3000]
    Path("in.jsonl").write_bytes(b"".join(lines))
    assert run("fingerprint", "in.jsonl", "-o", "prints.parquet").code == 0
    assert run("pairs", "in.jsonl", "-o", "pairs.parquet").code == 0
    refused = run(*command, "--temp-limit", "1G")
    assert (refused.code, "No such option" in refused.err) == (2, True)

    def beside_outputs(make, *arguments, dir=None, **options):  # noqa: A002 - the name in tempfile
        assert dir is not None, "a temporary file is made"
        return make(*arguments, dir=dir, **options)

    for name in ("TemporaryFile", "NamedTemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp"):
        monkeypatch.setattr(tempfile, name, partial(beside_outputs, getattr(tempfile, name)))
    monkeypatch.setattr(TemporaryFiles, "add", lambda *_: pytest.fail("a temporary file is counted"))
    done = run(*command, stdin=b"".join(lines) if "-" in command else b"")
    assert done.code == 0, done.err


@pytest.mark.parametrize("given", ["0", "-1", "much", "1.5"])
def test_a_limit_that_is_no_size_is_refused(run, given):
    run("dedup", "in.jsonl", "-o", "out.jsonl", f"--temp-limit={given}").refused(
        f"--temp-limit {given}: give bytes as a number or as 512M or 4G."
    )
