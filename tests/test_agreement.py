"""`dedup` at once, the stages shard by shard, and the library agree byte for byte: every format, several thread counts."""

import csv
import gzip
import io
import itertools
import json
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import neardup
from neardup.cli.main import main

pytestmark = pytest.mark.slow

SHARDS = "abc"
THREADS = (1, 2, 4)
ADDED = ("rows", "documents", "rejected", "survivors", "duplicates", "exact_duplicates", "short", "repeated_ids")
"""Counts of all that are the sums of those of the shards."""

SAME = ("clusters", "matches", "method", "max_distance", "min_similarity", "min_tokens", "reference_documents")
"""What must be the same besides."""

COMPRESS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
NEAR = (
    {"method": "exact", "min_similarity": 0.6},
    {"method": "minhash", "min_similarity": 0.7, "keep": "longest"},
    {"method": "simhash", "max_distance": 24, "keep": "last"},
    {"method": "simhash", "min_similarity": 0.0, "max_distance": 16},
)
WORDS = [f"word{i}" for i in range(200)]
JAPANESE = (
    "古い石橋は川の上にかかり、七つの丸い穴がある。冬は雪が積もり、春は花が咲く。人々は朝早く橋を渡って市場へ行く。"
)


def texts(seed, *, newlines, empty):
    """The texts of the shards: edited, equal but for letters' case, short, empty and single ones."""
    rng = random.Random(seed)
    bases = [" ".join(rng.choices(WORDS, k=rng.randint(12, 40))) for _ in range(6)]
    bases += [
        JAPANESE,
        JAPANESE[::-1],
        'He said "no; never, not at all", and the others, all seven of them, said it again.',
    ]
    found = []
    for _ in range(48):
        words = rng.choice(bases).split(" ")
        kind = rng.random()
        if kind < 0.1:
            words = rng.choice([["See", "page", "2."], ["see", "PAGE", "2."], ["!"], [""] if empty else ["?"]])
        elif kind < 0.4:
            words[rng.randrange(len(words))] = rng.choice(["changed", "石", "Twice twice"])
        elif kind < 0.6:
            words = [word.upper() for word in words]
        elif kind < 0.75:
            words = rng.choices(WORDS, k=rng.randint(5, 30))
        found.append((rng.choice(["\n", " "]) if newlines else " ").join(words))
    cuts = [0, *sorted(rng.sample(range(8, 40), len(SHARDS) - 1)), len(found)]
    return [found[first:last] for first, last in itertools.pairwise(cuts)]


@dataclass(frozen=True)
class Inputs:
    """A corpus in files: how a part of it is named, all of it, its documents, and the flags for reading it."""

    parts: list[str]
    whole: list[str]
    rows: list[dict]
    flags: list[str]


def table(rows, kind):
    """Delimited text, with its dialect."""
    out = io.StringIO(newline="")
    dialect = {"delimiter": "\t"} if kind == "tsv" else {"delimiter": ";", "lineterminator": "\n"}
    csv.writer(out, **dialect).writerows([["id", "text"], *([row["id"], row["text"]] for row in rows)])
    return out.getvalue()


def write_corpus(kind, ending, encoding, seed):
    """The corpus in one of the formats, below `in`."""
    found = texts(seed, newlines=kind not in ("lines", "txt"), empty=kind != "lines")
    flags = (["--encoding", encoding] if encoding != "utf-8" else []) + (["--lines"] if kind == "lines" else [])
    every, parts, pack = [], [], COMPRESS[ending]
    Path("in").mkdir()
    for shard, part in zip(SHARDS, found, strict=True):
        first = len(every)
        rows = [{"id": f"d{(first + i) % 40}", "text": text} for i, text in enumerate(part)]
        name = f"in/{shard}.{'log' if kind == 'lines' else kind}{ending}"
        if kind == "txt":
            Path(f"in/{shard}").mkdir()
            rows = [{"id": f"{shard}/{i:02}.txt{ending}", "text": text} for i, text in enumerate(part)]
            for row in rows:
                Path("in", row["id"]).write_bytes(pack(row["text"].encode(encoding)))
            name = f"in/[{shard}]/*"  # ids are relative to what is before the pattern
        elif kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), name, row_group_size=7)
        elif kind == "lines":
            Path(name).write_bytes(pack("".join(row["text"] + "\n" for row in rows).encode(encoding)))
            rows = [{"id": f"{name}:{i}", "text": row["text"]} for i, row in enumerate(rows)]
        elif kind == "jsonl":
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            Path(name).write_bytes(pack(lines.encode(encoding)))
        else:
            Path(name).write_bytes(pack(table(rows, kind).encode(encoding)))
        every += rows
        parts.append(name)
    return Inputs(parts, ["in/*/*"] if kind == "txt" else parts, every, flags)


def call(*arguments):
    """Run a command, which must succeed."""
    try:
        code = main([*map(str, arguments), "--quiet"]) or 0
    except SystemExit as end:
        code = end.code
    assert code == 0, arguments


def as_flags(options):
    """Options of the library as flags."""
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]


def tree(folder):
    """The files of a folder, by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def joined(folder):
    """The audits of a folder, one after another."""
    return b"".join(content for _, content in sorted(tree(folder).items()))


def by_stages(inputs, near, keep, threads, place):
    """All stages, a shard at a time; outputs, audits and the counts of the shards."""
    Path(place).mkdir()
    numbers = range(len(inputs.parts))
    for number, part in enumerate(inputs.parts):
        call("fingerprint", part, "-o", f"{place}/{number}.parquet", "--threads", threads, *inputs.flags)
    for left, right in itertools.combinations_with_replacement(numbers, 2):
        other = ["--against", inputs.parts[right]] if left != right else []
        out = f"{place}/{left}{right}.jsonl"
        call("pairs", inputs.parts[left], *other, "-o", out, "--threads", threads, *near, *inputs.flags)
    pairs = [f"{place}/{left}{right}.jsonl" for left, right in itertools.combinations_with_replacement(numbers, 2)]
    prints = [part for number in numbers for part in ("--documents", f"{place}/{number}.parquet")]
    call("clusters", *pairs, *prints, "-o", f"{place}/clusters.parquet", *keep)
    summaries = []
    for number, part in enumerate(inputs.parts):
        audits = f"{place}/audits/{number}"
        command = (
            "apply",
            f"{place}/clusters.parquet",
            part,
            "-o",
            f"{place}/out/",
            "--threads",
            threads,
            *inputs.flags,
        )
        Path(f"{place}/audits").mkdir(exist_ok=True)
        call(*command, "--audit", f"{audits}/")
        summaries.append(json.loads(Path(f"{audits}.summary.json").read_bytes()))
        Path(f"{audits}.summary.json").unlink()
    return tree(f"{place}/out"), joined(f"{place}/audits"), summaries


CASES = [
    *((kind, ending, "utf-8") for kind in ("jsonl", "csv", "tsv", "txt", "lines") for ending in COMPRESS),
    ("parquet", "", "utf-8"),
    ("jsonl", "", "utf-16"),
    ("jsonl", ".gz", "gb18030"),
    ("csv", ".zst", "gb18030"),
    ("tsv", "", "shift_jis"),
    ("txt", "", "utf-16"),
    ("lines", ".gz", "shift_jis"),
]


@pytest.mark.parametrize(("number", "kind", "ending", "encoding"), [(i, *case) for i, case in enumerate(CASES)])
def test_dedup_at_once_stages_by_shard_and_the_library_agree(number, kind, ending, encoding, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = write_corpus(kind, ending, encoding, f"{number}")
    options = NEAR[number % len(NEAR)]
    keep = as_flags({name: value for name, value in options.items() if name == "keep"})
    near = as_flags({name: value for name, value in options.items() if name != "keep"})
    reading = {"encoding": encoding, "lines": kind == "lines"}

    call("dedup", *inputs.whole, "-o", "once/", "--audit", "once.jsonl", *near, *keep, *inputs.flags)
    output, audit = tree("once"), Path("once.jsonl").read_bytes()
    counts = json.loads(Path("once.summary.json").read_bytes())
    assert counts["duplicates"] > counts["exact_duplicates"] > 3
    assert len(output) == (counts["survivors"] if kind == "txt" else len(SHARDS))

    for threads in THREADS:
        call("dedup", *inputs.whole, "-o", f"{threads}/", "--audit", f"{threads}-audits/", "--threads", threads,
             *near, *keep, *inputs.flags)  # fmt: skip
        assert tree(f"{threads}") == output
        assert joined(f"{threads}-audits") == audit

        staged, staged_audit, parts = by_stages(inputs, near, keep, threads, f"stages{threads}")
        assert staged == output
        assert staged_audit == audit
        assert {name: sum(part[name] for part in parts) for name in ADDED} == {name: counts[name] for name in ADDED}
        of_all = pq.read_metadata(f"stages{threads}/clusters.parquet").metadata[b"neardup.clusters"]
        summary = json.loads(of_all)["summary"]
        assert {name: summary[name] for name in (*ADDED, *SAME)} == {name: counts[name] for name in (*ADDED, *SAME)}

        files = neardup.deduplicate_files(
            inputs.whole, f"lib{threads}/", audit=f"lib{threads}.jsonl", threads=threads, **options, **reading
        )
        assert tree(f"lib{threads}") == output
        assert Path(f"lib{threads}.jsonl").read_bytes() == audit
        assert {name: files.summary.as_dict()[name] for name in (*ADDED, *SAME)} == {
            name: counts[name] for name in (*ADDED, *SAME)
        }

        memory = neardup.deduplicate(inputs.rows, threads=threads, **options)
        lines = [json.loads(line) for line in audit.splitlines()]
        assert [
            {name: row[name] for name in line} for row, line in zip(memory.duplicates.to_pylist(), lines, strict=True)
        ] == lines
        removed = {line["row"] for line in lines}
        assert memory.survivors == [row for number, row in enumerate(inputs.rows) if number not in removed]
        assert {name: getattr(memory.summary, name) for name in (*ADDED, *SAME)} == {
            name: counts[name] for name in (*ADDED, *SAME)
        }
