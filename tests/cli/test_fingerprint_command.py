"""`neardup fingerprint`: the file that it writes."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BRIDGE, FERRY, ROWS, files, write_lines

import naive
import neardup

DOCUMENTS = [*ROWS, {"id": 7, "text": "See page 2."}, {"text": ""}]


@pytest.mark.parametrize(("recipe", "kind"), [("default", pa.binary(16)), ("default-64", pa.uint64())])
def test_a_fingerprint_file_has_id_fingerprint_short_and_the_recipe(run, recipe, kind):
    write_lines("in.jsonl", DOCUMENTS)
    done = run("fingerprint", "in.jsonl", "-o", "out.parquet", "--recipe", recipe)
    assert (done.code, done.out) == (0, b"")
    assert "made     7 fingerprints\noutput   out.parquet" in done.err
    table = pq.read_table("out.parquet")
    assert [(field.name, field.type, field.nullable) for field in table.schema] == [
        ("id", pa.large_string(), True),
        ("id_is_string", pa.bool_(), False),
        ("fingerprint", kind, False),
        ("short", pa.bool_(), False),
        ("tokens", pa.int64(), False),
        ("length", pa.int64(), False),
        ("digest", pa.binary(16), False),
    ]
    assert table.column("id").to_pylist() == ["ferry", "edited", "bread", "shouted", "bridge", "7", "in.jsonl:6"]
    assert table.column("id_is_string").to_pylist() == [True] * 5 + [False, True]
    assert table.column("short").to_pylist() == [False] * 5 + [True] * 2
    texts = [document["text"] for document in DOCUMENTS]
    assert table.column("tokens").to_pylist() == [len(naive.tokens(text)) for text in texts]
    assert table.column("length").to_pylist() == [len(text) for text in texts]
    normalized = [naive.normalize(text) for text in texts]
    assert len(set(table.column("digest").to_pylist())) == len(set(normalized)) == 6
    shards = json.loads(pq.read_metadata("out.parquet").metadata[b"neardup.shards"])
    size = Path("in.jsonl").stat().st_size
    content = f"sha256:{hashlib.sha256(Path('in.jsonl').read_bytes()).hexdigest()[:32]}"
    assert shards == [
        {"name": "in.jsonl", "relative": "in.jsonl", "rows": 7, "size": size, "content": content, "reading": {}}
    ]
    chosen = neardup.RECIPES[recipe].recipe
    assert {name: value for name, value in table.schema.metadata.items() if name.startswith(b"neardup.")} == {
        b"neardup.format": b"2",
        b"neardup.recipe": json.dumps(chosen.as_dict(), sort_keys=True).encode(),
        b"neardup.digest": chosen.digest().encode(),
        b"neardup.max_distance": str(chosen.max_distance).encode(),
        b"neardup.short_rule": b"2",
    }


@pytest.mark.parametrize("bits", [1, 8, 63, 64, 65, 128, 160, 512])
def test_fingerprints_are_those_of_the_definition_at_any_width(run, bits):
    write_lines("in.jsonl", DOCUMENTS)
    Path("mine.toml").write_text(f"bits = {bits}")
    assert run("fingerprint", "in.jsonl", "-o", "out.parquet", "--recipe", "mine.toml").code == 0
    found = pq.read_table("out.parquet").column("fingerprint").to_pylist()
    integers = [value if isinstance(value, int) else int.from_bytes(value, "big") for value in found]
    assert integers == [naive.fingerprint(document["text"], bits=bits) for document in DOCUMENTS]
    assert all(isinstance(value, int) or len(value) == 8 * -(-bits // 64) for value in found)


def test_several_inputs_go_to_one_file_or_to_one_each(run):
    write_lines("in/a.jsonl", ROWS[:2])
    write_lines("in/deep/b.jsonl", ROWS[2:])
    Path("in/deep/empty.jsonl").write_bytes(b"")
    run("fingerprint", "in", "-o", "one.parquet")
    run("fingerprint", "in", "-o", "out/")
    assert files()[3:] == ["one.parquet", "out/a.parquet", "out/deep/b.parquet", "out/deep/empty.parquet"]
    parts = [pq.read_table(f"out/{name}.parquet") for name in ("a", "deep/b", "deep/empty")]
    assert pa.concat_tables(parts).equals(pq.read_table("one.parquet"))


def test_texts_and_ids_come_from_the_columns_named(run):
    write_lines("in.jsonl", [{"key": 1, "meta": {"body": FERRY}, "title": BRIDGE}])
    run(
        "fingerprint",
        "in.jsonl",
        "-o",
        "out.parquet",
        "--text",
        "title",
        "--text",
        "meta.body",
        "--id",
        "key",
        "--recipe",
        "default-64",
    )
    [row] = pq.read_table("out.parquet").to_pylist()
    assert (row["id"], row["id_is_string"], row["short"]) == ("1", False, False)
    assert row["fingerprint"] == naive.fingerprint(f"{BRIDGE}\n{FERRY}", bits=64)


def test_parquet_and_standard_input_are_read(run):
    pq.write_table(pa.Table.from_pylist(ROWS), "in.parquet")
    run("fingerprint", "in.parquet", "-o", "a.parquet")
    write_lines("in.jsonl", ROWS)
    run("fingerprint", "-", "-o", "b.parquet", "--quiet", stdin=Path("in.jsonl").read_bytes())
    assert pq.read_table("a.parquet").equals(pq.read_table("b.parquet"))


def test_threads_change_no_byte(run):
    for shard in range(6):
        write_lines(
            f"in/{shard}.jsonl", [{"id": row, "text": f"{FERRY} {row}"} for row in range(shard * 20, shard * 20 + 20)]
        )
    for threads in (1, 2, 3):
        run("fingerprint", "in", "-o", f"{threads}.parquet", "--threads", threads)
    assert len({Path(f"{threads}.parquet").read_bytes() for threads in (1, 2, 3)}) == 1


def test_quiet_says_nothing(run):
    write_lines("in.jsonl", ROWS)
    assert run("fingerprint", "in.jsonl", "-o", "out.parquet", "--quiet").err == ""


@pytest.mark.parametrize(
    ("given", "out", "message"),
    [
        (
            ["in/a.jsonl"],
            "out.arrow",
            "out.arrow: fingerprint files are Parquet. Give a name that ends in .parquet, or a folder that ends in /.",
        ),
        (["in/a.jsonl"], "-", "-: fingerprint files are Parquet."),
        (["in/a.jsonl"], "", "Name an output: a file that ends in .parquet, or a folder that ends in /."),
        (["in/a.jsonl"], "old.parquet", "old.parquet exists already."),
        (["in"], "in/", "in/b.parquet is an input, and no run"),
        (
            ["in/b.parquet", "--overwrite"],
            "in/b.parquet",
            "in/b.parquet is an input, and no run replaces what it reads. Name another file.",
        ),
        (
            ["in/a.jsonl", "more/a.ndjson"],
            "out/",
            "in/a.jsonl and more/a.ndjson would both be written to out/a.parquet.",
        ),
        (["in/a.jsonl", "--recipe", "mine"], "out.parquet", "There is no recipe 'mine'."),
        (["in/a.jsonl", "--threads", "-1"], "out.parquet", "--threads -1: give an integer from 1 to 1024"),
        (["in/a.jsonl", "--text", "body"], "out.parquet", 'in/a.jsonl has no column "body"'),
    ],
)
def test_what_cannot_be_is_refused(run, given, out, message):
    write_lines("in/a.jsonl", ROWS)
    write_lines("more/a.ndjson", ROWS[:1])
    pq.write_table(pa.Table.from_pylist(ROWS), "in/b.parquet")
    Path("old.parquet").write_text("old")
    before = {name: Path(name).read_bytes() for name in files()}
    done = run("fingerprint", *given, "-o", out)
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert {name: Path(name).read_bytes() for name in files()} == before


def test_a_bad_row_stops_the_run(run):
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/b.jsonl", [*ROWS, {"text": None}])
    run("fingerprint", "in", "-o", "out/").refused("in/b.jsonl, row 5", code=1)
    assert files() == ["in/a.jsonl", "in/b.jsonl"]
    assert not Path("out").exists()
