"""`neardup fingerprint --vector`: embeddings in Parquet."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import ROWS, write_lines

import neardup

DIMENSION = 16


def embeddings(n=50, kind=np.float32):
    rows = np.random.default_rng(0).standard_normal((n, DIMENSION)).astype(kind)
    rows[1] = rows[0]
    rows[2] = 0
    return rows


def write(path, rows, *, row_group_size=None, **columns):
    Path(path).parent.mkdir(exist_ok=True)
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    pq.write_table(pa.table({**columns, "v": column}), path, row_group_size=row_group_size)


def prints(path):
    column = pq.read_table(path).column("fingerprint")
    return [each if isinstance(each, int) else int.from_bytes(each, "big") for each in column.to_pylist()]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8])
def test_vectors_of_every_type_have_the_fingerprints_of_the_library(run, kind):
    rows = (embeddings() * 20).astype(kind)
    write("in.parquet", rows, id=list(range(50)), row_group_size=7)
    done = run("fingerprint", "in.parquet", "--vector", "v", "-o", "out.parquet")
    assert (done.code, done.out) == (0, b"")
    assert "made     50 fingerprints\noutput   out.parquet" in done.err
    assert prints("out.parquet") == neardup.fingerprint_vectors(rows).tolist()
    table = pq.read_table("out.parquet")
    assert table.column("id").to_pylist() == [str(i) for i in range(50)]
    assert table.column("short").to_pylist() == [not row.any() for row in rows]
    assert table.column("length").to_pylist() == [DIMENSION] * 50
    digests = table.column("digest").to_pylist()
    assert digests[0] == digests[1] != digests[3]


def test_the_metadata_has_the_recipe_of_the_vectors(run):
    write("in.parquet", embeddings())
    run(
        "fingerprint",
        "in.parquet",
        "--vector",
        "v",
        "-o",
        "out.parquet",
        "--bits",
        100,
        "--seed",
        3,
        "--method",
        "gaussian",
    )
    recipe = neardup.VectorRecipe(dimension=DIMENSION, bits=100, seed=3, method="gaussian")
    metadata = pq.read_schema("out.parquet").metadata
    assert json.loads(metadata[b"neardup.recipe"]) == recipe.as_dict()
    assert metadata[b"neardup.digest"] == recipe.digest().encode()
    words = neardup.fingerprint_vectors(embeddings(), bits=100, seed=3, method="gaussian").tolist()
    assert prints("out.parquet") == [high << 64 | low for high, low in words]
    assert pq.read_table("out.parquet").column("id").to_pylist()[0] == "in.parquet:0"


def test_lists_nested_columns_and_several_files_are_read(run):
    rows = embeddings()
    write("in/a.parquet", rows[:20])
    lists = pa.array(rows[20:].tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"v": lists}), "in/b.parquet")
    run("fingerprint", "in", "--vector", "v", "-o", "one.parquet")
    run("fingerprint", "in", "--vector", "v", "-o", "out/")
    assert prints("one.parquet") == prints("out/a.parquet") + prints("out/b.parquet")
    assert prints("one.parquet") == neardup.fingerprint_vectors(rows).tolist()
    pq.write_table(pa.table({"meta": pa.array([{"v": row} for row in rows.tolist()])}), "nested.parquet")
    run("fingerprint", "nested.parquet", "--vector", "meta.v", "-o", "nested.out.parquet")
    assert prints("nested.out.parquet") == prints("one.parquet")


def test_threads_change_no_byte(run):
    write("in.parquet", embeddings(5000), row_group_size=300)
    for threads in (1, 3):
        run("fingerprint", "in.parquet", "--vector", "v", "-o", f"{threads}.parquet", "--threads", threads)
    assert Path("1.parquet").read_bytes() == Path("3.parquet").read_bytes()


def test_pairs_and_clusters_work_on_fingerprints_of_vectors(run):
    write("in.parquet", embeddings(), id=[f"d{i}" for i in range(50)])
    run("fingerprint", "in.parquet", "--vector", "v", "-o", "prints.parquet")
    run("pairs", "prints.parquet", "--max-distance", 2, "-o", "pairs.jsonl").ok("1 zero vector has no pairs")
    [pair] = [json.loads(line) for line in Path("pairs.jsonl").read_text().splitlines()]
    assert (pair["left_id"], pair["right_id"], pair["distance"]) == ("d0", "d1", 0)
    run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet").ok()


def test_pairs_of_vectors_need_a_distance(run):
    write("in.parquet", embeddings())
    run("fingerprint", "in.parquet", "--vector", "v", "-o", "prints.parquet")
    run("pairs", "prints.parquet", "-o", "pairs.jsonl").refused("has no distance of its own. Give --max-distance.\n")


@pytest.mark.parametrize("other", [["--seed", "1"], ["--method", "gaussian"], ["--bits", "65"], None])
def test_fingerprints_of_other_recipes_are_not_compared(run, other):
    write("a.parquet", embeddings())
    write("b.parquet", embeddings()[:, :8] if other is None else embeddings())
    run("fingerprint", "a.parquet", "--vector", "v", "-o", "a.prints.parquet")
    run("fingerprint", "b.parquet", "--vector", "v", "-o", "b.prints.parquet", *(other or []))
    run("pairs", "a.prints.parquet", "b.prints.parquet", "--max-distance", 2, "-o", "pairs.jsonl").refused(
        "Distances between fingerprints of two recipes mean nothing"
    )


def test_fingerprints_of_texts_and_vectors_are_not_compared(run):
    write("a.parquet", embeddings())
    write_lines("b.jsonl", ROWS)
    run("fingerprint", "a.parquet", "--vector", "v", "-o", "a.prints.parquet")
    run("fingerprint", "b.jsonl", "-o", "b.prints.parquet", "--recipe", "default-64")
    run("pairs", "a.prints.parquet", "b.prints.parquet", "--max-distance", 2, "-o", "pairs.jsonl").refused(
        "Distances between fingerprints of two recipes mean nothing"
    )


BAD = [
    ([1.0, 2.0], None),
    (None, "its vector is null"),
    ([1.0, float("nan")], "its vector holds nan"),
    ([1.0, float("-inf")], "its vector holds -inf"),
    ([3.0], "its vector has 1 numbers, others have 2"),
    ([], "its vector has 0 numbers, others have 2"),
    ([2.0, None], "its vector holds null"),
    ([1e301, 1.0], "its vector holds numbers beyond 1e+300: scale it"),
    ([2.0, 4.0], None),
]


@pytest.mark.parametrize(("vector", "reason"), BAD)
def test_a_bad_vector_stops_the_run_and_is_named(run, vector, reason):
    pq.write_table(pa.table({"v": pa.array([[1.0, 2.0], vector], pa.list_(pa.float64()))}), "in.parquet")
    done = run("fingerprint", "in.parquet", "--vector", "v", "-o", "out.parquet")
    if reason is None:
        assert done.code == 0
    else:
        assert done.code == 1
        assert f"in.parquet, row 1 (counted from 0): {reason}" in done.err
        assert not Path("out.parquet").exists()


def test_bad_vectors_are_set_aside(run):
    pq.write_table(pa.table({"v": pa.array([row for row, _ in BAD], pa.list_(pa.float64()))}), "in.parquet")
    run("fingerprint", "in.parquet", "--vector", "v", "-o", "out.parquet", "--on-error", "skip").ok(
        "7 rows could not be read: out.rejects.jsonl"
    )
    rejects = [json.loads(line) for line in Path("out.rejects.jsonl").read_text().splitlines()]
    assert [(each["row"], each["reason"]) for each in rejects] == [
        (row, reason) for row, (_, reason) in enumerate(BAD) if reason
    ]
    assert pq.read_table("out.parquet").column("tokens").to_pylist() == [2] + [-1] * 7 + [2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["in.parquet", "--vector", "w"], 'in.parquet has no column "w"'),
        (["in.parquet", "--vector", "name"], 'column "name" is string, but a column of lists of numbers'),
        (
            ["in.parquet", "--vector", "words"],
            'column "words" is list<element: string>, but a column of lists of numbers',
        ),
        (["in.parquet", "--vector", "none"], 'The column "none" has no vector with any number in it'),
        (["in.jsonl", "--vector", "v"], "in.jsonl is jsonl, but vectors are read from Parquet and Arrow files"),
        (["in.parquet", "--vector", "v", "--text", "name"], "--text: for texts, not for --vector"),
        (["in.parquet", "--vector", "v", "--recipe", "default-64"], "--recipe: for texts, not for --vector"),
        (["in.parquet", "--vector", "v", "--program", "name"], "--program: for --fingerprint, not for --vector"),
        (["in.parquet", "--vector", "v", "--fingerprint", "name"], "--vector, --fingerprint: give one of them."),
        (["in.parquet", "--vector", "v", "--max-distance", "65"], "--max-distance 65: give an integer from 0 to 64"),
        (["in.parquet", "--vector", "v", "--bits", "513"], "--bits 513: give an integer from 1 to 512"),
        (["in.parquet", "--vector", "v", "--seed", "-1"], "--seed -1: give an integer from 0"),
        (
            ["in.parquet", "--text", "name", "--bits", "64", "--seed", "1"],
            "--bits, --seed: for --vector or --fingerprint only",
        ),
    ],
)
def test_calls_that_cannot_be_are_refused(run, given, message):
    write(
        "in.parquet",
        embeddings(),
        name=["n"] * 50,
        words=[["w"]] * 50,
        none=pa.array([[]] * 50, pa.list_(pa.float32())),
    )
    write_lines("in.jsonl", ROWS)
    run("fingerprint", *given, "-o", "out.parquet").refused(message)
    assert not Path("out.parquet").exists()
