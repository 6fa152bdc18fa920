"""A cluster gives the survivors, clusters and audit of `neardup dedup`, and refuses what it cannot do in our words."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from agreement import corpora
from dense_lines import dense_lines
from engines.cluster_runs import change_before, check, run
from engines.corpus_files import SCHEMA, numbered, rows_of, written
from neardup.engines.stages import THERE

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters
DOCS = Path(__file__).parents[2] / "docs"
LONG = pytest.mark.long
BY_LENGTH = {"method": "minhash", "min_similarity": 0.7, "keep": "longest", "within": "language"}
CONTAINED = {"method": "exact", "min_similarity": 0.6, "similarity": "containment"}
EXACT = {"method": "exact", "min_similarity": 0.6}


@pytest.mark.parametrize(
    ("processes", "name", "options", "files"),
    [
        pytest.param("spark", "mixture", EXACT, 1, marks=LONG),
        ("spark", "reference", CONTAINED, 4),
        pytest.param("spark", "mixture", BY_LENGTH, 3, marks=LONG),
        pytest.param("spark", "chains", {**EXACT, "cluster": "components"}, 8, marks=LONG),
        pytest.param("spark", "equal sets", {"method": "simhash", "max_distance": 24, "keep": "last"}, 3, marks=LONG),
        ("ray", "reference", CONTAINED, 4),
        pytest.param("ray", "mixture", {"method": "exact", "similarity": "edit"}, 1, marks=LONG),
        ("ray", "mixture", BY_LENGTH, 3),
        pytest.param("ray", "mixture", {**EXACT, "keep": "max:n"}, 3, marks=LONG),
        ("ray", "reference", {**EXACT, "keep": "min:n", "within": "language"}, 3),
    ],
    indirect=["processes"],
)
def test_the_cluster_answers_as_one_machine(processes, tmp_path, name, options, files):
    check(processes, tmp_path, name, options, files, small=1 << 24)


@pytest.mark.parametrize(
    ("processes", "options"),
    [
        ("spark", {"method": "exact", "min_similarity": 0.7}),
        pytest.param("spark", {"method": "minhash", "min_similarity": 0.7, "cluster": "components"}, marks=LONG),
        ("ray", {"method": "exact", "min_similarity": 0.7}),
        ("ray", {"method": "minhash", "min_similarity": 0.7, "cluster": "components"}),
    ],
    indirect=["processes"],
)
def test_lines_that_are_nearly_alike_are_held_by_tasks_of_the_cluster(processes, tmp_path, options):
    lines = dense_lines(1_500, "inserted", templates=2)
    rows = [{"id": f"d{at}", "text": text, "language": "en"} for at, text in enumerate(lines)]
    corpus = corpora.Corpus("dense", [rows[:1_300]], rows[1_300:])
    stages = check(processes, tmp_path, corpus, options, small=1 << 14)
    assert any(stage.name == "dense tiles" and stage.ran == THERE for stage in stages)
    assert max(rows for stage in stages for rows in stage.rows.values()) < 60 * len(lines)


def write_rows(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".json":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text("id,text,more\n" + "".join(f"{row['id']},{row['text']},{row['more']}\n" for row in rows))


@pytest.mark.parametrize(
    ("processes", "kind"),
    [("spark", "parquet"), ("ray", "parquet"), ("ray", "json"), ("ray", "csv")],
    indirect=["processes"],
)
def test_files_have_the_order_of_their_rows(processes, tmp_path, kind):
    texts = ["one text of some words here", "another text that stands alone", "one text of some words here"]
    rows = [{"id": f"d{i}", "text": text, "more": i} for i, text in enumerate(texts)]
    folder = tmp_path / "in"
    folder.mkdir()
    for number, some in enumerate((rows[2:], rows[:2])):  # the files' names say that the last row comes first
        write_rows(folder / f"{number}.{kind}", some)
    done = processes.functions.deduplicate(processes.read(folder, kind), work=str(tmp_path / "work"))
    assert sorted((row["id"], row["more"]) for row in processes.rows(done.survivors)) == [("d1", 1), ("d2", 2)]
    names = {"id": "d0", "survivor_id": "d2", "cluster_id": "d2"}
    assert processes.rows(done.duplicates) == [
        names | {"exact": True, "similarity": 1.0, "distance": 0, "only_digits": False}
    ]
    assert not (tmp_path / "work" / "copied").exists()
    done.engine.close()


def test_the_example_of_the_page_runs(processes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / f"{processes.name}.md").read_text(encoding="utf-8")
    example, *_ = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    rows = [{"url": f"page/{i}", "text": f"one of two texts, number {i % 2}", "fetched": i} for i in range(4)]
    Path("pages").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), "pages/0.parquet")
    for folder in ("pages", "work", "unique", "duplicates"):
        example = example.replace(f'"{folder}/', f'"{tmp_path}/{folder}/')
    exec(example, {})
    assert set(pq.read_table(f"{tmp_path}/unique").column("url").to_pylist()) == {"page/0", "page/1"}
    found = pq.read_table(f"{tmp_path}/duplicates").to_pylist()
    assert {(row["id"], row["survivor_id"]) for row in found} == {("page/2", "page/0"), ("page/3", "page/1")}


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([("a", "x y z"), ("b", None)], {}, "The text of document 'b' is null. Drop or fill nulls first."),
        ([("a", "x y z"), (None, "u v w")], {}, "1 rows have no id: column 'id' is null"),
        ([("a", "x y z"), ("a", "u v w")], {}, "Some ids occur several times in column 'id', such as 'a'"),
        ([("a", "x y z")], {"text": "body"}, "There is no column 'body' for the texts. The columns are id, text. Name"),
        ([("a", "x y z")], {"order": ()}, "This {} has no order: give `order=`"),
        ([("a", "x y z")], {"method": "auto"}, "no engine looks at the corpus first to choose"),
        ([("a", "x y z")], {"min_similarty": 0.7}, "did you mean `min_similarity`"),
    ],
)
def test_what_cannot_be_is_refused(processes, tmp_path, rows, options, message):
    given = processes.of([{"id": name, "text": text} for name, text in rows], {"id": "string", "text": "string"})
    with pytest.raises(nd.NeardupError, match=message.format(processes.words)):
        processes.functions.deduplicate(given, work=str(tmp_path / "work"), **{"order": "id", **options})


NO_FOLDER = {
    "spark": "no folder that its executors share. Give `work=`",
    "ray": "The nodes of this cluster share no folder that is known. Give `work=`.",
}


def test_a_folder_that_all_machines_share_is_needed(processes):
    given = processes.of([{"id": "a", "text": "x y z"}], {"id": "string", "text": "string"})
    with pytest.raises(nd.OptionError, match=NO_FOLDER[processes.name]):
        processes.functions.deduplicate(given, order="id")


def test_another_version_in_a_task_is_refused(processes, tmp_path, monkeypatch):
    monkeypatch.setattr(processes.versioned, "__version__", "0.0.1")
    given = processes.read(written(tmp_path / "in", rows_of()))
    with pytest.raises(nd.InputError, match=r"An? \w+ has neardup .*, and the driver 0.0.1. Ship one environment"):
        run(processes, given, tmp_path / "work")


def test_an_input_that_changes_is_refused(processes, tmp_path, monkeypatch):
    rows = numbered([{"id": str(i), "text": f"one text of some words here {i % 3}"} for i in range(9)])
    given = processes.read(written(tmp_path / "in", rows, 2))

    def change():
        others = [row | {"text": "another"} for row in rows[1::2]]
        pq.write_table(pa.Table.from_pylist(others, SCHEMA), tmp_path / "in" / "1.parquet")

    change_before(processes, monkeypatch, "equal", change)
    with pytest.raises(nd.DataError, match="of the input has changed since it was first read"):
        run(processes, given, tmp_path / "work")


def test_an_order_that_changes_after_it_was_looked_at_is_refused(processes, tmp_path, monkeypatch):
    """Texts and ids are as they were, so no reading notices it."""
    rows = rows_of()[:40]
    given = processes.read(written(tmp_path / "in", rows, 4, dealt=False))

    def change():
        turned = [row | {"n": 9 - at} for at, row in enumerate(rows[:10])]
        pq.write_table(pa.Table.from_pylist(turned, SCHEMA), tmp_path / "in" / "0.parquet")

    change_before(processes, monkeypatch, "equal", change)
    message = "The files of the input have changed since the job began. It must have the same"
    with pytest.raises(nd.DataError, match=message):
        run(processes, given, tmp_path / "work")
