"""Whatever holds texts goes in as it is, and comes back as what it was."""

import datetime as dt
import json
from decimal import Decimal
from types import MappingProxyType

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from datasets import Dataset, DatasetDict, IterableDataset

import neardup as nd

TEXTS = [
    "the ferry leaves at ten past nine from the old pier",
    "The ferry leaves at ten past nine from the old pier!",
    "bread is baked before the sun is up in the lower town",
]
ROWS = [
    {"id": "a", "text": TEXTS[0], "score": 1.5, "lang": "en", "host": "web/x", "meta": {"body": TEXTS[0], "n": 1}},
    {"id": "b", "text": TEXTS[1], "score": 7.0, "lang": "en", "host": "books", "meta": {"body": TEXTS[1], "n": 2}},
    {"id": "c", "text": TEXTS[2], "score": None, "lang": None, "host": None, "meta": {"body": TEXTS[2], "n": 3}},
]
TABLE = pa.Table.from_pylist(ROWS)


def json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


class Stream:
    """What has nothing but Arrow's stream."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


TABLES = {
    "Arrow table": (lambda: TABLE, pa.Table),
    "record batch": (lambda: TABLE.to_batches()[0], pa.RecordBatch),
    "reader of batches": (TABLE.to_reader, pa.Table),
    "column of structs": (TABLE.to_struct_array, pa.ChunkedArray),
    "Arrow dataset": (lambda: pyarrow.dataset.dataset(TABLE), pa.Table),
    "stream": (lambda: Stream(TABLE), pa.Table),
    "pandas": (TABLE.to_pandas, pd.DataFrame),
    "pandas over Arrow": (lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype), pd.DataFrame),
    "polars": (lambda: pl.from_arrow(TABLE), pl.DataFrame),
    "lazy polars": (lambda: pl.from_arrow(TABLE).lazy(), pl.LazyFrame),
    "datasets": (lambda: Dataset(TABLE), Dataset),
    "datasets with chosen rows": (lambda: Dataset(pa.concat_tables([TABLE, TABLE])).select([3, 1, 5]), Dataset),
    "datasets that stream": (lambda: IterableDataset.from_generator(lambda: iter(ROWS)), list),
    "DuckDB": (lambda: duckdb.from_arrow(TABLE), pa.Table),
    "dicts": (lambda: ROWS, list),
    "tuple of dicts": (lambda: tuple(ROWS), tuple),
    "iterator of dicts": (lambda: iter(ROWS), list),
}
COLUMNS = {
    "list": (lambda: TEXTS, list),
    "tuple": (lambda: tuple(TEXTS), tuple),
    "generator": (lambda: (text for text in TEXTS), list),
    "values of a dict": (lambda: dict(enumerate(TEXTS)).values(), list),
    "numpy": (lambda: np.array(TEXTS), np.ndarray),
    "Arrow": (lambda: pa.array(TEXTS), pa.Array),
    "Arrow chunks": (lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]), pa.ChunkedArray),
    "Arrow dictionary": (lambda: pa.array(TEXTS).dictionary_encode(), pa.DictionaryArray),
    "Arrow views": (lambda: pa.array(TEXTS, pa.string_view()), pa.Array),
    "stream": (lambda: Stream(pa.chunked_array([TEXTS])), pa.ChunkedArray),
    "pandas": (lambda: pd.Series(TEXTS, index=[7, 8, 9]), pd.Series),
    "pandas objects": (lambda: pd.Series(TEXTS, dtype=object), pd.Series),
    "pandas categories": (lambda: pd.Series(TEXTS, dtype="category"), pd.Series),
    "pandas index": (lambda: pd.Index(TEXTS), list),
    "polars": (lambda: pl.Series(TEXTS), pl.Series),
    "polars categories": (lambda: pl.Series(TEXTS, dtype=pl.Categorical), pl.Series),
    "column of datasets": (lambda: Dataset(TABLE)["text"], list),
}


def as_rows(survivors):
    if isinstance(survivors, pl.LazyFrame):
        survivors = survivors.collect()
    if isinstance(survivors, pd.DataFrame):
        survivors = pa.Table.from_pandas(survivors, preserve_index=False)
    if isinstance(survivors, pl.DataFrame | Dataset):
        return [row["id"] for row in (survivors.to_dicts() if isinstance(survivors, pl.DataFrame) else survivors)]
    return [row["id"] for row in (survivors.to_pylist() if hasattr(survivors, "to_pylist") else survivors)]


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_gives_the_same_and_comes_back_as_what_it_was(kind):
    make, comes_back = TABLES[kind]
    for text in ("text", "meta.body", ("text", "meta.body")):
        result = nd.deduplicate(make(), text=text)
        assert isinstance(result.survivors, comes_back)
        assert as_rows(result.survivors) == ["a", "c"]
        assert result.duplicates.select(["id", "survivor_id"]).to_pylist() == [{"id": "b", "survivor_id": "a"}]
        assert nd.match(make(), text=text).left.tolist() == [0]
        assert (nd.fingerprint(make(), text=text) == nd.fingerprint(joined(text))).all()
        assert (nd.signatures(make(), text=text).values == nd.signatures(joined(text)).values).all()


@pytest.mark.parametrize("ids", [["a", "b", "c"], [7, 8, 9]])
def test_integers_stay_integers_in_pandas(ids):
    data = [{"id": ids[row], "text": text} for row, text in enumerate(TEXTS)]
    result = nd.deduplicate(data)
    found = result.annotations.to_pandas()
    dtypes = found.dtypes.astype(str).to_dict()
    assert {name: dtypes[name] for name in ("cluster_id", "cluster_size", "is_duplicate", "distance")} == {
        "cluster_id": "Int64",
        "cluster_size": "int64",
        "is_duplicate": "bool",
        "distance": "Int64",
    }
    assert found["cluster_id"].tolist() == [0, 0, 2]
    assert found["duplicate_of"].isna().tolist() == [True, False, True]
    assert found["duplicate_of"][1] == ids[0]
    assert (str(dtypes["duplicate_of"]) == "Int64") == isinstance(ids[0], int)
    assert (found.index == pd.RangeIndex(3)).all()
    assert str(result.clusters.to_pandas()["cluster_id"].dtype) == "Int64"
    against = nd.deduplicate(data, against=[TEXTS[2]]).duplicates.to_pandas()
    assert [str(against[name].dtype) for name in ("row", "survivor_row", "reference_row")] == [
        "int64",
        "Int64",
        "Int64",
    ]
    assert against["survivor_row"].tolist() == [0, pd.NA]
    assert result.annotations.select(["cluster_id"]).to_pandas()["cluster_id"].tolist() == [0, 0, 2]
    over_arrow = result.annotations.to_pandas(types_mapper=pd.ArrowDtype)
    assert str(over_arrow["cluster_id"].dtype) == "int64[pyarrow]"
    assert pl.from_arrow(result.annotations)["cluster_id"].to_list() == [0, 0, 2]


def joined(text):
    return ["\n".join([row["text"]] * (1 if isinstance(text, str) else len(text))) for row in ROWS]


@pytest.mark.parametrize("kind", TABLES)
def test_columns_decide_what_survives_in_every_kind_of_table(kind):
    make = TABLES[kind][0]
    assert as_rows(nd.deduplicate(make(), keep="max:score").survivors) == ["b", "c"]
    assert as_rows(nd.deduplicate(make(), keep="max:meta.n").survivors) == ["b", "c"]
    assert as_rows(nd.deduplicate(make(), keep="min:score").survivors) == ["a", "c"]
    assert as_rows(nd.deduplicate(make(), within="host").survivors) == ["a", "b", "c"]
    assert as_rows(nd.deduplicate(make(), within="lang").survivors) == ["a", "c"]
    chosen = nd.deduplicate(make(), prefer_source=("books", "web"), source="host")
    assert as_rows(chosen.survivors) == ["b", "c"]
    chosen = nd.deduplicate(make(), prefer_source="web", source="host", keep="last")
    assert as_rows(chosen.survivors) == ["a", "c"]
    assert len(nd.match(make(), within="host")) == 0


@pytest.mark.parametrize("kind", TABLES)
def test_a_reference_may_be_of_every_kind(kind):
    make = TABLES[kind][0]
    result = nd.deduplicate([{"id": "new", "text": TEXTS[2].upper()}, {"id": "x", "text": "salt"}], against=make())
    assert [row["id"] for row in result.survivors] == ["x"]
    assert result.duplicates.select(["id", "survivor_id", "survivor_row", "reference_row"]).to_pylist() == [
        {"id": "new", "survivor_id": "c", "survivor_row": None, "reference_row": 2}
    ]
    assert result.summary.against_reference == 1
    result = nd.deduplicate(make(), against=[TEXTS[2]])
    assert as_rows(result.survivors) == ["a"]
    assert result.duplicates.select(["survivor_row", "reference_row"]).to_pylist() == [
        {"survivor_row": 0, "reference_row": None},
        {"survivor_row": None, "reference_row": 0},
    ]


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_gives_the_same_and_comes_back_as_what_it_was(kind):
    make, comes_back = COLUMNS[kind]
    result = nd.deduplicate(make())
    assert isinstance(result.survivors, comes_back)
    texts = result.survivors.to_pylist() if hasattr(result.survivors, "to_pylist") else list(result.survivors)
    assert texts == [TEXTS[0], TEXTS[2]]
    assert result.kept.tolist() == [True, False, True]
    assert (nd.fingerprint(make()) == nd.fingerprint(TEXTS)).all()
    assert (nd.signatures(make()).values == nd.signatures(TEXTS).values).all()
    assert nd.match(make()).right.tolist() == [1]
    assert nd.match([TEXTS[1], "salt"], make()).right.tolist() == [0, 1]
    assert nd.evaluate(make()).documents == 3


def test_pandas_keeps_its_index_and_numbers_as_names_of_columns():
    assert nd.deduplicate(pd.Series(TEXTS, index=[7, 8, 9])).survivors.index.tolist() == [7, 9]
    assert nd.deduplicate(pd.DataFrame({0: TEXTS}, index=list("xyz")), text="0").survivors.index.tolist() == ["x", "z"]


@pytest.mark.parametrize("kind", [pa.table, lambda frame: pa.table(frame).to_batches()[0]])
def test_types_that_arrow_cannot_filter_come_back_as_they_were(kind):
    frame = pl.DataFrame(
        {"text": TEXTS, "tags": [["x"], [], ["y", "z"]], "c": pl.Series(["p", "q", "p"], dtype=pl.Categorical)}
    )
    data = kind(frame)
    found = nd.deduplicate(data).survivors
    assert found.schema == data.schema
    assert found.to_pylist() == [data.to_pylist()[row] for row in (0, 2)]
    assert nd.deduplicate(data, against=[*TEXTS]).survivors.to_pylist() == []


def test_what_has_as_many_rows_can_be_cut_like_the_data():
    result = nd.deduplicate(text for text in TEXTS)
    assert result.of(np.eye(3)).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert result.of(["x", "y", "z"]) == ["x", "z"]
    assert result.of(pl.DataFrame({"n": [1, 2, 3]}))["n"].to_list() == [1, 3]
    with pytest.raises(nd.OptionError, match="data has 2 rows, but 3 rows were de-duplicated"):
        result.of([1, 2])


def test_annotations_are_those_of_the_command_line(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(json_lines(ROWS))
    nd.deduplicate_files(tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), annotate=True)
    names = ("cluster_id", "cluster_size", "is_duplicate", "duplicate_of", "similarity", "distance")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    found = nd.deduplicate(ROWS).annotations
    assert found.to_pylist() == [{name: line[name] for name in names} for line in lines]
    assert found.column("cluster_size").to_pylist() == [2, 2, 1]


ZONE = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("least", "most"),
    [
        (1, 2.5),
        (2**60, 2**60 + 1),
        (Decimal("9.5"), Decimal("10.25")),
        ("9", "10"),
        ("apple", "pear"),
        (dt.date(1969, 1, 1), dt.date(2024, 2, 29)),
        (dt.datetime(2024, 1, 1, 1, tzinfo=ZONE), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
        (False, True),
        (None, -1.5),
        (float("nan"), 0),
        (2**60, 2.0**61),
    ],
)
def test_values_have_an_order_whatever_their_kind(least, most):
    rows = [{"text": TEXTS[0], "v": least}, {"text": TEXTS[1], "v": most}]
    for data in (rows, pd.DataFrame({"text": TEXTS[:2], "v": pd.Series([least, most], dtype=object)})):
        assert nd.deduplicate(data, keep="max:v").kept.tolist() == [False, True]


def test_a_dict_without_a_value_has_none():
    rows = [{"text": TEXTS[0]}, {"text": TEXTS[1], "v": 1}]
    assert nd.deduplicate(rows, keep="max:v").kept.tolist() == [False, True]


def test_ids_count_where_all_rows_have_one():
    rows = [{"text": TEXTS[0], "id": "a"}, {"text": TEXTS[1]}]
    assert nd.deduplicate(rows).duplicates.column("id").to_pylist() == [1]
    with pytest.raises(nd.InputError, match="Row 1 is no dict with 'id' for the ids"):
        nd.deduplicate(rows, id="id")


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (set(TEXTS), {}, nd.OptionError, r"data is a set, which has no order; give a list, such as sorted\(data\)"),
        (DatasetDict(train=Dataset(TABLE)), {}, nd.OptionError, r"data is one DatasetDict.*data\['train'\]"),
        (TEXTS, {"text": "body"}, nd.OptionError, "`text='body'`: the data is one column of texts"),
        (TEXTS, {"id": "key"}, nd.InputError, "no column 'key' for the ids: the data is one column of texts"),
        (TEXTS, {"keep": "max:n"}, nd.InputError, "no column 'n' for the values: the data is one column of texts"),
        (TEXTS, {"prefer_source": "web"}, nd.OptionError, "Give its name as `source`"),
        (ROWS, {"source": "host"}, nd.OptionError, "`source='host'`: it is for `prefer_source`"),
        (ROWS, {"source": "nope", "prefer_source": "web"}, nd.InputError, "no column 'nope' for the sources"),
        (ROWS, {"source": "host", "prefer_source": "we"}, nd.InputError, "no row is of this source. The sources are web/x"),
        (ROWS, {"text": "meta.title"}, nd.InputError, "no column 'meta.title' .* Its fields can be read: `text='meta.body'`"),
        (TABLE, {"text": "meta.title"}, nd.InputError, "no column 'meta.title' for the texts. The columns are id, text"),
        (TABLE, {"text": "text.body"}, nd.InputError, "no column 'text.body'"),
        (TABLE, {"text": "meta"}, nd.OptionError, "The column 'meta' has the type struct"),
        (TABLE, {"text": ""}, nd.OptionError, "give names of columns"),
        (TABLE, {"keep": "max:nope"}, nd.InputError, "no column 'nope' for the values"),
        (TABLE, {"keep": "max:meta"}, nd.InputError, "The column 'meta' of the values is struct"),
        (TABLE, {"within": "nope"}, nd.InputError, "no column 'nope' for the values"),
        (TABLE, {"source": "meta", "prefer_source": "web"}, nd.InputError, "The column 'meta' of the sources is struct"),
        (TABLE, {"against": "text"}, nd.OptionError, "against is one str"),
        (TABLE, {"against": TEXTS, "within": "lang"}, nd.InputError, "no column 'lang' for the values"),
        ([*ROWS, {"id": "d", "text": "x", "score": "good"}], {"keep": "max:score"}, nd.DataError, "these have no common order"),
        ([*ROWS, {"text": "x", "score": [1]}], {"keep": "max:score"}, nd.DataError, r"The value '\[1\]' of the column 'score', row 3"),
        (pd.DataFrame({"text": ["a", None]}), {}, nd.DataError, "Text 1 of the column 'text' is null"),
        (pd.DataFrame({"text": ["a", 3]}), {}, nd.OptionError, "Text 1 of the column 'text' is a int"),
        (pd.DataFrame({"text": ["a", 3]}), {"text": "text.x"}, nd.InputError, "no column 'text.x'"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), {}, nd.InputError, "There are 2 columns 'text'"),
        (pd.Series(["a", None]), {}, nd.DataError, "Text 1 is null"),
        (np.array("text"), {}, nd.OptionError, "data is a ndarray"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(data, options, error, message):
    with pytest.raises(error, match=message):
        nd.deduplicate(data, **options)


@pytest.mark.parametrize("data", [[], iter([]), pa.table({"text": [], "n": []}), pd.DataFrame({"text": [], "n": []}),
                                  pl.DataFrame({"text": [], "n": []}), Dataset.from_dict({"text": [], "n": []})])  # fmt: skip
def test_nothing_at_all_is_no_error(data):
    result = nd.deduplicate(data, keep="max:n", against=TEXTS)
    assert (len(result.survivors), len(result.annotations), result.summary.documents) == (0, 0, 0)
    assert len(nd.fingerprint(data)) == len(nd.match(data)) == 0


def test_what_is_no_text_and_no_signature_is_refused():
    with pytest.raises(nd.OptionError, match="The left text is a generator; give a string"):
        nd.compare((text for text in TEXTS), TEXTS[0])
    with pytest.raises(nd.OptionError, match="This is a list, not signatures"):
        nd.jaccard_estimate(nd.signatures(TEXTS), [1])
    with pytest.raises(nd.OptionError, match="This is a generator, not signatures"):
        nd.find_banded((x for x in TEXTS), nd.plan_bands(0.8))
    with pytest.raises(nd.OptionError, match="give a number or an array of numbers"):
        nd.hit_probability((x for x in TEXTS), nd.plan_bands(0.8))


def test_one_string_of_methods_and_iterators_of_options_are_taken():
    names = (name for name in ["exact"])
    assert [score.method for score in nd.evaluate(TEXTS, methods=names).methods] == ["exact"]
    assert [score.method for score in nd.evaluate(TEXTS, methods="simhash").methods] == ["simhash"]
    assert nd.deduplicate(ROWS, prefer_source=iter(["books"]), source="host").kept.tolist() == [False, True, True]
    assert nd.deduplicate(ROWS, text=iter(["text", "meta.body"])).kept.tolist() == [True, False, True]


@pytest.mark.parametrize("temp_dir", ["nowhere/at/all", 3])
def test_a_folder_for_temporary_files_that_is_none_is_refused_before_any_work(temp_dir, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(json_lines(ROWS))
    for call in (
        lambda: nd.deduplicate(TEXTS, temp_dir=temp_dir),
        lambda: nd.match(TEXTS, temp_dir=temp_dir),
        lambda: nd.deduplicate_files(tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), temp_dir=temp_dir),
        lambda: nd.fingerprint_files(tmp_path / "in.jsonl", str(tmp_path / "out.parquet"), temp_dir=temp_dir),
        lambda: nd.apply_files(
            tmp_path / "c.jsonl", tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), temp_dir=temp_dir
        ),
    ):
        with pytest.raises(nd.OptionError, match=f"`temp_dir={temp_dir!r}`: there is no such folder"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_folder_for_temporary_files_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(nd.OptionError, match="no file can be made in this folder"):
        nd.DedupOptions(temp_dir=str(tmp_path))


@pytest.mark.parametrize(("ids", "named"), [(["a", None], "1"), ([7, None], 1), ([None, None], 1)])
def test_a_row_without_an_id_is_named_by_its_number(ids, named):
    found = nd.deduplicate(pa.table({"text": ["a b c d", "a b c d"], "key": pa.array(ids)}), id="key")
    assert found.duplicates["id"].to_pylist() == [named]
    assert found.summary.repeated_ids == 0


def listed(rows):
    """Rows of any type as Python has them."""
    if isinstance(rows, pl.LazyFrame):
        rows = rows.collect()
    if isinstance(rows, pd.DataFrame):
        return rows.to_dict("records")
    if isinstance(rows, pl.DataFrame):
        return rows.to_dicts()
    return rows.to_pylist() if hasattr(rows, "to_pylist") else list(rows)


def kinds_of(rows):
    """The types of the columns of rows, if they have any."""
    rows = rows.collect() if isinstance(rows, pl.LazyFrame) else rows
    found = next(
        (getattr(rows, name) for name in ("features", "dtypes", "schema", "type") if hasattr(rows, name)), None
    )
    return str(found)


@pytest.mark.parametrize("kind", TABLES)
def test_texts_are_replaced_in_every_kind_of_table_and_nothing_else(kind):
    make, comes_back = TABLES[kind]
    given = listed(nd.deduplicate(make(), within="id").survivors)
    for text, left in (
        ("text", [(TEXTS[0], TEXTS[0]), ("!", TEXTS[1]), (TEXTS[2], TEXTS[2])]),
        ("meta.body", [(TEXTS[0], TEXTS[0]), (TEXTS[1], "!"), (TEXTS[2], TEXTS[2])]),
        (("text", "meta.body"), [(TEXTS[0], ""), ("!", "!"), (TEXTS[2], "")]),
    ):
        found = nd.passages(make(), text=text, min_tokens=5, min_left=0)
        assert isinstance(found.texts, comes_back)
        rows = listed(found.texts)
        assert [(row["text"], row["meta"]["body"]) for row in rows] == left
        assert [str(row | {"text": 0, "meta": row["meta"]["n"]}) for row in rows] == [
            str(row | {"text": 0, "meta": row["meta"]["n"]}) for row in given
        ]
        assert kinds_of(found.texts) == kinds_of(nd.deduplicate(make(), within="id").survivors)
    assert as_rows(nd.passages(make(), min_tokens=5, min_left=2).texts) == ["a", "c"]
    assert as_rows(nd.passages(make(), min_tokens=5, against=make()).texts) == []


@pytest.mark.parametrize("kind", COLUMNS)
def test_texts_are_replaced_in_every_kind_of_column(kind):
    make, comes_back = COLUMNS[kind]
    found = nd.passages(make(), min_tokens=5, min_left=0)
    assert isinstance(found.texts, comes_back)
    assert listed(found.texts) == [TEXTS[0], "!", TEXTS[2]]
    found = nd.passages(make(), min_tokens=5, min_left=2)
    assert listed(found.texts) == [TEXTS[0], TEXTS[2]]


def test_types_that_have_no_other_values_become_strings_or_get_more():
    kinds = pl.Enum(TEXTS)
    assert nd.passages(pl.Series(TEXTS, dtype=kinds), min_tokens=5, min_left=0).texts.to_list()[1] == "!"
    series = pd.Series(TEXTS, dtype="category", index=[4, 5, 6], name="t")
    found = nd.passages(series, min_tokens=5, min_left=0).texts
    assert (found.tolist()[1], str(found.dtype), found.index.tolist(), found.name) == ("!", "category", [4, 5, 6], "t")
    frame = pd.DataFrame({0: TEXTS, "n": [1, 2, 3]}, index=list("xyz"))
    found = nd.passages(frame, text="0", min_tokens=5, min_left=0).texts
    assert (found[0].tolist()[1], found.index.tolist(), frame[0].tolist()) == ("!", ["x", "y", "z"], TEXTS)
    pages = np.array(["<p>a", "<p>b"])
    assert nd.passages(pages, html="whole").texts.tolist() == ["a", "b"]
    runs = pa.table({"text": pa.RunEndEncodedArray.from_arrays([1, 2, 3], TEXTS)})
    found = nd.passages(runs, min_tokens=5, min_left=0).texts
    assert (found.schema, found["text"].to_pylist()[1]) == (runs.schema, "!")
    formatted = Dataset(TABLE).with_format("numpy", columns=["text"])
    assert nd.passages(formatted, min_tokens=5, min_left=0).texts.format["columns"] == ["text"]


def test_dicts_keep_their_kind_and_what_is_shared_stays():
    class Named(dict):
        pass

    shared = {"body": TEXTS[0]}
    rows = [Named(meta={"body": TEXTS[0]}), Named(meta=shared), MappingProxyType({"meta": shared})]
    found = nd.passages(rows, text="meta.body", min_tokens=5, min_left=0).texts
    assert [type(row) for row in found] == [Named, Named, dict]
    assert [row["meta"]["body"] for row in found] == [TEXTS[0], "", ""]
    assert shared == {"body": TEXTS[0]}
