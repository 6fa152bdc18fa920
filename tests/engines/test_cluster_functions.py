"""The functions for clusters answer as those for one machine do, on rows in memory and on files of any names."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from agreement import corpora
from engines.cluster_runs import run, survivors
from engines.corpus_files import SCHEMA, expected, numbered, rows_of, written

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters
TEXTS = ["One text of some words here!", "a text that is new in every word", "A text that is new in every word", "z"]


def test_lists_of_pairs_and_clusters_are_those_of_one_machine(engine, tmp_path):
    corpus = corpora.make("reference")
    rows, against = numbered(corpus.rows), numbered(corpus.reference)
    given, reference = (
        engine.read(written(tmp_path / "in", rows, 3)),
        engine.read(written(tmp_path / "ref", against, 1)),
    )
    recipe, similarity = nd.Recipe(bits=64, min_tokens=2, max_distance=3), nd.Similarity(word_shingle=1)
    options = {"recipe": recipe, "method": "exact", "min_similarity": 0.4, "similarity": similarity}
    columns = ("left_id", "right_id", "distance", "similarity")
    for other, name in ((None, "one"), (reference, "two")):
        found = nd.match(rows, None if other is None else against, **options)
        ids = [[row["id"] for row in some] for some in (rows, rows if other is None else against)]
        names = ([ids[side][row] for row in column] for side, column in enumerate((found.left, found.right)))
        listed = sorted(zip(*names, found.distance.tolist(), found.similarity.tolist(), strict=True))
        assert len(listed) > 4
        ours = engine.functions.pairs(given, order="n", against=other, work=str(tmp_path / name), **options)
        assert sorted(tuple(row[column] for column in columns) for row in engine.rows(ours)) == listed
    options |= {"keep": "min:n", "within": "language"}
    work = str(tmp_path / "clusters")
    ours = engine.functions.clusters(given, order="n", against=reference, work=work, **options)
    one = nd.deduplicate(rows, against=against, **options).clusters.to_pylist()
    assert sorted((row["id"], row["cluster_id"], row["survivor_id"]) for row in engine.rows(ours)) == sorted(
        (row["id"], rows[row["cluster_id"]]["id"], row["survivor_id"]) for row in one
    )


def test_distances_that_decide_alone_leave_similarities_open(engine, tmp_path):
    rows, options = rows_of("reference"), {"method": "simhash", "min_similarity": 0, "max_distance": 24}
    done = run(engine, engine.read(written(tmp_path / "in", rows, 2)), tmp_path / "work", **options)
    assert survivors(engine, done) == expected(rows, **options)
    assert {row["similarity"] for row in engine.rows(done.duplicates) if not row["exact"]} == {None}


def test_one_odd_value_is_refused_with_its_id(engine, tmp_path):
    rows = [{"n": n, "id": f"d{n}", "text": "a text", "score": value} for n, value in enumerate(["9", "10", "n/a"])]
    given = engine.of(rows, {"n": "int", "id": "string", "text": "string", "score": "string"})
    message = r"text, such as 'n/a' \(id \"d2\"\), among numbers, such as '\d+' \(id \"d[01]\"\)"
    with pytest.raises(nd.DataError, match=message):
        engine.rows(run(engine, given, tmp_path / "work", keep="max:score").survivors)


@pytest.mark.parametrize(
    "recipe", [nd.Recipe(bits=64, max_distance=3), nd.Recipe(stop_words=["en"]), nd.RECIPES["unmarked"].recipe]
)
def test_fingerprints_are_those_of_one_machine(engine, recipe):
    texts = ["the first of some texts", "", "another one, of other words", "x", "ไทย été 🎉"]
    given = engine.of([{"n": n, "text": text} for n, text in enumerate(texts)], {"n": "int", "text": "string"})
    ours = engine.functions.fingerprint(given.repartition(2), recipe=recipe)
    found = {row["n"]: row["fingerprint"] for row in engine.rows(ours)}
    for n, value in enumerate(nd.fingerprint(texts, recipe=recipe)):
        if recipe.bits == 64:
            assert found[n] % (1 << 64) == int(value)
        else:
            assert bytes(found[n]) == np.asarray(value).astype(">u8").tobytes()
    null = engine.of([{"text": None}], {"text": "string"})
    with pytest.raises(Exception, match="A text of the column 'text' is null. Drop or fill nulls first."):
        engine.rows(engine.functions.fingerprint(null))
    named = engine.of([{"fingerprint": "x"}], {"fingerprint": "string"})
    with pytest.raises(nd.InputError, match="has a column 'fingerprint' already"):
        engine.functions.fingerprint(named, text="fingerprint")


@pytest.mark.parametrize("kind", ["int", "string"])
def test_new_rows_are_near_nothing_known_nor_before_them(engine, tmp_path, kind):
    as_id, filter_new = {"int": int, "string": str}[kind], engine.functions.filter_new
    kinds = {"id": kind, "text": "string", "language": "string"}
    known = engine.of([{"id": as_id(9), "text": "one text of some words here", "language": None}], kinds)
    rows = [{"id": as_id(i), "text": text, "language": None} for i, text in enumerate(TEXTS)]
    given = engine.of(rows, kinds)
    done = filter_new(given, known, order="id", work=str(tmp_path / "work"), within="language")
    assert {row["id"] for row in engine.rows(done.survivors)} == {as_id(1), as_id(3)}
    gone = {(row["id"], row["survivor_id"]) for row in engine.rows(done.duplicates)}
    assert gone == {(as_id(0), as_id(9)), (as_id(2), as_id(1))}
    assert done.summary.against_reference == 1
    other = engine.without(known, "language")
    with pytest.raises(nd.InputError, match="There is no column 'language' for the values. The columns are id, text"):
        filter_new(given, other, order="id", work=str(tmp_path / "w"), within="language")
    with pytest.raises(nd.OptionError, match="`keep`: "):
        filter_new(given, known, order="id", keep="last")
    with pytest.raises(nd.OptionError, match=f"(?i)`reference=None`: give a {engine.words} of known documents"):
        filter_new(given, None, order="id")
    done.engine.close()


NAMES = {
    "spark": ("a b%20c [1] {x,y} é *", r"a b%20c \[1\] \{x,y\} é \*", "1?.parquet", "work"),
    "ray": ("a b%20c é", "a b%20c é", "1 x%.parquet", "work [1] %20 é"),
}
"""Of a folder, as it is written and as it is read, of a file, and of the folder of the job."""


def test_names_of_files_may_have_any_characters(engine, tmp_path):
    rows, (folder, pattern, file, work) = rows_of()[:60], NAMES[engine.name]
    (tmp_path / folder).mkdir()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / folder / file)
    done = run(engine, engine.read(tmp_path / pattern), tmp_path / work)
    assert survivors(engine, done) == expected(rows)
    done.engine.close()
