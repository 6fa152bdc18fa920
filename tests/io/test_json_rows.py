"""What becomes of a line of JSON: each kind of bad row, and the agreement of the fast and the slow way."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from guards import not_empty
from neardup.errors import OptionError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.reading import Reading
from neardup.io.formats.json.json_blocks import BlockReader
from neardup.io.formats.json.json_rows import BadJson, BadRow, read_row
from neardup.io.formats.lines import Lines

LONE = "it has half of a surrogate pair (such as \\ud83d alone), which is no character"
TOO_DEEP = b'{"text": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

BAD_ROWS = {
    b"{": "malformed JSON: Expecting property name enclosed in double quotes (character 1)",
    b'{"text": "a"': "malformed JSON: Expecting ',' delimiter (character 12)",
    b'{"text": "a",}': "malformed JSON: Illegal trailing comma before end of object (character 12)",
    b'{"text": "a"} {"text": "b"}': "malformed JSON: Extra data (character 14)",
    b'{"text": "a"} x': "malformed JSON: Extra data (character 14)",
    b'{"text": "a\tb"}': "malformed JSON: Invalid control character at (character 11)",
    b'{"text": "a", "x": 01}': "malformed JSON: Expecting ',' delimiter (character 20)",
    b'{"text": "a", "x": tru}': "malformed JSON: Expecting value (character 19)",
    b'{"text": "a", "x": "\\q"}': "malformed JSON: Invalid \\escape (character 20)",
    b"{'text': 'a'}": "malformed JSON: Expecting property name enclosed in double quotes (character 1)",
    b"\xef\xbb\xbf{}": "malformed JSON: it begins with a byte-order mark",
    b"\0": "malformed JSON: Expecting value (character 0)",
    b"[" * 100_000: "malformed JSON, or nested too deeply",
    b'["a"]': "it is not a JSON object, but an array",
    b'"a"': "it is not a JSON object, but a string",
    b"17": "it is not a JSON object, but an integer",
    b"1.5": "it is not a JSON object, but a floating-point number",
    b"null": "it is not a JSON object, but null",
    b"true": "it is not a JSON object, but true or false",
    b"{}": 'it has no column "text", but nothing',
    b'{"txt": "a", "id": 1}': 'it has no column "text", but txt, id',
    b'{"text": null}': 'its column "text" is null, not a string',
    b'{"text": 17}': 'its column "text" is an integer, not a string',
    b'{"text": 1.0}': 'its column "text" is a floating-point number, not a string',
    b'{"text": NaN}': 'its column "text" is a floating-point number, not a string',
    b'{"text": true}': 'its column "text" is true or false, not a string',
    b'{"text": ["a"]}': 'its column "text" is an array, not a string',
    b'{"text": {"a": 1}}': 'its column "text" is an object, not a string',
    b'{"text": "a", "text": "b"}': 'its key "text" occurs 2 times, so it is not clear which one is meant',
    b'{"text": "a", "te\\u0078t": "b"}': 'its key "text" occurs 2 times, so it is not clear which one is meant',
    b'{"id": 1, "text": "a", "id": 1}': 'its key "id" occurs 2 times, so it is not clear which one is meant',
    b'{"text": "\\ud800"}': LONE,
    b'{"text": "a", "x": "\\ude00\\ud83d"}': LONE,
    b'{"text": "a\xff"}': "it is not UTF-8: invalid start byte (byte 11)",
    b'{"text": "a", "x": "\xed\xa0\x80"}': "it is not UTF-8: invalid continuation byte (byte 20)",
}

GOOD_ROWS = {
    b'{"text": "a"}': ("a", '"s:0"'),
    b'{"text": ""}': ("", '"s:0"'),
    b' \t{"text": "a"}\t \r': ("a", '"s:0"'),
    b'{"text": "\\ud83d\\ude00 \xe4\xb8\xad \\u4e2d \\n \\u0000 \x7f"}': ("😀 中 中 \n \0 \x7f", '"s:0"'),
    b'{"te\\u0078t": "a"}': ("a", '"s:0"'),
    b'{"text": "a", "x": {"text": "b"}, "y": [{"text": 1}]}': ("a", '"s:0"'),
    b'{"text": "a", "x": 1, "x": 2}': ("a", '"s:0"'),
    b'{"text": "a", "x": NaN, "y": -Infinity}': ("a", '"s:0"'),
    b'{"text": "a", "x": Inf, "y": -NaN}': ("a", '"s:0"'),
    b'{"text": "a", "x": 1e999}': ("a", '"s:0"'),
    b'{"text": "a", "x": ' + b"9" * 5000 + b"}": ("a", '"s:0"'),
    TOO_DEEP: ("a", '"s:0"'),
    b'{"text": "a", "id": "x"}': ("a", '"x"'),
    b'{"text": "a", "id": "\\u4e2d\\"\\n"}': ("a", '"中\\"\\n"'),
    b'{"text": "a", "id": ""}': ("a", '""'),
    b'{"text": "a", "id": 17}': ("a", "17"),
    b'{"text": "a", "id": -0}': ("a", "0"),
    b'{"text": "a", "id": 123456789012345678901234567890}': ("a", "123456789012345678901234567890"),
    b'{"text": "a", "id": null}': ("a", '"s:0"'),
    b'{"text": "a", "id": 1.0}': ("a", '"s:0"'),
    b'{"text": "a", "id": true}': ("a", '"s:0"'),
    b'{"text": "a", "id": {"$oid": "5"}}': ("a", '"s:0"'),
    b'{"text": "a", "id": ' + b"9" * 5000 + b"}": ("a", '"s:0"'),
}


def lines(*rows: bytes) -> Lines:
    """The rows as one block."""
    data = np.frombuffer(b"\n".join(rows) + b"\n", np.uint8)
    ends = np.cumsum([len(row) + 1 for row in rows]) - 1
    return Lines(0, data, ends - [len(row) for row in rows], ends)


def read_alone(row: bytes, columns: Columns) -> tuple[str, str] | str:
    """The text and id of a row, or the reason why not."""
    batch, rejections = BlockReader(columns, "s").read(lines(row))
    if rejections:
        assert (batch.texts.to_pylist(), batch.ids.to_pylist()) == ([None], [None])
        return rejections[0][1]
    return batch.texts[0].as_py(), batch.ids[0].as_py()


@pytest.mark.parametrize("row", BAD_ROWS, ids=range(len(BAD_ROWS)))
def test_a_bad_row_is_rejected_with_the_reason(row: bytes) -> None:
    reason = BAD_ROWS[row]
    found = read_alone(row, Columns())
    if "trailing comma" in reason:  # Python before 3.13 says it in other words
        assert isinstance(found, str)
        assert found.startswith("malformed JSON: ")
    else:
        assert found == reason


@pytest.mark.parametrize("row", GOOD_ROWS, ids=range(len(GOOD_ROWS)))
def test_a_good_row_gives_its_text_and_its_id_as_a_json_value(row: bytes) -> None:
    assert read_alone(row, Columns()) == GOOD_ROWS[row]


@pytest.mark.parametrize("good", [True, False])
def test_rows_do_not_depend_on_their_neighbors(good: bool) -> None:
    rows = [*BAD_ROWS, *GOOD_ROWS] * 3
    rows = rows if good else [row for row in rows for row in (row, b"{")]
    reader = BlockReader(Columns(), "s")
    batch, rejections = reader.read(lines(*rows))
    reasons = dict(rejections)
    for i, row in not_empty(enumerate(rows)):
        alone = read_alone(row, Columns())
        if isinstance(alone, str):
            assert reasons[i] == alone
        else:
            text, token = alone
            assert (batch.texts[i].as_py(), batch.ids[i].as_py()) == (text, token.replace("s:0", f"s:{i}"))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b'{"text": "a", "key": 1.5}', 'its column "key" is a floating-point number, not a string or an integer'),
        (b'{"text": "a", "key": [1]}', 'its column "key" is an array, not a string or an integer'),
        (
            b'{"text": "a", "key": ' + b"9" * 5000 + b"}",
            'its column "key" is an integer of thousands of digits, not a string or an integer',
        ),
        (b'{"text": "a", "key": 1, "key": 2}', 'its key "key" occurs 2 times, so it is not clear which one is meant'),
    ],
)
def test_an_id_column_that_was_asked_for_must_hold_no_other_values(row: bytes, reason: str) -> None:
    assert read_alone(row, Columns(id="key")) == reason


@pytest.mark.parametrize("others", [(), (b'{"text": "b", "id": 5, "meta": {"id": "5"}}',), (b"{",)])
@pytest.mark.parametrize("name", ["id", "meta.id"])
@pytest.mark.parametrize("row", [b'{"text": "a"}', b'{"text": "a", "id": null, "meta": {"id": null}}'])
def test_a_row_without_an_id_is_named_by_file_and_row(row: bytes, name: str, others: tuple[bytes, ...]) -> None:
    batch, rejections = BlockReader(Columns(id=name), "s").read(lines(row, *others))
    assert (batch.texts[0].as_py(), batch.ids[0].as_py()) == ("a", '"s:0"')
    assert [at for at, _ in rejections] == ([1] if others == (b"{",) else [])


def test_an_id_column_that_was_asked_for_is_taken() -> None:
    assert read_alone(b'{"text": "a", "key": 5, "id": 6}', Columns(id="key")) == ("a", "5")
    assert read_alone(b'{"text": "a", "meta": {"key": "k"}}', Columns(id="meta.key")) == ("a", '"k"')
    assert read_alone(b'{"text": "a", "meta": {"key": 123456789012345678901}}', Columns(id="meta.key")) == (
        "a",
        "123456789012345678901",
    )


def test_a_dotted_name_is_a_nested_field_unless_a_column_has_that_name() -> None:
    columns = Columns(("meta.body",))
    assert read_alone(b'{"meta": {"body": "nested"}}', columns) == ("nested", '"s:0"')
    assert read_alone(b'{"meta": {"body": "nested"}, "meta.body": "exact"}', columns) == ("exact", '"s:0"')
    assert read_alone(b'{"meta": 5, "meta.body": "exact"}', columns) == ("exact", '"s:0"')
    assert read_alone(b'{"meta": {"body": "nested"}, "meta.body": null}', columns) == ("nested", '"s:0"')
    assert read_alone(b'{"meta": {"body": null}}', columns) == 'its column "meta.body" is null, not a string'
    assert read_alone(b'{"meta": {}}', columns) == 'it has no column "meta.body", but meta'
    assert read_alone(b'{"meta": "body"}', columns) == 'it has no column "meta.body", but meta'
    assert read_alone(b'{"meta": {"body": "a"}, "meta": {}}', columns) == (
        'its key "meta" occurs 2 times, so it is not clear which one is meant'
    )


def test_several_text_columns_are_joined_by_a_newline() -> None:
    columns = Columns(("title", "meta.body", "title"))
    assert read_alone(b'{"meta": {"body": "b"}, "title": "t"}', columns) == ("t\nb\nt", '"s:0"')
    assert read_alone(b'{"meta": {"body": "b"}}', columns) == 'it has no column "title", but meta'


def test_the_text_may_be_the_id() -> None:
    assert read_alone(b'{"id": "a"}', Columns(("id",))) == ("a", '"a"')
    assert read_alone(b'{"id": "a"}', Columns(("id",), "id")) == ("a", '"a"')
    assert read_alone(b'{"id": 17}', Columns(("id",))) == 'its column "id" is an integer, not a string'


def test_regular_rows_are_not_left_to_slower_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.io.formats.json.json_blocks.read_row", None)
    good = [b'{"id": "a", "x": [1, {"text": 2}], "text": "\\u4e2d"}', b'{"text": "\xe4\xb8\xad", "id": null}\r'] * 500
    assert len(BlockReader(Columns(), "s").read(lines(*good))[0].texts) == 1000
    mixed = [b'{"text": "a", "id": 1}', b'{"text": "a", "id": "1"}', b'{"text": "a", "id": 1.5}']
    assert BlockReader(Columns(), "s").read(lines(*mixed))[0].ids.to_pylist() == ["1", '"1"', '"s:2"']
    monkeypatch.setattr("neardup.io.formats.json.json_structs.StructReader.reader", None)
    nested = [b'{"meta": {"body": "a"}}', b'{"meta.body": "b", "meta": null}']
    assert BlockReader(Columns(("meta.body",)), "s").read(lines(*nested))[0].texts.to_pylist() == ["a", "b"]


def test_columns_of_any_name_can_be_read() -> None:
    for name in ['a"b', "a\\b", "a\nb", "中文", "a.b", ".", "a..b", "f0"]:
        columns = Columns((name,))
        good, bad = json.dumps({name: "x"}).encode(), json.dumps({name: 5}).encode()
        assert read_alone(good, columns) == ("x", '"s:0"')
        assert BlockReader(columns, "s").read(lines(good, bad))[0].texts.to_pylist() == ["x", None]


def test_columns_need_names() -> None:
    for of, texts in ((Columns, ("text", ("",), ["text", ""])), (Reading, ((), ("",), ["text", ""], ""))):
        for text in texts:
            with pytest.raises(
                OptionError, match="give names of columns, such as text or meta.body; none may be empty"
            ):
                of(text=text)  # type: ignore[operator]
    with pytest.raises(OptionError, match="`id=''`: give the name of a column, or leave it out"):
        Columns(id="")


def test_without_a_text_column_rows_are_read_with_their_ids_and_values() -> None:
    rows = [b'{"id": 7, "v": 1}', b'{"id": "a", "v": null}', b'{"v": 18446744073709551615}', b"[]"]
    for some in (rows[:3], rows):
        batch, rejections = BlockReader(Columns((), values=("v",)), "s").read(lines(*some))
        assert batch.texts.to_pylist() == ["", "", "", None][: len(some)]
        assert batch.ids.to_pylist() == ["7", '"a"', '"s:2"', None][: len(some)]
        assert batch.values[0].to_pylist() == ["1", None, "18446744073709551615", None][: len(some)]
        assert [row for row, _ in rejections] == ([3] if len(some) == 4 else [])


def test_a_value_wanted_as_a_string_and_as_an_object_is_read_where_that_can_be() -> None:
    columns = Columns(("meta", "meta.body"))
    assert read_alone(b'{"meta": "a", "meta.body": "b"}', columns) == ("a\nb", '"s:0"')
    assert read_alone(b'{"meta": {"body": "b"}}', columns) == 'its column "meta" is an object, not a string'


def test_a_message_does_not_list_hundreds_of_columns() -> None:
    row = json.dumps(dict.fromkeys((f"c{i}" for i in range(100)), 1)).encode()
    reason = read_alone(row, Columns())
    assert isinstance(reason, str)
    assert reason.startswith('it has no column "text", but c0, c1')
    assert reason.endswith("c19, …")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([math.nan, math.inf, "\ud800", 10**30]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["body", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)
keys = st.sampled_from(["text", "id", "meta", "meta.body", "x"])
objects = st.lists(st.tuples(keys, values | st.text(max_size=5)), max_size=5)


def as_json(pairs: list[tuple[str, Any]], escape: bool) -> bytes:
    """A JSON object that may repeat keys and have lone surrogates (escaped)."""
    members = []
    for key, value in pairs:
        text = json.dumps(value, ensure_ascii=escape)
        try:
            text.encode()
        except UnicodeEncodeError:
            text = json.dumps(value)
        members.append(f"{json.dumps(key)}: {text}")
    return f"{{{', '.join(members)}}}".encode()


rows = st.builds(as_json, objects, st.booleans()) | st.builds(
    lambda pairs, at, byte: (line := as_json(pairs, False))[: at % len(line)] + byte + line[at % len(line) + 1 :],
    objects,
    st.integers(0, 200),
    st.sampled_from([b"", b"\xff", b'"', b"\\", b"}", b"{", b",", b" ", b"0", b"\0", b"\r"]),
)
column_sets = st.sampled_from(
    [
        Columns(),
        Columns(id="id"),
        Columns(("meta.body",)),
        Columns(("text", "meta.body")),
        Columns(("text",), "meta.body"),
        Columns(values=("x",)),
        Columns(values=("meta.body", "text", "id")),
    ]
)


@given(
    columns=column_sets, block=st.lists(rows.filter(lambda row: row.strip(b" \t\r") != b""), min_size=1, max_size=40)
)
@example(columns=Columns(), block=[b'{"text": "a"}{"text": "b"}', b"{}"])
@example(columns=Columns(), block=[b'{"text": "a", "x": {}', b', "y": {}}'])
@example(columns=Columns(), block=[b'{"text": "a"}', b"\0", b'{"text": "b"}'])
def test_the_fast_way_agrees_with_the_definition(columns: Columns, block: list[bytes]) -> None:
    batch, rejections = BlockReader(columns, "s").read(lines(*block))
    reasons = dict(rejections)
    for i, row in enumerate(block):
        text, token, bad = None, None, None
        values: list[str | None] = [None] * len(columns.values)
        try:
            text, token, values = read_row(row, columns)
            token = token or f'"s:{i}"'
        except BadRow as reason:
            bad = reason
        if isinstance(bad, BadJson) and i not in reasons:
            assert b"NaN" in row or b"Inf" in row
        else:
            assert (batch.texts[i].as_py(), batch.ids[i].as_py()) == (text, token)
            assert [column[i].as_py() for column in batch.values] == values
            assert reasons.get(i) == (bad and str(bad))
