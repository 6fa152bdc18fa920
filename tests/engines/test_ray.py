"""What a cluster of Ray does besides what all clusters do, see `test_clusters.py`: files that are read in parts, copies, types."""

from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines import cluster_runs as runs
from engines.cluster_runs import RayRuns
from engines.corpus_files import SCHEMA, expected, rows_of, written
from engines.ray_cluster import NEEDED
from neardup import ray as on_ray
from neardup.engines.ray import input_files

pytestmark = [
    pytest.mark.cluster,
    NEEDED,
    pytest.mark.usefixtures("shared_ray"),
    pytest.mark.filterwarnings("ignore"),  # ray's
]
RUNS = RayRuns()
run, survivors = partial(runs.run, RUNS), partial(runs.survivors, RUNS)


def data():
    import ray.data

    return ray.data


def test_columns_and_rows_that_the_reader_chooses_are_read_where_they_lie(tmp_path):
    from ray.data.expressions import col

    rows = rows_of()
    dataset = data().read_parquet(written(tmp_path / "in", rows, 2, dealt=False)).filter(expr=col("n") < 40)
    done = on_ray.deduplicate(
        dataset.select_columns(["n", "id", "text"]), work=str(tmp_path / "work"), min_similarity=0.6
    )
    assert survivors(done) == expected(rows[:40])
    assert done.survivors.columns() == ["n", "id", "text"]
    assert not (tmp_path / "work" / "copied").exists()


def test_a_dataset_that_is_made_is_copied_first(tmp_path):
    rows = rows_of()
    dataset = data().read_parquet(written(tmp_path / "in", rows, 3))
    made = dataset.map(lambda row: {**row, "text": row["text"].upper(), "more": {"of": [1, 2]}})
    done = run(made, tmp_path / "work")
    assert survivors(done) == expected(rows)
    assert done.survivors.take(1)[0]["more"] == {"of": [1, 2]}
    assert [stage.name for stage in done.stages][:2] == ["copy", "plan"]
    assert on_ray.plan(made, order="n").copied == ("input",)


def test_the_parts_of_a_large_file_are_read_by_themselves(tmp_path, monkeypatch):
    rows = rows_of()
    (tmp_path / "in").mkdir()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / "in" / "0.parquet", row_group_size=5)
    monkeypatch.setattr(input_files, "PART_BYTES", 1500)
    done = on_ray.deduplicate(
        data().read_parquet(str(tmp_path / "in")), work=str(tmp_path / "work"), min_similarity=0.6
    )
    assert survivors(done) == expected(rows)
    assert len(done.engine.seen) > 3


@pytest.mark.parametrize(
    ("column", "values", "options", "message"),
    [
        ("text", [1, 2], {}, "The column 'text' has the type int64; give strings."),
        ("id", [1.5, 2.5], {}, "The column 'id' of the ids is double, but strings or integers are needed"),
        (
            "at",
            [{"x": 1}, {"x": 2}],
            {"order": "at"},
            "The column 'at' holds struct<x: int64>, which has no order. Name",
        ),
        (
            "at",
            [[1], [2]],
            {"keep": "max:at"},
            "The column 'at' of the values is list<.*>, but strings, numbers, dates or truth",
        ),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, column, values, options, message):
    names = {"id": ["a", "b"], "text": ["x y z", "u v w"], column: values}
    with pytest.raises((nd.InputError, nd.OptionError), match=message):
        on_ray.deduplicate(
            data().from_arrow(pa.table(names)), work=str(tmp_path / "work"), **{"order": "id", **options}
        )


def test_a_reference_has_the_order_of_the_documents(tmp_path):
    given, known = RUNS.of([{"id": "a", "text": "x y z", "n": 1}]), RUNS.of([{"id": "a", "text": "x y z", "n": "1"}])
    with pytest.raises(
        nd.InputError, match="column 'n' holds int64, and string in `against`: these have no common order"
    ):
        on_ray.deduplicate(given, order="n", against=known, work=str(tmp_path / "work"))


def test_what_is_no_dataset_is_refused():
    with pytest.raises(nd.OptionError, match="dataset is a list; give a Dataset of Ray, as `ray.data.read_parquet"):
        on_ray.deduplicate(["a text"], order="id")


def test_survivors_of_files_that_have_changed_are_refused(tmp_path):
    rows = rows_of()[:40]
    done = run(data().read_parquet(written(tmp_path / "in", rows, 2)), tmp_path / "work")
    pq.write_table(pa.Table.from_pylist(rows[:20], SCHEMA), tmp_path / "in" / "0.parquet")
    with pytest.raises(Exception, match="of the input has changed since it was first read"):
        survivors(done)


@pytest.mark.parametrize(
    ("keep", "sorts"), [("first", False), pytest.param("last", False, marks=pytest.mark.long), ("longest", True)]
)
def test_rows_that_ascend_need_no_sorting_whatever_their_files_are_named(tmp_path, keep, sorts):
    rows = rows_of()
    options = {"keep": keep, "method": "exact", "min_similarity": 0.6}
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):  # the rows of the last file come first; and the second has two runs
        thirds = [[row for row in rows if row["n"] * 3 // len(rows) == third] for third in range(3)]
        some = thirds[2 - number] if number != 1 else [*thirds[1][5:], *thirds[1][:5]]
        pq.write_table(pa.Table.from_pylist(some, SCHEMA), folder / f"{number}.parquet")
    done = run(data().read_parquet(str(folder)), tmp_path / "work", **options)
    assert survivors(done) == expected(rows, **options)
    assert ("rank" in {each.name for each in done.stages}) == sorts
