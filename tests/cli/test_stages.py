"""`fingerprint`, `pairs`, `clusters` and `apply` one after another give what `dedup` gives at once, byte for byte."""

import gzip
import itertools
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import neardup
from corpora import (
    BREAD,
    BRIDGE,
    CHAIN,
    CLOCK,
    FERRY,
    FERRY_EDITED,
    FERRY_SHOUTED,
    lines,
    read_lines,
)

SHARDS = 4
COUNTS = (
    "rows",
    "documents",
    "rejected",
    "survivors",
    "duplicates",
    "exact_duplicates",
    "clusters",
    "short",
    "repeated_ids",
    "method",
    "max_distance",
    "min_similarity",
    "min_tokens",
)


def edited(rng, text):
    """The text with a word or two replaced, removed or repeated."""
    words = text.split(" ")
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(words)) if words else 0
        words[place : place + 1] = rng.choice([["changed"], [], words[place : place + 1] * 2])
    return " ".join(words)


def corpus(seed, documents=120):
    """Rows of several shards: equal and edited texts, short and empty ones, repeated ids, ids of both kinds."""
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(400)]
    bases = [FERRY, FERRY_EDITED, FERRY_SHOUTED, BREAD, CLOCK, BRIDGE, *CHAIN]
    bases += [" ".join(rng.choices(vocabulary, k=rng.randint(12, 50))) for _ in range(8)]
    rows = []
    for number in range(documents):
        kind = rng.random()
        if kind < 0.1:
            text = rng.choice(["", "See page 2.", "see page 2", "!", "one two three four"])
        elif kind < 0.35:
            text = rng.choice(bases)
        elif kind < 0.8:
            text = edited(rng, rng.choice(bases))
        else:
            text = " ".join(rng.choices(vocabulary, k=rng.randint(5, 40)))
        name = rng.randrange(documents // 2) if rng.random() < 0.1 else number
        rows.append(
            {"id": f"d{name}", "text": text, "score": rng.randrange(9), "language": rng.choice(["en", "de", None])}
        )
    cuts = [0, *sorted(rng.sample(range(1, documents), SHARDS - 1)), documents]
    return [rows[first:last] for first, last in itertools.pairwise(cuts)]


def write_shards(shards, kind):
    """The shards below `in`, in one of the formats; their names in order."""
    names = []
    for number, rows in enumerate(shards):
        path = Path(f"in/{'ab'[number % 2]}{number}.{kind}")
        path.parent.mkdir(exist_ok=True)
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            compress = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.zst": zstandard.compress}[kind]
            path.write_bytes(compress(lines(rows)))
        names.append(str(path))
    return sorted(names)


def outputs(folder):
    """What lies in a folder, by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def by_stages(
    run, names, *, near, decide, parts, pairs_as="parquet", distinct=False, apply_parts=None, more=(), threads=1
):
    """Run all stages: fingerprints by part, pairs within each part and between any two, clusters, apply by part; audit last."""
    prints = []
    for number, part in enumerate(parts):
        prints.append(f"prints/{number}.parquet")
        Path("prints").mkdir(exist_ok=True)
        Path("pairs").mkdir(exist_ok=True)
        done = run("fingerprint", *part, "-o", prints[-1], "--threads", threads, *more)
        assert done.code == 0, done.err
    found = []
    flags = [
        *near,
        "--threads",
        threads,
        *(["--distinct"] if distinct else []),
        *(more if "--on-error" in more else []),
    ]
    flags = [flag for flag in flags if flag != "--value"]
    for a, b in itertools.combinations_with_replacement(range(len(parts)), 2):
        found.append(f"pairs/{a}-{b}.{pairs_as}")
        other = [option for name in parts[b] for option in ("--against", name)] if a != b else []
        done = run("pairs", *parts[a], *other, "-o", found[-1], *flags)
        assert done.code == 0, done.err
    named = [option for name in prints for option in ("--documents", name)]
    done = run("clusters", *found, *named, "-o", "clusters.parquet", *decide)
    assert done.code == 0, done.err
    for number, part in enumerate(apply_parts or [names]):
        done = run("apply", "clusters.parquet", *part, "-o", "staged/", "--audit", f"audit{number}.jsonl")
        assert done.code == 0, done.err


METHODS = {
    "exact": ("--method", "exact"),
    "exact-low": ("--method", "exact", "--min-similarity", "0.5"),
    "minhash": ("--method", "minhash", "--min-similarity", "0.7"),
    "simhash": ("--method", "simhash"),
    "by-distance": ("--method", "simhash", "--min-similarity", "0", "--max-distance", "40"),
    "weighted": ("--method", "exact", "--similarity", "weighted", "--min-similarity", "0.6"),
    "containment": ("--method", "exact", "--similarity", "containment"),
    "cosine": ("--method", "exact", "--similarity", "cosine", "--min-similarity", "0.7"),
    "edit": ("--method", "exact", "--similarity", "edit", "--min-similarity", "0.6"),
}


@pytest.mark.parametrize(
    ("method", "kind", "keep", "threads", "distinct", "pairs_as", "split"),
    [
        ("exact", "jsonl", "first", 1, False, "parquet", [1, 1, 1, 1]),
        ("exact", "parquet", "longest", 3, True, "jsonl", [2, 2]),
        ("exact-low", "jsonl.gz", "last", 1, True, "jsonl.gz", [1, 3]),
        ("minhash", "jsonl.zst", "shortest", 3, False, "jsonl.zst", [1, 1, 2]),
        ("minhash", "parquet", "last", 1, True, "parquet", [1, 1, 1, 1]),
        ("simhash", "jsonl", "longest", 3, True, "parquet", [3, 1]),
        ("simhash", "jsonl.zst", "first", 1, False, "jsonl", [4]),
        ("by-distance", "parquet", "shortest", 1, False, "parquet", [1, 2, 1]),
        ("by-distance", "jsonl.gz", "last", 3, True, "jsonl", [2, 2]),
        ("weighted", "jsonl", "last", 1, True, "parquet", [2, 2]),
        ("containment", "jsonl", "longest", 1, False, "parquet", [2, 2]),
        ("cosine", "jsonl", "last", 1, False, "parquet", [2, 2]),
        ("edit", "jsonl", "shortest", 1, True, "parquet", [2, 2]),
    ],
)
def test_stages_by_shard_give_what_dedup_gives_at_once(run, method, kind, keep, threads, distinct, pairs_as, split):
    shards = corpus(f"{method} {kind} {keep}")
    names = write_shards(shards, kind)
    near = METHODS[method]
    done = run("dedup", *names, "-o", "whole/", "--audit", "whole.jsonl", *near, "--keep", keep, "--threads", threads)
    assert done.code == 0, done.err
    ends = list(itertools.accumulate(split))
    parts = [names[end - size : end] for end, size in zip(ends, split, strict=True)]
    by_stages(
        run,
        names,
        near=near,
        decide=("--keep", keep),
        parts=parts,
        pairs_as=pairs_as,
        distinct=distinct,
        threads=threads,
    )
    assert outputs("staged") == outputs("whole")
    assert Path("audit0.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    once, staged = (json.loads(Path(name).read_bytes()) for name in ("whole.summary.json", "audit0.summary.json"))
    assert {name: staged[name] for name in COUNTS} == {name: once[name] for name in COUNTS}
    assert staged["matches"] == once["matches"]
    assert once["duplicates"] > 20
    assert once["short"] > 0
    texts = [row for name in names for row in shards[int(name[4])]]
    options = dict(zip([flag[2:].replace("-", "_") for flag in near[::2]], map(number, near[1::2]), strict=True))
    library = neardup.deduplicate(texts, keep=keep, threads=threads, **options)
    audit = read_lines("audit0.jsonl")
    kept = ["id", "row", "survivor_id", "survivor_row", "cluster_id", "similarity", "distance", "exact"]
    assert audit == [{name: line[name] for name in kept} for line in library.duplicates.to_pylist()]


def number(text):
    """A flag's value as Python takes it."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text
