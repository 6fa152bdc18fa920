"""A cluster of Ray gives the survivors, clusters, pairs and audit of `neardup dedup`, and refuses what it cannot do in our words."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.corpus_files import SCHEMA, expected, numbered, rows_of, written
from engines.ray_cluster import missing
from engines.ray_runs import check, run, survivors
from neardup import ray as on_ray
from neardup.engines.ray import job
from neardup.engines.ray.engine import RayEngine

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.usefixtures("shared_ray"),
    pytest.mark.filterwarnings("ignore"),  # ray's
]
PAGE = Path(__file__).parents[2] / "docs" / "ray.md"


def data():
    import ray.data

    return ray.data


def rows_in(rows, schema=None):
    """Rows that are in no file."""
    return data().from_arrow(pa.Table.from_pylist(rows, schema))


@pytest.mark.parametrize(
    ("name", "options", "files"),
    [
        ("reference", {"method": "exact", "min_similarity": 0.6, "similarity": "containment"}, 4),
        pytest.param("mixture", {"method": "exact", "similarity": "edit"}, 1, marks=pytest.mark.long),
        ("mixture", {"method": "minhash", "min_similarity": 0.7, "keep": "longest", "within": "language"}, 3),
        pytest.param("mixture", {"min_similarity": 0.6, "method": "exact", "keep": "max:n"}, 3, marks=pytest.mark.long),
        ("reference", {"min_similarity": 0.6, "method": "exact", "keep": "min:n", "within": "language"}, 3),
    ],
)
def test_the_cluster_answers_as_one_machine(tmp_path, name, options, files):
    check(tmp_path, name, options, files, small=1 << 24)


@pytest.mark.parametrize("kind", ["parquet", "json", "csv"])
def test_files_have_the_order_of_their_rows(tmp_path, kind):
    texts = ["one text of some words here", "another text that stands alone", "one text of some words here"]
    rows = [{"id": f"d{i}", "text": text, "more": i} for i, text in enumerate(texts)]
    folder = tmp_path / "in"
    folder.mkdir()
    for number, some in enumerate((rows[2:], rows[:2])):  # the files' names say that the last row comes first
        path = folder / f"{number}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(some), path)
        elif kind == "json":
            path.write_text("".join(json.dumps(row) + "\n" for row in some))
        else:
            path.write_text("id,text,more\n" + "".join(f"{row['id']},{row['text']},{row['more']}\n" for row in some))
    dataset = getattr(data(), f"read_{kind}")(str(folder))
    done = on_ray.deduplicate(dataset, work=str(tmp_path / "work"))
    assert sorted((row["id"], row["more"]) for row in done.survivors.iter_rows()) == [("d1", 1), ("d2", 2)]
    (line,) = done.duplicates.iter_rows()
    assert line == {
        "id": "d0",
        "survivor_id": "d2",
        "cluster_id": "d2",
        "exact": True,
        "similarity": 1.0,
        "distance": 0,
    }
    assert not (tmp_path / "work" / "copied").exists()


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
    from neardup.engines.ray import input_files as reads

    rows = rows_of()
    (tmp_path / "in").mkdir()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / "in" / "0.parquet", row_group_size=5)
    monkeypatch.setattr(reads, "PART_BYTES", 1500)
    done = on_ray.deduplicate(
        data().read_parquet(str(tmp_path / "in")), work=str(tmp_path / "work"), min_similarity=0.6
    )
    assert survivors(done) == expected(rows)
    assert len(done.engine.seen) > 3


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example, *_ = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    rows = [{"url": f"page/{i}", "text": f"one of two texts, number {i % 2}", "fetched": i} for i in range(4)]
    Path("pages").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), "pages/0.parquet")
    for folder in ("pages", "work", "unique", "duplicates"):
        example = example.replace(f'"{folder}/', f'"{tmp_path}/{folder}/')
    exec(example, {})
    assert set(pq.read_table(f"{tmp_path}/unique").column("url").to_pylist()) == {"page/0", "page/1"}
    found = pq.read_table(f"{tmp_path}/duplicates")
    assert set(zip(*(found.column(name).to_pylist() for name in ("id", "survivor_id")), strict=True)) == {
        ("page/2", "page/0"), ("page/3", "page/1")}  # fmt: skip


STRINGS = pa.schema({"id": pa.string(), "text": pa.string()})


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("a", "x y z"), ("b", None)], {}, "The text of document 'b' is null. Give each row a text"),
        ([("a", "x y z"), (None, "u v w")], {}, "1 rows have no id: column 'id' is null"),
        ([("a", "x y z"), ("a", "u v w")], {}, "Some ids occur several times in column 'id', such as 'a'"),
        ([("a", "x y z")], {"text": "body"}, "The dataset has no column 'body'; it has 'id', 'text'"),
        ([("a", "x y z")], {"order": ()}, "This dataset has no order: give `order=`"),
        ([("a", "x y z")], {"method": "auto"}, "no engine looks at the corpus first to choose"),
        ([("a", "x y z")], {"min_similarty": 0.7}, "did you mean `min_similarity`"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, rows, options, message):
    dataset = rows_in([{"id": name, "text": text} for name, text in rows], STRINGS)
    with pytest.raises(nd.NeardupError, match=message):
        on_ray.deduplicate(dataset, work=str(tmp_path / "work"), **{"order": "id", **options})


@pytest.mark.parametrize(
    ("column", "values", "options", "message"),
    [
        ("text", [1, 2], {}, "The column 'text' holds int64, not strings. Name the column of the texts, or cast it."),
        ("id", [1.5, 2.5], {}, "The column 'id' holds double. Ids are strings or integers: name another column"),
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
            "The column 'at' holds list<.*>; `keep` and `within` compare numbers, dates",
        ),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, column, values, options, message):
    names = {"id": ["a", "b"], "text": ["x y z", "u v w"], column: values}
    with pytest.raises(nd.InputError, match=message):
        on_ray.deduplicate(
            data().from_arrow(pa.table(names)), work=str(tmp_path / "work"), **{"order": "id", **options}
        )


def test_a_reference_has_the_order_of_the_documents(tmp_path):
    given, known = rows_in([{"id": "a", "text": "x y z", "n": 1}]), rows_in([{"id": "a", "text": "x y z", "n": "1"}])
    with pytest.raises(
        nd.InputError, match="column 'n' holds int64, and string in `against`: these have no common order"
    ):
        on_ray.deduplicate(given, order="n", against=known, work=str(tmp_path / "work"))


def test_what_is_no_dataset_is_refused():
    with pytest.raises(nd.OptionError, match="list is no Dataset of Ray. Give one, as `ray.data.read_parquet"):
        on_ray.deduplicate(["a text"], order="id")


def test_a_folder_that_nodes_share_is_needed():
    with pytest.raises(nd.OptionError, match="The nodes of this cluster share no folder that is known. Give `work=`."):
        on_ray.deduplicate(rows_in([{"id": "a", "text": "x y z"}], STRINGS), order="id")


def test_another_version_on_a_worker_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "__version__", "0.0.1")
    with pytest.raises(nd.InputError, match=r"A worker has neardup .*, and the driver 0.0.1. Ship one environment"):
        run(data().read_parquet(written(tmp_path / "in", rows_of())), tmp_path / "work")


def change_before(monkeypatch, name, change):
    """Do something before a stage runs."""
    ran = RayEngine.run

    def changing(self, stage, *inputs):
        if stage.name == name:
            change()
        return ran(self, stage, *inputs)

    monkeypatch.setattr(RayEngine, "run", changing)


def test_an_input_that_changes_is_refused(tmp_path, monkeypatch):
    rows = numbered([{"id": str(i), "text": f"one text of some words here {i % 3}"} for i in range(9)])
    dataset = data().read_parquet(written(tmp_path / "in", rows, 2))

    def change():
        others = [row | {"text": "another"} for row in rows[1::2]]
        pq.write_table(pa.Table.from_pylist(others, SCHEMA), tmp_path / "in" / "1.parquet")

    change_before(monkeypatch, "equal", change)
    with pytest.raises(nd.DataError, match="of the input has changed since it was first read"):
        run(dataset, tmp_path / "work")


def test_an_order_that_changes_after_it_was_looked_at_is_refused(tmp_path, monkeypatch):
    """Texts and ids are as they were, so no reading notices it."""
    rows = rows_of()[:40]
    dataset = data().read_parquet(written(tmp_path / "in", rows, 4, dealt=False))

    def change():
        turned = [row | {"n": 9 - at} for at, row in enumerate(rows[:10])]
        pq.write_table(pa.Table.from_pylist(turned, SCHEMA), tmp_path / "in" / "0.parquet")

    change_before(monkeypatch, "equal", change)
    with pytest.raises(nd.DataError, match="The files of the input have changed since the job began. It must have the"):
        run(dataset, tmp_path / "work")


def test_survivors_of_files_that_have_changed_are_refused(tmp_path):
    rows = rows_of()[:40]
    done = run(data().read_parquet(written(tmp_path / "in", rows, 2)), tmp_path / "work")
    pq.write_table(pa.Table.from_pylist(rows[:20], SCHEMA), tmp_path / "in" / "0.parquet")
    with pytest.raises(Exception, match="of the input has changed since it was first read"):
        survivors(done)


@pytest.mark.parametrize("name", job.NOT_TAKEN)
def test_what_is_not_taken_is_refused_by_name(name):
    for function in (on_ray.deduplicate, on_ray.clusters, on_ray.pairs):
        with pytest.raises(nd.OptionError) as refused:
            function(None, **{name: "x"})
        assert str(refused.value) == f"On Ray, `{name}` is not taken. {job.NOT_TAKEN[name]}"


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
