"""Texts in lists, by a path: the same from JSON lines, Parquet, Arrow, and data in memory."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.table import FORMATS
from neardup.text.lists.columns import texts_in_column
from neardup.text.lists.paths import Step, list_path


def says(role, content):
    return {"role": role, "content": content}


CHATS = [
    [says("user", "Where does the ferry leave?"), says("assistant", "At the old harbor.")],
    [],
    None,
    [says("assistant", None), says("assistant", "At noon.")],
    [says("user", "Thanks."), says("user", "Bye.")],
]
JOINED = {
    "chat[].content": ["Where does the ferry leave?\nAt the old harbor.", None, None, "At noon.", "Thanks.\nBye."],
    "chat[role=user].content": ["Where does the ferry leave?", None, None, None, "Thanks.\nBye."],
    "chat[role=user,assistant].role": ["user\nassistant", None, None, "assistant\nassistant", "user\nuser"],
    "meta.parts[]": ["0", "1", "2", "3", "4"],
    "meta.deep[].parts[].text": ["a\nb\nc", "a\nb\nc", "a\nb\nc", "a\nb\nc", "a\nb\nc"],
}
ROWS = [
    {
        "id": i,
        "chat": chat,
        "meta": {"parts": [str(i)], "deep": [{"parts": [{"text": "a"}, {"text": "b"}]}, {"parts": [{"text": "c"}]}]},
    }
    for i, chat in enumerate(CHATS)
]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


WRITERS = {
    "rows.jsonl": lambda path: path.write_text(jsonl(ROWS)),
    # a row that Arrow refuses: all rows of its block are read one by one
    "odd.jsonl": lambda path: path.write_text(jsonl([*ROWS, {"chat": [{"content": 1}], "meta": 3}])),
    "rows.parquet": lambda path: pq.write_table(pa.Table.from_pylist(ROWS), path),
    "rows.arrow": lambda path: feather.write_feather(pa.Table.from_pylist(ROWS), str(path)),
}


@pytest.mark.parametrize("path", JOINED)
@pytest.mark.parametrize("name", WRITERS)
def test_files_give_the_same_texts(tmp_path, name, path):
    WRITERS[name](tmp_path / name)
    [shard] = find_shards([tmp_path / name])
    found, reasons = [], {}
    for part in FORMATS[shard.format].parts(shard, Columns((path,))):
        batch, rejections = part()
        found += batch.texts.to_pylist()
        reasons.update(rejections)
    assert found[: len(ROWS)] == JOINED[path]
    empty = f'its column "{path}" is empty: no element has a text'
    assert {row: reason for row, reason in reasons.items() if row < len(ROWS)} == {
        row: empty for row, text in enumerate(JOINED[path]) if text is None
    }


@pytest.mark.parametrize("path", ["chat[].content", "chat[role=user].content", "meta.parts[]"])
@pytest.mark.parametrize("make", [list, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_data_in_memory_gives_the_same_texts(make, path):
    rows = [row for row, text in zip(ROWS, JOINED[path], strict=True) if text is not None]
    texts = [text for text in JOINED[path] if text is not None]
    assert nd.fingerprint(make(rows), text=path).tolist() == nd.fingerprint(texts).tolist()


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, lambda of: pa.list_(of, 2)])
def test_lists_of_every_kind_and_slices(kind):
    lists = pa.array([["a", None], None, ["b", "c"], [None, None]], kind(pa.string()))
    steps = list_path("x[]")
    assert texts_in_column(lists, steps).to_pylist() == ["a", None, "b\nc", None]
    assert texts_in_column(lists.slice(1, 2), steps).to_pylist() == [None, "b\nc"]


@pytest.mark.parametrize(
    "name",
    [
        "text",
        "meta.body",
        "a[0]",
        "a[",
        "a]",
        "[]",
        "a[].",
        "a[]b",
        "a[]..b",
        ".a[]",
        "a[role].b",
        "a[=x].b",
        "a[role=].b",
    ],
)
def test_other_names_are_those_of_columns(name):
    assert list_path(name) is None


def test_steps():
    assert list_path("a.b[from=gpt, human].value") == (
        Step("a", is_list=False),
        Step("b", is_list=True, field="from", values=("gpt", "human")),
        Step("value", is_list=False),
    )


def test_a_column_with_such_a_name_is_that_column(tmp_path):
    rows = [{"a[]": f"text {i}", "a": ["x"]} for i in range(2)]
    (tmp_path / "a.jsonl").write_text(jsonl(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        [shard] = find_shards([tmp_path / name])
        [part] = FORMATS[shard.format].parts(shard, Columns(("a[]",)))
        assert part()[0].texts.to_pylist() == ["text 0", "text 1"]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet", "rows.arrow"])
def test_a_run_keeps_the_rows_as_they_are(tmp_path, name):
    rows = [
        {"id": i, "chat": [says("user", f"Chat {i % 2} about the ferry, its harbor and the mail")]} for i in range(4)
    ]
    path = tmp_path / name
    if name.endswith("jsonl"):
        path.write_text(jsonl(rows))
    else:
        (pq.write_table if name.endswith("parquet") else feather.write_feather)(pa.Table.from_pylist(rows), str(path))
    out = tmp_path / f"out{path.suffix}"
    for _ in range(2):
        nd.deduplicate_files(path, out, text="chat[role=user].content", resume=True)
    if name.endswith("jsonl"):
        assert out.read_text() == jsonl(rows[:2])
    else:
        table = pq.read_table(out) if name.endswith("parquet") else feather.read_table(out)
        assert table.to_pylist() == rows[:2]
    assert nd.verify_files(out).proven


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chat", r"an array, not a string\. Its texts can be read, joined by a newline: `text='chat\[\]\.content'`"),
        ("chat.content", r"joined by a newline: `text='chat\[\]\.content'`"),
        ("chat[].contnt", r"has no text at 'chat\[\]\.contnt' in its first rows"),
        ("chatt[].content", r'has no column "chatt\[\]\.content"'),
        ("chat[role=nobody].content", r"None of the 5 rows could be read .* is empty: no element has a text"),
        ("meta.parts", r"joined by a newline: `text='meta\.parts\[\]'`"),
    ],
)
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_what_is_told_of_other_paths(tmp_path, text, message, on_error):
    (tmp_path / "a.jsonl").write_text(jsonl(ROWS))
    if on_error == "stop" and text == "chat[role=nobody].content":
        message = r"row 0 .* is empty: no element has a text"
    with pytest.raises((InputError, DataError), match=message):
        nd.deduplicate_files(tmp_path / "a.jsonl", tmp_path / "o.jsonl", text=text, on_error=on_error)
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chat[].contnt", "there is no field 'contnt' in struct"),
        ("chat[speaker=user].content", "the elements of 'chat' have no field 'speaker'"),
        ("id[]", "'id' is int64, not a list"),
        ("meta.deep[].parts", "'parts' is list<.*, not a string"),
        ("chat", r"is needed\. Its texts can be read, joined by a newline: `text='chat\[\]\.content'`"),
    ],
)
def test_types_that_do_not_fit(tmp_path, text, message):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        nd.deduplicate_files(tmp_path / "a.parquet", tmp_path / "o.parquet", text=text)


def test_contents_of_other_types_are_set_aside(tmp_path):
    rows = [{"chat": [says("user", ["an", "array"])]}, {"chat": "no list"}, {"chat": ["no object"]}, ROWS[0]]
    rows.append({"chat": [{"content": "a"}]})
    text = jsonl(rows).replace('"content": "a"', '"content": "a", "content": "b"')
    (tmp_path / "a.jsonl").write_text(text)
    [shard] = find_shards([tmp_path / "a.jsonl"])
    [part] = FORMATS["jsonl"].parts(shard, Columns(("chat[].content",)))
    assert dict(part()[1]) == {
        0: 'its column "chat[].content" has a list, not a string',
        1: "its column \"chat[].content\" has a str, not a list, at 'chat'",
        2: "its column \"chat[].content\" has a str, not an object with 'content'",
        4: 'its key "content" occurs 2 times, so it is not clear which one is meant',
    }


@pytest.mark.parametrize("run", [nd.deduplicate_units, nd.passages_files])
def test_texts_in_lists_are_not_rewritten(tmp_path, run):
    (tmp_path / "a.jsonl").write_text(jsonl(ROWS))
    more = {"unit": "line"} if run is nd.deduplicate_units else {}
    with pytest.raises(OptionError, match=r"`text='chat\[\]\.content'`: texts in lists are read, but not rewritten"):
        run(tmp_path / "a.jsonl", tmp_path / "o.jsonl", text="chat[].content", **more)
