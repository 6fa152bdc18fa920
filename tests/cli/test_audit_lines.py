"""What is written about removals stays byte for byte: the lines of every kind of audit, and the tables of results in memory."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CHAIN, CLOCK, FERRY, FERRY_EDITED, FERRY_SHOUTED, write_lines

import neardup
from places import GOLDEN

AUDITS = GOLDEN / "audits"

ROWS = [
    {"id": 'ferry "old"\\', "text": FERRY},
    {"id": 17, "text": FERRY_EDITED},
    {"id": "石橋\u2028\t", "text": BRIDGE},
    {"text": FERRY_SHOUTED},
    *({"id": f"c{number}", "text": text} for number, text in enumerate(CHAIN)),
    {"id": "twice", "text": BRIDGE + "。"},
]
OLD = [{"id": 3, "text": CLOCK}, {"id": "known", "text": FERRY_EDITED + " Again."}]
UNITS = [
    {"id": "a", "text": f"{FERRY}\n{BREAD}"},
    {"id": "b", "text": f"{BREAD}\n---\n{CLOCK}\n{FERRY_EDITED}"},
    {"id": 7, "text": f'{FERRY_SHOUTED}\n\n{CLOCK.replace("station", "other")}\n"{BRIDGE}{BRIDGE}"'},
    {"text": f"\t{BRIDGE}{BRIDGE}!\n{CLOCK}"},
]
CLOSE = ("--min-similarity", "0.7", "--max-distance", "128")
RUNS = {
    "star": ("dedup", "in.jsonl", *CLOSE),
    "components": ("dedup", "in.jsonl", *CLOSE, "--cluster", "components"),
    "distance": ("dedup", "in.jsonl", "--min-similarity", "0"),
    "reference": ("dedup", "in.jsonl", *CLOSE, "--against", "old"),
    "reference-components": ("dedup", "in.jsonl", *CLOSE, "--against", "old", "--cluster", "components"),
    "units": ("dedup", "units.jsonl", *CLOSE, "--unit", "line"),
    "units-components": ("dedup", "units.jsonl", *CLOSE, "--unit", "line", "--cluster", "components"),
    "apply": ("apply", "star.parquet", "in.jsonl", "more.jsonl"),
    "apply-components": ("apply", "components.parquet", "in.jsonl", "more.jsonl"),
    "filter": ("filter", "--create", "--index", "seen.index", "in.jsonl", "--max-distance", 18),
}


@pytest.fixture
def corpus(run):
    """The inputs of all runs, and what `apply` needs besides."""
    write_lines("in.jsonl", ROWS)
    write_lines("more.jsonl", [{"id": "far", "text": CHAIN[2]}, {"id": 8, "text": CLOCK}])
    write_lines("old/a.jsonl", OLD[:1])
    write_lines("old/b.jsonl", OLD[1:])
    write_lines("units.jsonl", UNITS)
    run("fingerprint", "in.jsonl", "more.jsonl", "-o", "f/")
    run("pairs", "in.jsonl", "more.jsonl", "-o", "p.parquet", *CLOSE)
    for cluster in ("star", "components"):
        flags = ("p.parquet", "--documents", "f", "-o", f"{cluster}.parquet", "--cluster", cluster)
        assert run("clusters", *flags).code == 0


@pytest.mark.parametrize("name", RUNS)
def test_the_lines_of_an_audit_stay_byte_for_byte(run, corpus, stays, name):
    done = run(*RUNS[name], "-o", "out.jsonl", "--quiet")
    assert (done.code, done.err) == (0, "")
    stays(AUDITS / f"{name}.jsonl", Path("out.duplicates.jsonl").read_bytes())


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_lines_of_what_is_superseded_stay_byte_for_byte(run, corpus, stays, cluster):
    best = ("--against", "old", "--prefer", "best", "--keep", "last", "--cluster", cluster)
    run("dedup", "in.jsonl", *CLOSE, *best, "-o", "out.jsonl", "--quiet").ok()
    stays(AUDITS / f"superseded-{cluster}.jsonl", Path("out.superseded.jsonl").read_bytes())


def test_the_columns_that_annotate_adds_stay(run, corpus, stays):
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--annotate", *CLOSE)
    stays(AUDITS / "annotated.jsonl", Path("out.jsonl").read_bytes())


def described(table):
    """A table as plain values, with its types."""
    columns = {field.name: str(field.type) for field in table.schema}
    return {"types": columns, "rows": [list(row.values()) for row in table.to_pylist()]}


def tables():
    """The tables of results in memory, and of cluster files."""
    texts = [row["text"] for row in ROWS]
    named = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    options = {"min_similarity": 0.7, "max_distance": 128}
    results = {
        "star": neardup.deduplicate(texts, **options),
        "components": neardup.deduplicate(named, cluster="components", **options),
        "distance": neardup.deduplicate(named, min_similarity=0),
        "reference": neardup.deduplicate(texts, against=[row["text"] for row in OLD], **options),
    }
    found = {
        f"{name}, {kind}": described(getattr(result, kind))
        for name, result in results.items()
        for kind in ("duplicates", "clusters", "annotations")
    }
    for cluster in ("star", "components"):
        table = pq.read_table(f"{cluster}.parquet")
        found[f"{cluster}.parquet"] = described(table)
    return found


def test_tables_of_results_keep_their_columns_types_and_values(corpus, stays):
    stays(AUDITS / "tables.json", as_json(tables()).encode())


def as_json(found):
    """Tables as JSON, with a line for each row."""
    parts = []
    for name, table in found.items():
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in table["rows"])
        parts.append(f' {json.dumps(name)}: {{"types": {json.dumps(table["types"])}, "rows": [\n{rows}]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"
