"""Functions of rows for polars and DuckDB, and the transformer for scikit-learn, in the versions of the environment of development."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import neardup as nd

pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sklearn")

import sklearn  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import neardup.duckdb  # noqa: E402
import neardup.polars  # noqa: E402
from neardup.integrations.rows import WHOLE  # noqa: E402
from neardup.integrations.sklearn import TESTED, FingerprintTransformer  # noqa: E402

ROOT = Path(__file__).parents[2]
SMALL = nd.Recipe(bits=64, max_distance=3)
LEFT = ["to be or not to be", None, "", "x", "羅生門が、雨にふりこめられた下人と", "same", None]
RIGHT = ["To be, or not to be?", "x", "", "y", "羅生門が雨にふりこめられた下人と", "same", None]
PRINTS = [None if text is None else int(nd.fingerprint([text], recipe=SMALL)[0]) for text in LEFT]
ALIKE = [None if a is None or b is None else nd.similarity(a, b) for a, b in zip(LEFT, RIGHT, strict=True)]
FRAME = pl.DataFrame({"a": LEFT, "b": RIGHT, "g": [0, 1, 0, 1, 0, 1, 0]})
BOTH = (
    pl.col("a").neardup.fingerprint(recipe=SMALL).alias("print"),
    pl.col("a").neardup.similarity("b").alias("alike"),
)


def is_right(frame):
    assert frame["print"].to_list() == PRINTS
    assert frame["alike"].to_list() == ALIKE


def test_expressions_give_what_the_library_gives_for_each_row():
    is_right(FRAME.select(BOTH))
    assert FRAME.lazy().select(BOTH).collect_schema() == {"print": pl.UInt64, "alike": pl.Float64}
    assert FRAME.select(pl.col("a").neardup.similarity(pl.col("b"))).columns == ["a"]
    wide = FRAME.select(pl.col("a").neardup.fingerprint())["a"]
    expected = nd.fingerprint([LEFT[0]])[0].astype(">u8").tobytes()
    assert (wide.dtype, wide[0], wide[1], len(expected)) == (pl.Binary, expected, None, 16)


def test_expressions_give_the_same_in_chunks_streams_and_groups():
    """Two chunks, each with a text of a near-duplicate in the other: no row depends on another one."""
    chunks = pl.concat([FRAME[:3], FRAME[3:]], rechunk=False)
    assert chunks.n_chunks() == 2
    is_right(chunks.select(BOTH))
    is_right(chunks.lazy().select(BOTH).collect(engine="streaming"))
    is_right(chunks.lazy().with_columns(BOTH).filter(pl.col("g") < 2).collect())
    over = chunks.select(BOTH[0].over("g"), BOTH[1].over("g"))
    is_right(over)
    grouped = chunks.with_row_index().group_by("g").agg("index", *BOTH).explode("index", "print", "alike").sort("index")
    is_right(grouped)
    assert chunks.filter(pl.col("g") > 5).select(BOTH).shape == (0, 2)
    assert FRAME.clear().select(BOTH).schema == {"print": pl.UInt64, "alike": pl.Float64}


@pytest.mark.parametrize("name", WHOLE)
def test_expressions_leave_what_needs_all_rows_to_the_frame(name):
    with pytest.raises(
        AttributeError, match=f"has no `{name}`: it sees a part of the rows at a time.*neardup.deduplicate"
    ):
        getattr(pl.col("a").neardup, name)


def test_expressions_refuse_other_names_types_and_options():
    with pytest.raises(AttributeError, match="has no `neardup.minhash`, but `fingerprint` and `similarity`"):
        _ = pl.col("a").neardup.minhash
    for wrong in (pl.col("g").neardup.fingerprint(), pl.col("g").neardup.similarity("a")):
        with pytest.raises(
            (nd.OptionError, pl.exceptions.ComputeError), match="The column has the type int64; give strings."
        ):
            FRAME.select(wrong)
    with pytest.raises(nd.OptionError, match="kind='jacard'"):
        pl.col("a").neardup.similarity("b", kind="jacard")
    with pytest.raises(nd.OptionError, match="recipe"):
        pl.col("a").neardup.fingerprint(recipe="none")
    assert FRAME.select(pl.lit(None).neardup.fingerprint(recipe=SMALL)).item() is None
    enum = FRAME.select(pl.col("a").cast(pl.Categorical))
    assert enum.select(pl.col("a").cast(pl.String).neardup.fingerprint(recipe=SMALL))["a"].to_list() == PRINTS


def test_functions_of_duckdb_give_what_the_library_gives_for_each_row():
    connection = duckdb.connect()
    neardup.duckdb.register(connection, recipe=SMALL)
    rows = connection.sql("SELECT neardup_fingerprint(a), neardup_similarity(a, b) FROM FRAME").fetchall()
    assert rows == list(zip(PRINTS, ALIKE, strict=True))
    distance = "bit_count(xor(neardup_fingerprint('a rose'), neardup_fingerprint('A ROSE!')))"
    assert connection.sql(f"SELECT {distance}, neardup_fingerprint(NULL)").fetchall() == [(0, None)]
    neardup.duckdb.register(connection, kind="containment")  # again, with other options
    (first,) = connection.sql(
        "SELECT neardup_fingerprint(a), neardup_similarity('to be or not', a) FROM FRAME LIMIT 1"
    ).fetchall()
    assert first == (nd.fingerprint([LEFT[0]])[0].astype(">u8").tobytes(), 1.0)


def test_functions_of_duckdb_give_the_same_in_many_chunks_on_several_threads():
    connection = duckdb.connect(config={"threads": 2})
    neardup.duckdb.register(connection, recipe=SMALL)
    query = "SELECT count(DISTINCT neardup_fingerprint('page ' || (i % 10))) FROM range(300000) t(i)"
    assert connection.sql(query).fetchall() == [(10,)]
    assert connection.sql("SELECT neardup_fingerprint(a) FROM FRAME WHERE a = 'none'").fetchall() == []


def test_functions_of_duckdb_refuse_other_types_and_options():
    connection = duckdb.connect()
    with pytest.raises(nd.OptionError, match="`connection` is a str. Give one of DuckDB"):
        neardup.duckdb.register("pages.db")
    with pytest.raises(nd.OptionError, match="kind='jacard'"):
        neardup.duckdb.register(connection, kind="jacard")
    neardup.duckdb.register(connection)
    with pytest.raises(duckdb.Error, match="neardup_fingerprint"):
        connection.sql("SELECT neardup_fingerprint([1, 2])").fetchall()


def test_the_transformer_gives_the_bits_of_fingerprints():
    texts = [text for text in LEFT if text is not None]
    bits = FingerprintTransformer(recipe=SMALL).fit_transform(texts)
    assert (bits.shape, bits.dtype) == ((5, 64), np.uint8)
    assert ["".join(map(str, row)) for row in bits] == [f"{each:064b}" for each in PRINTS if each is not None]
    words = FingerprintTransformer(output="words").fit_transform(np.array(texts, dtype=object))
    assert np.array_equal(words, nd.fingerprint(texts))
    odd = FingerprintTransformer(recipe=nd.Recipe(bits=32, max_distance=2))
    assert odd.fit_transform(texts).shape == (5, 32)
    assert odd.get_feature_names_out().tolist() == [f"bit{i}" for i in range(32)]
    assert FingerprintTransformer().fit(texts).transform([]).shape == (0, 128)


def test_the_transformer_is_one_of_scikit_learn():
    made = FingerprintTransformer(recipe=SMALL, output="bits")
    assert clone(made).get_params() == {"output": "bits", "recipe": SMALL, "text": "text"}
    again = pickle.loads(pickle.dumps(made.set_params(output="words")))
    assert again.transform(["a"]).tolist() == [[int(nd.fingerprint(["a"], recipe=SMALL)[0])]]
    assert made.__sklearn_tags__().input_tags.string
    texts = [
        "All the bells of the town rang at noon.",
        "A rose is a rose.",
        "all the bells of the town rang",
        "a rose, is a rose",
    ]
    nearest = make_pipeline(FingerprintTransformer(recipe=SMALL), KNeighborsClassifier(1, metric="hamming"))
    assert nearest.fit(texts[:2], ["bells", "rose"]).predict(texts[2:]).tolist() == ["bells", "rose"]
    frame = pl.DataFrame({"text": texts, "n": [1, 2, 3, 4]}).to_pandas()
    parts = ColumnTransformer([("prints", FingerprintTransformer(recipe=SMALL), "text")], remainder="passthrough")
    assert parts.fit_transform(frame).shape == (4, 65)
    assert parts.get_feature_names_out()[0] == "prints__bit0"
    assert FingerprintTransformer(recipe=SMALL).fit_transform(frame).shape == (4, 64)


def test_the_transformer_refuses_what_holds_no_texts():
    with pytest.raises(nd.OptionError, match=r"X has 2 dimensions. Give one text for each row: `X\[:, 0\]`"):
        FingerprintTransformer().fit_transform(np.array([["a"], ["b"]]))
    with pytest.raises(nd.OptionError, match="`output='hex'`: give 'bits' or 'words'"):
        FingerprintTransformer(output="hex").fit(["a"])
    with pytest.raises(nd.DataError, match="Text 1 is null"):
        FingerprintTransformer().fit_transform(["a", None])
    with pytest.raises(nd.OptionError, match="one str"):
        FingerprintTransformer().fit_transform("a text")


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("neardup.polars", "polars", "polars"),
        ("neardup.duckdb", "duckdb", "duckdb"),
        ("neardup.integrations.sklearn", "scikit-learn", "sklearn"),
        ("neardup.integrations.langchain", "langchain-core", "langchain"),
        ("neardup.integrations.llama_index", "llama-index-core", "llama-index"),
        ("neardup.integrations.haystack", "haystack-ai", "haystack"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_command(module, package, extra):
    program = f"import neardup.recipe.stored_parts as parts\nparts.version_of = lambda name: None\nimport {module}\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"needs {package}. Install it: pip install 'neardup[{extra}]'" in done.stderr.splitlines()[-1]


def test_the_version_of_scikit_learn_that_was_tested_is_stated():
    assert re.fullmatch(r"\d+\.\d+\.\d+", TESTED)
    assert sklearn.__version__.split(".")[0] == TESTED.split(".")[0]
