"""What a cluster of Spark does besides what all clusters do, see `test_clusters.py`: partitions, moved rows, lost workers."""

import contextlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.cluster_runs import SparkRuns, change_before, check
from engines.corpus_files import SCHEMA, rows_of
from engines.spark_cluster import MARKS, session_on
from neardup import spark as on_spark

pytestmark = MARKS


@pytest.fixture(scope="module")
def session(shared_cluster):
    found = session_on(shared_cluster.address)
    yield found
    found.stop()


def check_on(session, *given, **options):
    return check(SparkRuns(session), *given, **options)


@pytest.mark.parametrize(
    ("name", "options", "files"),
    [
        pytest.param("mixture", {"method": "exact", "min_similarity": 0.6}, 1, marks=pytest.mark.long),
        ("reference", {"method": "exact", "min_similarity": 0.6, "similarity": "containment"}, 4),
        pytest.param(
            "mixture",
            {"method": "minhash", "min_similarity": 0.7, "keep": "longest", "within": "language"},
            3,
            marks=pytest.mark.long,
        ),
        pytest.param(
            "chains", {"method": "exact", "min_similarity": 0.6, "cluster": "components"}, 8, marks=pytest.mark.long
        ),
        pytest.param(
            "equal sets", {"method": "simhash", "max_distance": 24, "keep": "last"}, 3, marks=pytest.mark.long
        ),
    ],
)
def test_the_cluster_answers_as_one_machine(session, tmp_path, name, options, files):
    check_on(session, tmp_path, name, options, files, small=1 << 24)


def test_every_stage_can_run_on_the_cluster(session, tmp_path):
    with setting(session, "spark.sql.shuffle.partitions", "4"):
        check_on(session, tmp_path, "mixture", {"method": "exact", "min_similarity": 0.6})


def test_frames_that_were_shuffled(session, tmp_path):
    check_on(session, tmp_path, "mixture", {"method": "exact", "similarity": "edit"}, small=1 << 24, shuffled=True)


@pytest.mark.parametrize(
    ("order", "keep", "sorts"),
    [
        pytest.param("n", "first", False, marks=pytest.mark.long),
        pytest.param(["language", "n"], "last", False, marks=pytest.mark.long),
        pytest.param("n", "longest", True, marks=pytest.mark.long),
        ((), "first", None),
    ],
)
def test_rows_that_ascend_need_no_sorting(session, tmp_path, order, keep, sorts):
    rows = [{**row, "language": f"{row['n'] // 50:03}"} for row in rows_of()]
    options = {"keep": keep, "method": "exact", "min_similarity": 0.6}
    kept = [row["n"] for row in nd.deduplicate(rows, **options).survivors]
    for turned in (
        (0, 1) if sorts is False else (0,)
    ):  # in the second folder, the first row of each file is in the one before
        folder = tmp_path / f"in{turned}"
        folder.mkdir()
        for number in range(3):
            thirds = [[row for row in rows if row["n"] * 3 // len(rows) == third] for third in range(3)]
            some = thirds[number][turned:] + thirds[(number + 1) % 3][:turned]
            name = 2 - number if order else number  # of files, only if they are not the order, in another one
            pq.write_table(pa.Table.from_pylist(some, SCHEMA), folder / f"{name}.parquet")
        work = str(tmp_path / f"work{turned}")
        with partitions_of_one_file(session):
            done = on_spark.deduplicate(session.read.parquet(str(folder)), order=order, work=work, **options)
            assert sorted(row.n for row in done.survivors.collect()) == kept
        if sorts is not None:
            assert ("rank" in {each.name for each in done.stages}) == sorts
        done.close()


@contextlib.contextmanager
def setting(session, name, value):
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)


def partitions_of_one_file(session):
    """Let each file be a partition."""
    return setting(session, "spark.sql.files.openCostInBytes", session.conf.get("spark.sql.files.maxPartitionBytes"))


def test_texts_are_strings(session, tmp_path):
    frame = session.createDataFrame([("a", 1)], "id string, text long")
    with pytest.raises(nd.OptionError, match="The column 'text' has the type int64; give strings"):
        on_spark.deduplicate(frame, order="id", work=str(tmp_path / "work"))


def test_a_worker_that_dies_changes_nothing(shared_cluster, session, tmp_path, monkeypatch):
    shared_cluster.add_worker()
    left = shared_cluster.workers[:1]

    def kill():
        if left:
            shared_cluster.workers.remove(left[0])
            left.pop().kill()

    change_before(SparkRuns, monkeypatch, "pairs", kill)
    check_on(session, tmp_path, "mixture", {"method": "exact", "min_similarity": 0.6})
    assert not left
