"""Clusters cut the passages that one process cuts, and go on where a job failed."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.cluster_runs import FailureError, change_before
from engines.corpus_files import numbered, written
from engines.passage_runs import by_one_process
from engines.ray_cluster import connected
from engines.ray_kills import killed
from engines.spark_kills import workers_killed
from engines.test_passages import boilerplate
from neardup.engines.job import cluster_engine
from neardup.engines.repeats.outcomes import LOG_COLUMNS
from neardup.text.columns import decoded_type

DOCS = Path(__file__).parents[2] / "docs"
LONG = pytest.mark.long
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters


def rows_of(documents=40):
    """Documents with lines of others, some of which have nothing else; and of three languages."""
    found = [row["text"].replace(" p0 ", "\np0 ").replace(" end", "\nend") for row in boilerplate(documents)]
    texts = [*found, found[0], " ".join(f"p{i}" for i in range(12)), "p3, p4 " * 30]
    return numbered([{"id": f"d{i}", "text": text, "language": "abc"[i % 3]} for i, text in enumerate(texts)])


def passages_of(engine, given, work, **options):
    return engine.functions.passages(given, order="n", work=str(work), **options)


def check(engine, done, rows, reference=(), **options):
    """Compare what a cluster has cut with `find_passages`."""
    texts, lines, counts = by_one_process(rows, reference, **options)
    documents = {row["n"]: row for row in engine.rows(done.documents)}
    assert {n: row["text"] for n, row in documents.items()} == {n: t for n, t in enumerate(texts) if t is not None}
    assert all(row["id"] == rows[n]["id"] and row["language"] == rows[n]["language"] for n, row in documents.items())
    found = sorted((row for row in engine.rows(done.passages)), key=lambda row: (int(row["id"][1:]), row["start"]))
    assert all(set(row) == set(LOG_COLUMNS) for row in found)
    names = [[row["id"] for row in some] for some in (rows, reference)]
    for row, line in zip(found, lines, strict=True):
        of, in_reference = line["copy"]
        assert (row["id"], row["copy_id"]) == (names[0][line["doc"]], names[in_reference][of])
        assert all(row[name] == line[name] for name in LOG_COLUMNS if name not in ("id", "copy_id"))
    summary = done.summary.as_dict()
    assert {name: summary[name] for name in counts} == counts
    assert (summary["documents"], summary["reference_documents"]) == (len(rows), len(reference))
    return counts


def cutting(engine, folder):
    """Run a job in a folder. Returns its stages, and whether the answer is that of one process."""
    rows = rows_of(30)
    done = passages_of(engine, engine.read(written(folder / "in", rows, 8)), folder / "work", min_tokens=10)
    texts, _, _ = by_one_process(rows, min_tokens=10)
    found = {row["n"]: row["text"] for row in engine.rows(done.documents)}
    return done.stages, found == {n: text for n, text in enumerate(texts) if text is not None}


@pytest.mark.parametrize(
    ("cluster", "what"), [("ray", "worker"), pytest.param("spark", "worker", marks=LONG)], indirect=["cluster"]
)
@pytest.mark.timeout(1200)
def test_a_worker_that_dies_in_a_stage_changes_nothing(cluster, tmp_path, what):
    names = ("documents", "earliest windows", "texts", "cuts")
    if cluster.name == "spark":
        found = workers_killed(cluster, tmp_path, names, cutting)
    else:
        with connected(cluster):
            found = killed(cluster, tmp_path, what, names, cutting)
    assert found.is_same
    assert set(found.killed) <= set(names)
    assert len(found.killed) > len(names) / 2  # all tasks of a stage may run on the head, or be over before


@pytest.mark.parametrize(
    ("options", "small"),
    [
        ({"min_tokens": 10}, 0),
        ({"min_tokens": 10, "keep": "longest", "within": "language", "align": "line", "min_left": 3}, 1 << 24),
        ({"min_tokens": 8, "keep": "last", "scope": "other-documents"}, 1 << 24),
    ],
)
def test_the_cluster_cuts_what_one_process_cuts(engine, tmp_path, monkeypatch, options, small):
    monkeypatch.setattr(cluster_engine, "SMALL_BYTES", small)
    rows, reference = rows_of(), numbered(rows_of()[:2])
    given = engine.read(written(tmp_path / "in", rows))
    against = engine.read(written(tmp_path / "ref", reference, 1)) if options["min_tokens"] == 8 else None
    done = passages_of(engine, given, tmp_path / "work", against=against, **options)
    counts = check(engine, done, rows, reference if against is not None else (), **options)
    assert counts["segments"] > 12
    done.close()


def test_rows_that_were_moved_are_cut_as_well(engine, tmp_path):
    rows = rows_of(12)
    done = passages_of(engine, engine.shuffled(engine.of(rows)), tmp_path / "work", min_tokens=10)
    assert check(engine, done, rows, min_tokens=10)["removed"] > 0
    done.close()


@pytest.mark.parametrize("engine", ["ray"], indirect=True)
@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_the_column_of_texts_keeps_its_type_but_for_dictionaries(engine, tmp_path, kind):
    rows = rows_of(130)  # more texts than the dictionary has numbers
    rows = [row | {"text": rows[n % 40]["text"] + f" {n % 120}"} for n, row in enumerate(rows)]
    table = pa.Table.from_pylist(rows)
    table = table.set_column(1, pa.field("text", kind), table.column("text").cast(kind))
    pq.write_table(table, tmp_path / "texts.parquet")
    done = passages_of(engine, engine.read(tmp_path / "texts.parquet"), tmp_path / "work", min_tokens=10)
    assert done.documents.schema().base_schema.field("text").type == decoded_type(kind)
    check(engine, done, rows, min_tokens=10)
    done.close()


def test_the_example_of_the_page_runs(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / f"{engine.name}.md").read_text(encoding="utf-8")
    example = next(
        each for each in re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "passages(" in each
    )
    passage = " ".join(f"p{i}" for i in range(60))
    Path("pages").mkdir()
    rows = [{"url": f"page/{i}", "text": f"page {i}. {passage}", "fetched": i} for i in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), "pages/0.parquet")
    for folder in ("work", "cut", "passages"):
        example = example.replace(f'"{folder}/', f'"{tmp_path}/{folder}/')
    exec(example, {"neardup": nd, "pages": engine.read(tmp_path / "pages")})
    found = pq.read_table(f"{tmp_path}/cut").to_pylist()
    assert {row["text"] for row in found} == {rows[0]["text"], "page 1. ", "page 2. "}
    listed = pq.read_table(f"{tmp_path}/passages").to_pylist()
    assert sorted((row["id"], row["copy_id"], row["tokens"]) for row in listed) == [
        ("page/1", "page/0", 60),
        ("page/2", "page/0", 60),
    ]


def test_a_job_that_failed_goes_on(engine, tmp_path, failing, monkeypatch):
    monkeypatch.setattr(cluster_engine, "SMALL_BYTES", 0)
    rows = rows_of(12)
    written(tmp_path / "in", rows)
    attempts = 0
    while True:
        failing |= {"stages": 6, "is_noted": attempts % 2 == 0}
        try:
            done = passages_of(engine, engine.read(tmp_path / "in"), tmp_path / "work", min_tokens=10)
            break
        except FailureError:
            attempts += 1
    failing["stages"] = None
    assert attempts > 1
    check(engine, done, rows, min_tokens=10)
    with pytest.raises(nd.RecipeMismatch, match="the work of another job: options min_tokens was 10, now 11"):
        passages_of(engine, engine.read(tmp_path / "in"), tmp_path / "work", min_tokens=11)
    done.close()


def test_an_input_that_changes_is_refused(engine, tmp_path, monkeypatch):
    rows = rows_of(9)
    given = engine.read(written(tmp_path / "in", rows, 1))

    def change():
        (tmp_path / "in" / "0.parquet").unlink()
        written(tmp_path / "again", [row | {"text": "another"} for row in rows], 1)
        (tmp_path / "again" / "0.parquet").rename(tmp_path / "in" / "0.parquet")

    change_before(engine, monkeypatch, "cells", change)
    with pytest.raises(nd.DataError, match="of the input has changed since it was first read"):
        passages_of(engine, given, tmp_path / "work", min_tokens=10)
