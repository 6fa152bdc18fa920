"""Every product with every method, on a cluster of processes, is that of one machine: clusters, new rows and pairs."""

import pytest

import neardup as nd
from agreement import corpora
from engines.corpus_files import written
from engines.spark_cluster import MARKS, session_on
from neardup import spark as on_spark

pytestmark = [*MARKS, pytest.mark.long]
EXACT = {"method": "exact", "min_similarity": 0.6}
MINHASH = {"method": "minhash", "min_similarity": 0.6}
SIMHASH = {"method": "simhash", "min_similarity": 0.3, "max_distance": 24}
BY_DISTANCE = {"method": "simhash", "min_similarity": 0, "max_distance": 24}


@pytest.fixture(scope="module")
def session(shared_cluster):
    found = session_on(shared_cluster.address)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def given(session, tmp_path_factory):
    """The documents of a corpus in several partitions, and a reference: rows, and frames."""
    corpus, folder = corpora.make("reference"), tmp_path_factory.mktemp("given")
    found = [[{**row, "n": n} for n, row in enumerate(rows)] for rows in (corpus.rows, corpus.reference)]
    frame, reference = (
        session.read.parquet(written(folder / name, rows, files))
        for name, rows, files in zip(("in", "known"), found, (3, 2), strict=True)
    )
    assert frame.rdd.getNumPartitions() > 1
    return *found, frame, reference


@pytest.mark.parametrize(
    "options",
    [
        {**EXACT, "keep": "last", "within": "language"},
        {**MINHASH, "keep": "longest", "cluster": "components"},
        {**SIMHASH, "keep": "longest", "within": "language", "cluster": "components"},
    ],
    ids=lambda options: options["method"],
)
def test_clusters_are_those_of_one_machine(given, tmp_path, options):
    rows, against, frame, reference = given
    found = on_spark.clusters(frame, order="n", against=reference, work=str(tmp_path / "work"), **options)
    expected = nd.deduplicate(rows, against=against, **options).clusters.to_pylist()
    assert len(expected) > 4
    listed = [(row.id, row.cluster_id, row.survivor_id) for row in found.collect()]
    assert sorted(listed) == sorted((row["id"], rows[row["cluster_id"]]["id"], row["survivor_id"]) for row in expected)


@pytest.mark.parametrize(
    "options",
    [{**MINHASH, "within": "language"}, BY_DISTANCE],
    ids=lambda each: each["method"],
)
def test_new_rows_are_those_of_one_machine(given, tmp_path, options):
    rows, against, frame, reference = given
    done = on_spark.filter_new(frame, reference, order="n", work=str(tmp_path / "work"), **options)
    expected = nd.deduplicate(rows, against=against, **options)
    assert sorted(row.n for row in done.survivors.collect()) == [row["n"] for row in expected.survivors]
    found = {(row.id, row.survivor_id, row.distance) for row in done.duplicates.collect()}
    assert found == {(row["id"], row["survivor_id"], row["distance"]) for row in expected.duplicates.to_pylist()}
    assert done.summary.against_reference > 0
    done.close()


@pytest.mark.parametrize(
    ("options", "other"),
    [(MINHASH, True), (SIMHASH, False)],
    ids=["minhash of two", "simhash of one"],
)
def test_pairs_are_those_of_one_machine(given, tmp_path, options, other):
    rows, against, frame, reference = given
    expected = nd.match(rows, against if other else None, **options)
    sides = zip((rows, against if other else rows), (expected.left, expected.right), strict=True)
    names = [[side[row]["id"] for row in column] for side, column in sides]
    assert len(expected.left) > 4
    listed = on_spark.pairs(
        frame, order="n", against=reference if other else None, work=str(tmp_path / "work"), **options
    )
    columns = ("left_id", "right_id", "distance", "similarity")
    found = sorted(tuple(row[name] for name in columns) for row in listed.collect())
    assert found == sorted(zip(*names, expected.distance.tolist(), expected.similarity.tolist(), strict=True))
