"""Texts that are nearly alike, decided while they are joined: in runs that are interrupted, and in stages on several machines."""

import itertools
from pathlib import Path

import pytest
from cli_corpora import files, write_lines

from dense_lines import dense_lines
from neardup import dedup
from neardup.jobs.removal.dedup import deduplicate_files
from neardup.matching.candidates.dense import DenseMatches

SHARDS = range(2)


class Interrupted(Exception):  # noqa: N818
    pass


@pytest.fixture
def dense_runs(monkeypatch):
    """How many times texts were held against each other; with two shards of such texts in `in/`."""
    count, made = [], DenseMatches.__init__

    def counted(self, *arguments):
        count.append(1)
        made(self, *arguments)

    monkeypatch.setattr(DenseMatches, "__init__", counted)
    lines = dense_lines(8_400, "inserted", templates=2)  # in each shard enough to be sampled
    lines[7::300] = lines[3::300]
    for shard in SHARDS:
        rows = [{"id": row, "text": text} for row, text in enumerate(lines) if row % len(SHARDS) == shard]
        write_lines(f"in/{shard}.jsonl", rows)
    return count


def contents(*names):
    return {name: Path(name).read_bytes() for name in files() if name.startswith(names)}


@pytest.mark.parametrize(
    "options",
    [
        {"method": "exact"},
        {"method": "minhash", "keep": "longest"},
        {"method": "simhash", "cluster": "components"},
        {"method": "exact", "memory": "16M", "similarity": "edit"},
    ],
    ids=str,
)
def test_an_interrupted_run_goes_on_and_gives_the_same_bytes(dense_runs, options, monkeypatch):
    options = {"min_similarity": 0.7} | options
    deduplicate_files("in", "whole/", **options)
    assert dense_runs == [1]
    held = DenseMatches.is_worthwhile

    def interrupted(*_, **__):
        raise Interrupted

    for place, name in ((DenseMatches, "is_worthwhile"), (dedup, "decide")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, interrupted)
            with pytest.raises(Interrupted):
                deduplicate_files("in", "out/", resume=True, **options)
    assert DenseMatches.is_worthwhile is held
    assert dense_runs == [1, 1, 1]
    deduplicate_files("in", "out/", resume=True, **options)
    assert dense_runs == [1, 1, 1]  # what was found is read, not found again
    found, expected = contents("out/", "out.dup"), contents("whole/", "whole.dup")
    assert [each.replace("whole", "out") for each in expected] == list(found)
    assert list(found.values()) == list(expected.values())


@pytest.mark.parametrize(
    ("near", "more"),
    [
        (("--method", "exact"), ()),
        (("--method", "minhash"), ("--keep", "longest")),
        (("--method", "simhash"), ("--cluster", "components")),
    ],
    ids=str,
)
def test_stages_on_parts_of_it_decide_as_one_run(dense_runs, run, near, more):
    near = (*near, "--min-similarity", "0.7")
    assert run("dedup", "in", "-o", "whole/", *near, *more).code == 0
    for folder in ("prints", "pairs", "kept"):
        Path(folder).mkdir()
    for shard in SHARDS:
        assert run("fingerprint", f"in/{shard}.jsonl", "-o", f"prints/{shard}.parquet").code == 0
    dense_runs.clear()
    for left, right in itertools.combinations_with_replacement(SHARDS, 2):
        other = ("--against", f"in/{right}.jsonl") if left != right else ()
        pairs = ("pairs", f"in/{left}.jsonl", *other, "-o", f"pairs/{left}-{right}.parquet", *near, "--distinct")
        assert run(*pairs).code == 0
    assert len(dense_runs) == 3
    assert run("clusters", "pairs", "--documents", "prints", "-o", "clusters.parquet", *more).code == 0
    for shard in SHARDS:
        assert run("apply", "clusters.parquet", f"in/{shard}.jsonl", "-o", f"kept/{shard}.jsonl").code == 0
        assert Path(f"kept/{shard}.jsonl").read_bytes() == Path(f"whole/{shard}.jsonl").read_bytes()
