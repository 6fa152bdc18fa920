"""Conversion by the output's ending: what is written, what is changed and said, and what is refused."""

import datetime
import decimal
import gzip
import json
import math

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from warc_made import members, response

import neardup as nd
from neardup.errors import DataError, InputError

TEXTS = [
    f"The ferry number {i} leaves the old harbor at noon and returns with the mail of {i * 7} islands."
    for i in range(4)
]


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix in (".arrow", ".feather"):
        return feather.read_table(path).to_pylist()
    if path.suffix == ".arrows":
        return pa.ipc.open_stream(path).read_all().to_pylist()
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


ROWS = [
    {"id": i, "text": text, "meta": {"lang": "en", "tags": ["a", "b"][:i]}, "score": i / 2}
    for i, text in enumerate(TEXTS)
]
REPEATED = [*ROWS, ROWS[1] | {"id": 9}]
TARGETS = ["o.jsonl", "o.jsonl.gz", "o.parquet", "o.arrow", "o.feather", "o.arrows"]


def write(folder, name, rows):
    path = folder / name
    table = pa.Table.from_pylist(rows)
    if name.endswith("jsonl"):
        return jsonl(path, rows)
    if name.endswith("parquet"):
        pq.write_table(table, path)
    elif name.endswith("arrow"):
        feather.write_feather(table, str(path))
    return path


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", ["in.jsonl", "in.parquet", "in.arrow"])
def test_rows_are_the_same_in_every_format(tmp_path, source, target):
    path = write(tmp_path, source, REPEATED)
    for _ in range(2):
        found = nd.deduplicate_files(path, tmp_path / target, resume=True)
    assert found.summary.duplicates == 1
    assert rows_of(tmp_path / target) == ROWS
    assert nd.verify_files(tmp_path / target).proven


@pytest.mark.parametrize("target", ["o.jsonl", "o.parquet"])
def test_values_of_tables_are_strings(tmp_path, target):
    (tmp_path / "in.csv").write_text('id;text;n\n1;"a ""quoted"" word";\n2;another text;007\n')
    nd.deduplicate_files(tmp_path / "in.csv", tmp_path / target)
    assert rows_of(tmp_path / target) == [
        {"id": "1", "text": 'a "quoted" word', "n": ""},
        {"id": "2", "text": "another text", "n": "007"},
    ]


def test_text_files_become_rows(tmp_path):
    for i, text in enumerate([*TEXTS[:2], TEXTS[0]]):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{i}.txt").write_text(text)
    nd.deduplicate_files(tmp_path / "in", tmp_path / "o.jsonl")
    assert rows_of(tmp_path / "o.jsonl") == [{"id": f"{i}.txt", "text": TEXTS[i]} for i in range(2)]
    assert nd.verify_files(tmp_path / "o.jsonl").proven


@pytest.mark.parametrize("source", ["in.jsonl", "in.parquet"])
def test_columns_and_their_types_do_not_depend_on_what_stays(tmp_path, source):
    path = write(tmp_path, source, ROWS)
    for name, rows in (("some", ROWS[:2]), ("all", ROWS)):
        nd.deduplicate_files(path, tmp_path / f"{name}.arrow", against=write(tmp_path, f"{name}.jsonl", rows))
    some, all_of_them = (feather.read_table(tmp_path / f"{name}.arrow") for name in ("some", "all"))
    assert (some.num_rows, all_of_them.num_rows) == (2, 0)
    assert some.schema.equals(all_of_them.schema)
    assert some.schema.names == ["id", "text", "meta", "score"]


def test_html_files_become_their_texts(tmp_path):
    (tmp_path / "in").mkdir()
    for i, text in enumerate(TEXTS[:2]):
        (tmp_path / "in" / f"{i}.html").write_text(f"<p>{text}</p>")
    nd.deduplicate_files(tmp_path / "in", tmp_path / "o.jsonl", html="whole")
    assert rows_of(tmp_path / "o.jsonl") == [{"id": f"{i}.html", "text": TEXTS[i]} for i in range(2)]
    assert nd.verify_files(tmp_path / "o.jsonl").proven


@pytest.mark.parametrize("target", ["o.jsonl", "o.parquet"])
def test_records_of_warc_become_rows_with_the_texts_of_pages(tmp_path, target):
    (tmp_path / "in.warc.gz").write_bytes(
        members(
            [
                response("http://a.org/x", f"<p>{TEXTS[0]}</p>", "text/html"),
                response("http://b.org/", f"<p>{TEXTS[0]}</p>", "text/html"),
                response("http://c.org/", f"{TEXTS[1]} <b>", status=404),
            ]
        )
    )
    nd.deduplicate_files(tmp_path / "in.warc.gz", tmp_path / target, html="whole")
    found = rows_of(tmp_path / target)
    assert [(row["id"], row["text"], row["host"], row["status"]) for row in found] == [
        ("http://a.org/x", TEXTS[0], "a.org", 200),
        ("http://c.org/", f"{TEXTS[1]} <b>", "c.org", 404),
    ]
    assert nd.verify_files(tmp_path / target).proven


def test_files_of_several_formats_become_json_lines(tmp_path):
    paths = [
        write(tmp_path, "a.parquet", ROWS[:2]),
        write(tmp_path, "b.jsonl", ROWS[1:]),
        write(tmp_path, "c.arrow", ROWS),
    ]
    nd.deduplicate_files(paths, tmp_path / "o.jsonl")
    assert rows_of(tmp_path / "o.jsonl") == ROWS
    with pytest.raises(InputError, match=r"The inputs are arrow and jsonl and parquet.* Name an output of JSON lines"):
        nd.deduplicate_files(paths, tmp_path / "o.parquet")


def test_missing_keys_become_nulls_and_mixed_values_json(tmp_path, capsys):
    rows = [
        {"text": TEXTS[0], "a": 1, "b": {"x": 1}, "c": 1, "d": 2**60, "e": [1, 2.5]},
        {"text": TEXTS[1], "a": "1", "b": {"x": None, "y": [True]}, "c": 2.5, "d": 0.5, "f": {}},
        {"text": TEXTS[2], "b": None, "g": 2**70, "h": []},
    ]
    said = []
    jsonl(tmp_path / "in.jsonl", rows)
    nd.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "o.parquet", progress=said.append)
    table = pq.read_table(tmp_path / "o.parquet")
    assert table.to_pylist() == [
        {
            "text": TEXTS[0],
            "a": "1",
            "b": {"x": 1, "y": None},
            "c": 1.0,
            "d": str(2**60),
            "e": [1.0, 2.5],
            "f": None,
            "g": None,
            "h": None,
        },
        {
            "text": TEXTS[1],
            "a": '"1"',
            "b": {"x": None, "y": [True]},
            "c": 2.5,
            "d": "0.5",
            "e": None,
            "f": "{}",
            "g": None,
            "h": None,
        },
        {"text": TEXTS[2], "a": None, "b": None, "c": None, "d": None, "e": None, "f": None, "g": str(2**70), "h": []},
    ]
    assert any('became JSON text, since a column has one type: "a", "d", "f", "g"' in str(each) for each in said)


def test_values_of_arrow_in_json(tmp_path):
    table = pa.table(
        {
            "text": pa.array(TEXTS[:2]).dictionary_encode(),
            "day": [datetime.date(2026, 1, 2), None],
            "at": pa.array([0, 1], pa.timestamp("ns")),
            "zone": pa.array([0, 1], pa.timestamp("us", "UTC")),
            "price": pa.array([decimal.Decimal("1.50"), None]),
            "large": pa.array([2**64 - 1, 0], pa.uint64()),
            "nan": [math.nan, math.inf],
            "lists": pa.array([[[1], []], None]),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    said = []
    nd.deduplicate_files(tmp_path / "in.parquet", tmp_path / "o.jsonl", progress=said.append)
    assert rows_of(tmp_path / "o.jsonl") == [
        {
            "text": TEXTS[0],
            "day": "2026-01-02",
            "at": "1970-01-01T00:00:00.000000000",
            "zone": "1970-01-01T00:00:00Z",
            "price": "1.50",
            "large": 2**64 - 1,
            "nan": None,
            "lists": [[1], []],
        },
        {
            "text": TEXTS[1],
            "day": None,
            "at": "1970-01-01T00:00:00.000000001",
            "zone": "1970-01-01T00:00:00.000001Z",
            "price": None,
            "large": 0,
            "nan": None,
            "lists": None,
        },
    ]
    assert any("2 values of NaN or infinity became null" in str(each) for each in said)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([b"a"]), "binary"),
        (pa.array([1], pa.duration("s")), r"duration\[s\]"),
        (pa.array([{"at": 1}], pa.struct([("at", pa.timestamp("ns"))])), r"timestamp\[ns\]"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "map"),
    ],
)
def test_types_that_json_lacks_are_refused_by_name_before_any_work(tmp_path, column, kind):
    pq.write_table(pa.table({"text": TEXTS[:1], "odd": column}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match=f'in.parquet: column "odd" is .*, and JSON has no {kind}.* ends in .parquet'):
        nd.deduplicate_files(tmp_path / "in.parquet", tmp_path / "o.jsonl")


def test_types_that_parquet_lacks_are_refused_by_name(tmp_path):
    odd = pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), pa.schema([("text", pa.string()), ("odd", odd.type)])) as writer:
        writer.write_batch(pa.record_batch([pa.array(TEXTS[:1]), odd], ["text", "odd"]))
    with pytest.raises(InputError, match='column "odd" is .*, and Parquet has no .* ends in .arrow'):
        nd.deduplicate_files(tmp_path / "in.arrow", tmp_path / "o.parquet")


def test_annotations_are_converted_as_well(tmp_path):
    path = write(tmp_path, "in.jsonl", REPEATED)
    nd.deduplicate_files(path, tmp_path / "o.parquet", annotate=True)
    nd.deduplicate_files(path, tmp_path / "o.jsonl", annotate=True, overwrite=True)
    nd.deduplicate_files(write(tmp_path, "in.parquet", REPEATED), tmp_path / "p.arrow", annotate=True)
    columns = ("id", "text", "score", "is_duplicate", "cluster_id", "similarity")
    written = [
        [[row[name] for name in columns] for row in rows_of(tmp_path / name)]
        for name in ("o.parquet", "o.jsonl", "p.arrow")
    ]
    assert written[0] == written[1] == written[2]
    assert [row[3] for row in written[0]] == [False] * 4 + [True]


def test_apply_and_decontaminate_convert(tmp_path):
    path = write(tmp_path, "in.jsonl", REPEATED)
    nd.decontaminate_files(path, tmp_path / "clean.parquet", against=write(tmp_path, "bench.jsonl", ROWS[:1]))
    assert [row["id"] for row in rows_of(tmp_path / "clean.parquet")] == [1, 2, 3, 9]
    nd.fingerprint_files(path, tmp_path / "prints.parquet")
    nd.pair_files(path, tmp_path / "pairs.parquet")
    nd.cluster_files(tmp_path / "pairs.parquet", tmp_path / "clusters.parquet", documents=tmp_path / "prints.parquet")
    nd.apply_files(tmp_path / "clusters.parquet", path, tmp_path / "kept.arrow")
    assert rows_of(tmp_path / "kept.arrow") == ROWS


def test_a_surrogate_in_a_column_that_was_not_read_is_refused_by_its_row(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": TEXTS[0], "x": "\ud800"}) + "\n")
    with pytest.raises(DataError, match="row 0"):
        nd.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "o.parquet")


@pytest.mark.parametrize(
    ("run", "more", "output"),
    [
        (nd.deduplicate_files, {}, "o.csv"),
        (nd.deduplicate_files, {}, "o.warc"),
        (nd.deduplicate_units, {"unit": "line"}, "o.parquet"),
        (nd.passages_files, {}, "o.parquet"),
    ],
)
def test_what_cannot_be_converted_is_refused(tmp_path, run, more, output):
    path = write(tmp_path, "in.jsonl", ROWS)
    with pytest.raises(InputError, match=f"is jsonl, but the output is {output[2:]}"):
        run(path, tmp_path / output, **more)
