"""The audit as Parquet: the rows of the JSON lines, with the values that were compared, for all that reads audits."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.io.storage.places import place_of
from neardup.survivors.records.audit_files import read_audit

START = "the annual general meeting of the society will be held in the town hall at noon"
ROWS = [
    {"id": "d0", "text": START, "score": 2, "kind": "a"},
    {"id": 1, "text": START + " x", "score": None, "kind": "b"},
    {"id": "d2", "text": START + " y", "score": 7.5, "kind": "a"},
    {"id": 3, "text": START.upper(), "score": 1, "kind": None},
    {"id": "d4", "text": "a text that nobody has seen before in this place", "score": 1, "kind": "a"},
]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    Path("ref.jsonl").write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")


def both(**options):
    """The lines of a run's audit as Parquet, after those as JSON lines are found equal; and the table."""
    for name, audit in (("lines", "lines.duplicates.jsonl"), ("out", "out.duplicates.parquet")):
        nd.deduplicate_files("in.jsonl", f"{name}.jsonl", audit=audit, min_similarity=0.5, overwrite=True, **options)
    found = list(read_audit(place_of("out.duplicates.parquet")))
    assert found == list(read_audit(place_of("lines.duplicates.jsonl")))
    assert Path("out.jsonl").read_bytes() == Path("lines.jsonl").read_bytes()
    return found, pq.read_table("out.duplicates.parquet")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cluster": "components"},
        {"against": "ref.jsonl"},
        {"cluster": "components", "drop_matched": True},
        {"keep": "longest", "keep_most": 2},
        {"min_similarity": 1.0},
    ],
    ids=str,
)
def test_rows_are_those_of_the_lines(options):
    options = {"min_similarity": 0.5} | options
    least = options.pop("min_similarity")
    if least == 1.0:
        Path("in.jsonl").write_text(json.dumps(ROWS[4]) + "\n", encoding="utf-8")
    lines, table = both(**options)
    assert "value" not in table.column_names
    assert len(lines) == table.num_rows
    assert nd.verify_files("out.jsonl").proven


def test_it_has_the_values_that_were_compared():
    _, table = both(keep="max:score")
    rows = {row["id"]: (row["survivor_id"], row["value"], row["survivor_value"]) for row in table.to_pylist()}
    assert rows == {"d0": ("d2", "2", "7.5"), "1": ("d2", None, "7.5"), "3": ("d2", "1", "7.5")}
    assert {row["id"]: row["id_is_string"] for row in table.to_pylist()} == {"d0": True, "1": False, "3": False}
    _, table = both(keep="min:kind")
    assert {row["value"] for row in table.to_pylist()} == {"b", "a", None}
    _, table = both(keep=len)
    assert {row["survivor_value"] for row in table.to_pylist()} == {str(len(ROWS[1]["text"]))}


def test_lines_and_stages_write_it_too():
    nd.deduplicate_units("in.jsonl", "u.jsonl", unit="line", audit="u.duplicates.parquet", min_similarity=0.5)
    nd.deduplicate_units("in.jsonl", "v.jsonl", unit="line", audit="v.duplicates.jsonl", min_similarity=0.5)
    assert list(read_audit(place_of("u.duplicates.parquet"))) == list(read_audit(place_of("v.duplicates.jsonl")))
    nd.fingerprint_files("in.jsonl", "prints.parquet")
    nd.pair_files("in.jsonl", "pairs.parquet", min_similarity=0.5)
    nd.cluster_files("pairs.parquet", "clusters.parquet", documents="prints.parquet")
    nd.apply_files("clusters.parquet", "in.jsonl", "a.jsonl", audit="a.duplicates.parquet")
    nd.apply_files("clusters.parquet", "in.jsonl", "b.jsonl")
    assert list(read_audit(place_of("a.duplicates.parquet"))) == list(read_audit(place_of("b.duplicates.jsonl")))
    assert nd.verify_files("a.jsonl").proven


def test_everything_that_reads_audits_reads_it():
    both()
    assert nd.explain("out.duplicates.parquet", "3").removed[0]["survivor_id"] == "d0"
    nd.report("out.duplicates.parquet", "page.html")
    assert len(nd.Store.build("s", "out.jsonl")) == 2
    with pytest.raises(nd.InputError, match="out.duplicates.parquet is an audit, and verified is the output"):
        nd.verify_files("out.duplicates.parquet")
    Path("folder").mkdir()
    for name in ("out.jsonl", "out.duplicates.parquet"):
        Path("folder", name).write_bytes(Path(name).read_bytes())
    assert (
        nd.deduplicate_files("folder", None, dry_run=True).summary.rows == 2
    )  # an audit is not read with the documents


def test_what_is_none_is_refused():
    with pytest.raises(
        nd.InputError,
        match=r"the audit is JSON lines or Parquet. Give a name that ends in .jsonl \(also compressed\) or .parquet, ",
    ):
        nd.deduplicate_files("in.jsonl", "out.jsonl", audit="out.txt")
    with pytest.raises(
        nd.InputError, match=r"the audit is JSON lines. Give a name that ends in .jsonl \(also compressed\), or"
    ):
        nd.decontaminate_files("in.jsonl", "clean.jsonl", against="ref.jsonl", audit="out.parquet")
    nd.fingerprint_files("in.jsonl", "prints.parquet")
    with pytest.raises(nd.DataError, match="prints.parquet cannot be read as an audit: it is another file"):
        nd.explain("prints.parquet", "d0")
    both()
    content = bytearray(Path("out.duplicates.parquet").read_bytes())
    content[len(content) // 3] ^= 1
    Path("out.duplicates.parquet").write_bytes(content)
    with pytest.raises(nd.DataError, match="out.duplicates.parquet cannot be read as an audit"):
        list(read_audit(place_of("out.duplicates.parquet")))
