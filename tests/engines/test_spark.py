"""A cluster of Spark gives the survivors, clusters and audit of `neardup dedup`, and refuses what it cannot do in our words."""

import contextlib
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.corpus_files import SCHEMA, numbered, rows_of, written
from engines.spark_cluster import missing, session_on
from engines.spark_runs import check
from neardup import spark as on_spark
from neardup.engines.spark import engine, job

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]
PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


@pytest.fixture(scope="module")
def session(shared_cluster):
    found = session_on(shared_cluster.url)
    yield found
    found.stop()


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
    check(session, tmp_path, name, options, files, small=1 << 24)


def test_every_stage_can_run_on_the_cluster(session, tmp_path):
    with setting(session, "spark.sql.shuffle.partitions", "4"):
        check(session, tmp_path, "mixture", {"method": "exact", "min_similarity": 0.6})


def test_frames_that_were_shuffled(session, tmp_path):
    check(session, tmp_path, "mixture", {"method": "exact", "similarity": "edit"}, small=1 << 24, shuffled=True)


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


def test_files_have_the_order_of_their_rows(session, tmp_path):
    texts = ["one text of some words here", "another text that stands alone", "one text of some words here"]
    rows = numbered([{"id": str(i), "text": text} for i, text in enumerate(texts)])
    frame = session.read.parquet(written(tmp_path / "in", rows, 1))
    done = on_spark.deduplicate(frame, work=str(tmp_path / "work"))
    assert {row.id for row in done.survivors.collect()} == {"0", "1"}
    (line,) = done.duplicates.collect()
    assert (line.id, line.survivor_id, line.exact, line.similarity, line.distance) == ("2", "0", True, 1.0, 0)
    done.close()


def test_the_example_of_the_page_runs(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    rows = [{"url": f"page/{i}", "text": f"one of two texts, number {i % 2}", "fetched": i} for i in range(4)]
    Path("pages").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), "pages/0.parquet")
    for folder in ("pages", "work", "unique", "duplicates"):
        example = example.replace(f'"{folder}/', f'"{tmp_path}/{folder}/')
    exec(example, {})
    assert {row.url for row in session.read.parquet(f"{tmp_path}/unique").collect()} == {"page/0", "page/1"}
    found = {(row.id, row.survivor_id) for row in session.read.parquet(f"{tmp_path}/duplicates").collect()}
    assert found == {("page/2", "page/0"), ("page/3", "page/1")}


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("a", "x y z"), ("b", None)], {}, "The text of document 'b' is null. Give each row a text"),
        ([("a", "x y z"), (None, "u v w")], {}, "1 rows have no id: column 'id' is null"),
        ([("a", "x y z"), ("a", "u v w")], {}, "Some ids occur several times in column 'id', such as 'a'"),
        ([("a", "x y z")], {"text": "body"}, "The frame has no column 'body'; it has 'id', 'text'"),
        ([("a", "x y z")], {"order": ()}, "This frame has no order: give `order=`"),
        ([("a", "x y z")], {"method": "auto"}, "no engine looks at the corpus first to choose"),
        ([("a", "x y z")], {"keep": len}, "`keep` and `within` name columns: functions are not taken"),
        ([("a", "x y z")], {"prefer_source": "web"}, "`prefer_source` is not taken"),
        ([("a", "x y z")], {"text": ["id", "text"]}, "on Spark, texts are in one column. Join several"),
        *(([("a", "x y z")], {name: "x"}, f"On Spark, `{name}` is not taken") for name in job.NOT_TAKEN),
        ([("a", "x y z")], {"min_similarty": 0.7}, "did you mean `min_similarity`"),
    ],
)
def test_what_cannot_be_is_refused(session, tmp_path, rows, options, message):
    frame = session.createDataFrame(rows, "id string, text string")
    with pytest.raises(nd.NeardupError, match=message):
        on_spark.deduplicate(frame, work=str(tmp_path / "work"), **{"order": "id", **options})


def test_texts_are_strings(session, tmp_path):
    frame = session.createDataFrame([("a", 1)], "id string, text long")
    with pytest.raises(nd.InputError, match="column 'text' holds bigint, not strings"):
        on_spark.deduplicate(frame, order="id", work=str(tmp_path / "work"))


def test_a_folder_that_executors_share_is_needed(session):
    frame = session.createDataFrame([("a", "x y z")], "id string, text string")
    with pytest.raises(nd.OptionError, match="no folder that its executors share. Give `work=`"):
        on_spark.deduplicate(frame, order="id")


def test_another_version_on_an_executor_is_refused(session, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "__version__", "0.0.1")
    frame = session.createDataFrame([("a", "x y z")], "id string, text string")
    with pytest.raises(nd.InputError, match=r"An executor has neardup .*, and the driver 0.0.1. Ship one environment"):
        on_spark.deduplicate(frame, order="id", work=str(tmp_path / "work"))


def test_an_input_that_changes_is_refused(session, tmp_path, monkeypatch):
    rows = numbered([{"id": str(i), "text": f"one text of some words here {i % 3}"} for i in range(9)])
    frame = session.read.parquet(written(tmp_path / "in", rows, 2))
    run = engine.SparkEngine.run

    def change(self, stage, *inputs):
        if stage.name == "equal":
            others = [row | {"text": "another"} for row in rows[1::2]]
            pq.write_table(pa.Table.from_pylist(others, SCHEMA), tmp_path / "in" / "1.parquet")
        return run(self, stage, *inputs)

    monkeypatch.setattr(engine.SparkEngine, "run", change)
    with pytest.raises(nd.DataError, match="of the input has changed since it was first read"):
        on_spark.deduplicate(frame, order="n", work=str(tmp_path / "work"))


def test_an_order_that_changes_after_it_was_looked_at_is_refused(session, tmp_path, monkeypatch):
    """Texts and ids are as they were, so no reading notices it."""
    rows = rows_of()[:40]
    frame = session.read.parquet(written(tmp_path / "in", rows, 4, dealt=False))
    orders = engine.SparkEngine.orders

    def change(self, work):
        found = orders(self, work)
        turned = [row | {"n": 9 - at} for at, row in enumerate(rows[:10])]
        pq.write_table(pa.Table.from_pylist(turned, SCHEMA), tmp_path / "in" / "0.parquet")
        return found

    monkeypatch.setattr(engine.SparkEngine, "orders", change)
    with pytest.raises(
        nd.DataError, match="The files of the input have changed since the job began. It must have the same"
    ):
        on_spark.deduplicate(frame, order="n", work=str(tmp_path / "work"))


def test_a_worker_that_dies_changes_nothing(shared_cluster, session, tmp_path, monkeypatch):
    shared_cluster.add_worker()
    run, left = engine.SparkEngine.run, shared_cluster.workers[:1]

    def kill(self, stage, *inputs):
        if stage.name == "pairs" and left:
            shared_cluster.workers.remove(left[0])
            left.pop().kill()
        return run(self, stage, *inputs)

    monkeypatch.setattr(engine.SparkEngine, "run", kill)
    check(session, tmp_path, "mixture", {"method": "exact", "min_similarity": 0.6})
    assert not left
