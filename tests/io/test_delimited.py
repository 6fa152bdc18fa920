"""CSV and TSV: what a row is in every dialect, reading, copying byte for byte, adding columns, every refusal."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from io_rows import ReadRows, batches_of

from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.dialect import Dialect
from neardup.io.formats.delimited_rows import read_header, read_rows
from neardup.io.formats.dialect_search import find_dialect
from neardup.io.formats.json.json_values import JSON_TOKEN
from neardup.io.formats.table import FORMATS, open_sink

Make = Callable[..., Shard]

BASIC = b'id,text,lang\r\n1,"a, ""b""\r\nc",de\r\n2,d,\r\n'


def write(rows: list[list[str]], **dialect: Any) -> bytes:
    """A table as Python writes it."""
    out = io.StringIO(newline="")
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue().encode()


def rows_of(shard: Shard, size: int = 1 << 20) -> list[bytes]:
    """The rows of a shard as they are stored."""
    rows: list[bytes] = []
    for block in read_rows(shard, read_header(shard), size):
        assert block.row == len(rows)
        rows += [block.stored(i) for i in range(len(block))]
    return rows


def test_quoted_newlines_belong_to_the_row(shard: Make, reading: Any) -> None:
    found = shard(BASIC, "a.csv")
    assert rows_of(found) == [b'1,"a, ""b""\r\nc",de\r\n', b"2,d,\r\n"]
    result = reading(found)
    assert result.texts == ['a, "b"\r\nc', "d"]
    assert result.ids == ['"1"', '"2"']
    assert reading(found, "text", "lang").texts == ['a, "b"\r\nc\nde', "d\n"]
    assert reading(found, wanted=[False, True]).texts == [None, "d"]


def test_empty_lines_and_a_byte_order_mark_are_no_rows(shard: Make, reading: Any, copied: Any) -> None:
    content = b'\xef\xbb\xbf\r\n\ntext,n\n\na,1\r\n\r\n"b\n\nc",2'
    found = shard(content, "a.csv")
    assert reading(found).texts == ["a", "b\n\nc"]
    assert reading(found).ids == [json.dumps(f"{found.name}:{row}") for row in range(2)]
    assert copied((found, [True, True])).read_bytes() == b'\xef\xbb\xbftext,n\na,1\r\n"b\n\nc",2'
    twice = copied((found, [False, True]), (found, [True, False]))
    assert twice.read_bytes() == b'\xef\xbb\xbftext,n\n"b\n\nc",2\na,1\r\n'


@pytest.mark.parametrize("content", [b"", b"\n\r\n", b"\xef\xbb\xbf", b"text,id\n", b"text"])
def test_a_file_without_rows_is_no_error(shard: Make, reading: Any, copied: Any, content: bytes) -> None:
    empty = shard(content, "a.csv")
    assert reading(empty).texts == []
    FORMATS["csv"].check(empty, Columns())
    assert copied((empty, [])).read_bytes() == (content if b"text" in content else b"")


@pytest.mark.parametrize("compression", ["plain", "gzip", "zstd"])
def test_all_compressions_and_many_blocks(shard: Make, reading: Any, copied: Any, compression: str) -> None:
    table = [["id", "text"], *([str(i), f'line "{i}"\n' * 40] for i in range(20_000))]
    content = write(table)
    ending = {"plain": "", "gzip": ".gz", "zstd": ".zst"}[compression]
    stored = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}[compression](content)
    found = shard(stored, f"a.csv{ending}")
    result = reading(found)
    assert result.texts == [row[1] for row in table[1:]]
    assert result.reasons == {}
    written = copied((found, [True, False] * 10_000), name="out.csv")
    assert written.read_bytes() == write(table[:1] + table[1::2])


cells = st.text(
    st.sampled_from("ab ,;|\t\"'\\\r\né中") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=8
)
dialects = st.builds(
    dict,
    delimiter=st.sampled_from(",;\t|:~"),
    quotechar=st.sampled_from("\"'$"),
    lineterminator=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    escapechar=st.sampled_from([None, "\\", "^"]),
    doublequote=st.booleans(),
).map(lambda d: d | {"doublequote": d["doublequote"] or d["escapechar"] is None})
unquoted = st.builds(
    dict,
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.just(csv.QUOTE_NONE),
    quotechar=st.none(),
    escapechar=st.sampled_from("\\^"),
    lineterminator=st.sampled_from(["\n", "\r\n"]),
)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=8))


@given(table=tables, dialect=dialects | unquoted, size=st.integers(1, 60))
def test_any_table_in_any_dialect_is_read_back_and_copied(
    tmp_path_factory: Any, table: list[list[str]], dialect: dict[str, Any], size: int
) -> None:
    names = [f"c {i}\n" for i in range(len(table[0]) if table else 2)]
    folder = tmp_path_factory.mktemp("csv")
    path = folder / "a.csv"
    path.write_bytes(write([names, *table], **dialect))
    characters = dialect["delimiter"] + (dialect["quotechar"] or "") + (dialect["escapechar"] or "")
    if dialect["quotechar"] is None:
        characters = dialect["delimiter"] + "\x22" + dialect["escapechar"]  # a quote that is always escaped
        path.write_bytes(write([names, *table], **dialect | {"quotechar": '"'}))
    (found,) = find_shards([path])
    found = replace(found, dialect=characters)
    assert b"".join(rows_of(found, size)) == path.read_bytes().removeprefix(read_header(found).stored)
    assert read_header(found).names == tuple(names)
    for number, name in enumerate(names):
        read = ReadRows(found, name)
        assert (read.texts, read.reasons) == ([row[number] for row in table], {})
    out = folder / "out.csv"
    with open_sink(out, "csv") as sink:
        FORMATS["csv"].copy(found, np.ones(len(table), np.bool_), sink)
    assert out.read_bytes() == path.read_bytes()


TABLE = [
    ["id", "text", "url"],
    ["1", 'He said "yes", then\nleft; he\'s gone', "http://a/b|c"],
    ["2", "plain words, and\tmore", ""],
    ["3", "it's C:\\temp", "x"],
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "quoting",
    [
        {},
        {"quoting": csv.QUOTE_ALL},
        {"doublequote": False, "escapechar": "\\"},
        {"quotechar": "'"},
        {"quotechar": "'", "quoting": csv.QUOTE_ALL},
        {"quoting": csv.QUOTE_NONE, "escapechar": "\\", "quotechar": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_usual_dialects_are_found_out(
    shard: Make, reading: Any, delimiter: str, quoting: dict[str, Any], newline: str
) -> None:
    found = shard(write(TABLE, delimiter=delimiter, lineterminator=newline, **quoting), "a.csv")
    result = reading(found)
    assert result.texts == [row[1] for row in TABLE[1:]]
    assert result.ids == ['"1"', '"2"', '"3"']
    assert result.reasons == {}


def test_the_dialect_is_found_out_from_the_beginning_of_a_long_row(shard: Make, monkeypatch: Any) -> None:
    seen = []

    def find(sample: Any, **given: Any) -> Dialect:
        seen.append(len(sample))
        return find_dialect(sample, **given)

    monkeypatch.setattr("neardup.io.formats.delimited_rows.find_dialect", find)
    assert read_header(shard(b"id,text\n1,'" + b"a, b" * (1 << 18) + b"'\n", "a.csv")).dialect == Dialect(",", "'")
    assert read_header(shard(b"id,text\n1,'" + b"a, b" * (1 << 21) + b"'\n", "a.csv")).dialect.delimiter == ","
    assert seen[0] > 1 << 20
    assert seen[1] == 1 << 22


def test_tab_separated_texts_may_begin_with_a_quote(shard: Make, reading: Any) -> None:
    found = shard(b'id\ttext\n1\t"Hello," he said.\n2\t5" disk, "x"\n3\tend\n', "a.tsv")
    assert reading(found).texts == ['"Hello," he said.', '5" disk, "x"', "end"]


def test_one_column_needs_no_delimiter(shard: Make, reading: Any) -> None:
    assert reading(shard(b'text\na\n"b, c\nd"\n', "a.csv")).texts == ["a", "b, c\nd"]
    assert reading(shard(b"text\na, b\n", "a.tsv")).texts == ["a, b"]


def test_a_dialect_that_is_not_clear_is_refused_and_can_be_stated(shard: Make, reading: Any) -> None:
    found = shard(b"a;b,c\n1;2,3\n", "a.csv")
    with pytest.raises(InputError, match=r"it is not clear .* \(comma .* or semicolon .*Give `dialect` the delimiter"):
        reading(found, "a")
    assert reading(replace(found, dialect=";"), "a").texts == ["1"]
    assert reading(replace(found, dialect=","), "c").texts == ["3"]


@pytest.mark.parametrize("given", ["", ',"\\x', ",,", "a", "\n", "é", "1", None])
def test_a_dialect_that_cannot_be_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="give the delimiter and, if there are, the quote"):
        Dialect.parse(given)


def test_a_dialect_is_its_characters() -> None:
    assert Dialect.parse("\\t") == Dialect("\t", None, None)
    assert Dialect.parse(';"') == Dialect(";", '"', None)
    assert Dialect.parse("|'\\") == Dialect("|", "'", "\\")


def test_rows_that_do_not_fit_are_rejected_with_the_reason(shard: Make, reading: Any, copied: Any) -> None:
    good = b'1,"x, y",z\n' * 5
    content = b'a,text,b\n1,"x"y,z\n1,2\n1,2,3,4\n \n' + good + b'1,"\xff",z\n'
    result = reading(shard(content, "a.csv"))
    assert result.texts == [None] * 4 + ["x, y"] * 5 + [None]
    assert result.reasons[0].startswith(
        "a quote in a quoted field is neither doubled nor escaped, or the quote before it is"
    )
    assert result.reasons[1] == "it has 2 fields, but the header has 3"
    assert result.reasons[2] == "it has 4 fields, but the header has 3"
    assert result.reasons[3] == "it has 1 fields, but the header has 3"
    assert result.reasons[9].startswith("it is not UTF-8: invalid start byte")
    kept = copied((shard(content, "a.csv"), [False] * 4 + [True] * 5 + [False]))
    assert kept.read_bytes() == b"a,text,b\n" + good


def test_an_empty_id_is_no_id(shard: Make, reading: Any) -> None:
    found = shard(b"id,text\n,a\n7,b\n", "a.csv")
    assert reading(found).ids == [json.dumps(f"{found.name}:0"), '"7"']
    result = reading(found, id="id")
    assert result.ids == [json.dumps(f"{found.name}:0"), '"7"']
    assert result.reasons == {}


def test_values_are_strings_and_empty_ones_null(shard: Make) -> None:
    found = shard(b'text,lang,n\na,de,1\n"","",\nc\n', "a.csv")
    (batch,) = batches_of(found, Columns(values=("n", "lang")), {})
    assert batch.texts.to_pylist() == ["a", "", None]
    assert [column.to_pylist() for column in batch.values] == [['"1"', None, None], ['"de"', None, None]]


def test_columns_are_added_in_the_dialect_of_the_file(shard: Make, tmp_path: Any) -> None:
    added = pa.table(
        {"n": pa.array([1, 2, None]), "of": pa.array(['"a"', "17", '"x;\\"y\\n"'])},
        schema=pa.schema([pa.field("n", pa.int64()), pa.field("of", pa.string(), metadata=JSON_TOKEN)]),
    )

    def annotated(content: bytes, **options: Any) -> bytes:
        found = replace(shard(content, "a.csv"), **options)
        with open_sink(tmp_path / "out.csv", "csv") as sink:
            FORMATS["csv"].annotate(found, added, sink, keep=np.array([True, False, True]))
        return (tmp_path / "out.csv").read_bytes()

    assert annotated(b'\xef\xbb\xbfid;text\r\n1;"a;b"\r\n2;c\r\n3;d') == (
        b'\xef\xbb\xbfid;text;n;of\r\n1;"a;b";1;a\r\n3;d;;"x;""y\n"\n'
    )
    assert annotated(b"id;text\n1;a\n2;c\n3;d\n", dialect=";|\\").endswith(b'\n3;d;;|x;"y\n|\n')
    with pytest.raises(DataError, match="columns cannot be added, since semicolon between fields, no quotes"):
        annotated(b"id;text\n1;a\n2;c\n3;d\n", dialect=";")
    with pytest.raises(InputError, match='has a column "n" already'):
        annotated(b"n;text\n1;a\n2;c\n3;d\n")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=cmd|' /C calc'!A0", b"'=cmd|' /C calc'!A0"),
        ("=1;2", b'"\'=1;2"'),
        ("+1+2", b"'+1+2"),
        ("-2+3", b"'-2+3"),
        ("@SUM(A1)", b"'@SUM(A1)"),
        ("\t=1", b"'\t=1"),
        ("\r=1", b'"\'\r=1"'),
        ("\uff1d1", "'\uff1d1".encode()),
        ("-5", b"-5"),
        ("+4.5e-3", b"+4.5e-3"),
        ("a=b", b"a=b"),
        ("", b""),
    ],
)
def test_an_id_that_a_spreadsheet_would_run_is_no_formula_in_an_added_column(
    shard: Make, tmp_path: Any, value: str, cell: bytes
) -> None:
    found = shard(b"id;text\n=own;=the user's\n", "a.csv")
    of = pa.field("of", pa.string(), metadata=JSON_TOKEN)
    with open_sink(tmp_path / "out.csv", "csv") as sink:
        added = pa.table({"of": [json.dumps(value, ensure_ascii=False)]}, schema=pa.schema([of]))
        FORMATS["csv"].annotate(found, added, sink, keep=np.array([True]))
    assert (tmp_path / "out.csv").read_bytes() == b"id;text;of\n=own;=the user's;" + cell + b"\n"


def test_problems_with_columns_are_told_before_any_work(shard: Make) -> None:
    found = shard(BASIC, "a.csv")
    check = FORMATS["csv"].check
    check(found, Columns(id="id", values=("lang",)), ("cluster_id",))
    with pytest.raises(InputError, match=r'no column "body"\. It has: id, text, lang \(read with comma between fields'):
        check(found, Columns(("body",)))
    with pytest.raises(InputError, match='no column "x"'):
        check(found, Columns(values=("x",)))
    with pytest.raises(InputError, match='has a column "lang" already'):
        check(found, Columns(), ("lang",))
    with pytest.raises(InputError, match='a.csv has 2 columns "text"'):
        check(shard(b"text,text\na,b\n", "a.csv"), Columns())
    with pytest.raises(InputError, match="carriage returns, but no newlines"):
        check(shard(b"text,id\ra,b\r", "a.csv"), Columns())
    with pytest.raises(InputError, match="its first row does not end within 262,144 bytes"):
        check(shard(b"x" * 300_000, "a.csv"), Columns())
    with pytest.raises(InputError, match="its header has a quote out of place"):
        check(replace(shard(b'"te"xt,id\na,b\n', "a.csv"), dialect=',"'), Columns())


def test_a_file_that_ends_inside_quotes_is_damaged(shard: Make, reading: Any) -> None:
    content = BASIC * 1 + b'3,"never closed,de\r\n4,a,b\r\n'
    message = (
        r"a\.csv ends inside quotes that open in line 5: .*nobody knows how many rows are lost\. Mend it, or, if its fields "
        r"are not quoted \(it was read with comma between fields, double quotes\), give the delimiter alone: "
        r"`dialect=','`"
    )
    for dialect in (',"', None):
        with pytest.raises(DataError, match=message):
            reading(replace(shard(content, "a.csv"), dialect=dialect))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('id,text\n1,a\n2,"never closed\n3,b\n', 3),
        ('text\na\n\n"never closed\nb', 4),
        ('text,id\n"never closed,1\nb,2\n', 2),
        ('id,x,text\n1,"a\nb",c\n2,"x","never closed\n3,b,d\n', 4),
        ('"id","text"\n"1","a"\n"2","never closed\n', 3),
        ("'id','text'\n'1','a'\n'2','never closed\n", 3),
        ('id;text\n1;"a;b"\n2;"never\n closed \\\n', 3),
        ('id,text\n1,"a"\n' + "2,c\n" * 100_000 + '3,"never closed\n' + "2,c\n" * 100_000, 100_003),
    ],
)
def test_a_quote_that_is_not_closed_is_told_with_its_line_and_no_file_is_taken_for_unquoted(
    shard: Make, reading: Any, rows: str, line: int, encoding: str
) -> None:
    found = replace(shard(rows.encode(encoding), "a.csv"), encoding=encoding)
    with pytest.raises(DataError, match=rf"ends inside quotes that open in line {line:,}:"):
        reading(found)
    stated = replace(found, dialect=";" if ";" in rows else ",")
    assert any("never" in (text or "") for text in reading(stated, stated_column(rows)).texts)


def stated_column(rows: str) -> str:
    """The column of the texts, quotes and all."""
    return next(name for name in ('"text"', "'text'", "text") if name in rows)


def test_a_quote_that_the_next_one_closes_sets_rows_aside_and_does_not_unquote_the_others(
    shard: Make, reading: Any
) -> None:
    result = reading(shard(b'id,text\n1,"a"\n2,"never closed\n3,"b"\n4,c\n5,"d"\n', "a.csv"))
    assert result.texts == ["a", None, "c", "d"]
    assert result.reasons[1].startswith("a quote in a quoted field is neither doubled nor escaped, or the quote before")
    rows = "".join(f'{i}\t"quoted {i}"\n' for i in range(20))
    result = reading(shard(f'id\ttext\n{rows}a\t"never closed\nb\t"b"\nc\tend\n'.encode(), "a.tsv"))
    assert result.texts == [*(f"quoted {i}" for i in range(20)), None, "end"]


@pytest.mark.parametrize(
    "texts",
    [
        ['"Once upon a time', 'a 5" disk', "end"],
        ['"Hello," he said.', '"yes"', "'tis", '"what" is', "end"],
        ['a 5" disk', "it's 3'", "end"],
        ['"Once', *["upon a time"] * 50_000],
    ],
)
def test_tab_separated_texts_with_quotes_that_quote_nothing_are_read_as_they_are(
    shard: Make, reading: Any, texts: list[str]
) -> None:
    content = "id\ttext\n" + "".join(f"{i}\t{text}\n" for i, text in enumerate(texts))
    assert reading(shard(content.encode(), "a.tsv")).texts == texts


def test_texts_with_quotes_inside_need_no_quotes(shard: Make, reading: Any) -> None:
    found = shard(b'id,text\n1,a 5" disk\n2,"yes" he said\n3,it\'s\n', "a.csv")
    assert reading(found).texts == ['a 5" disk', '"yes" he said', "it's"]


def test_of_a_row_that_is_too_long_it_is_told_where_its_quote_opens(shard: Make, reading: Any) -> None:
    rows = b'id,text\n1,"a"\n\n2,"never closed\n' + b"3,c\n" * 1_500_000
    found = replace(shard(rows, "a.csv"), max_document_bytes=1 << 16)
    reasons: dict[int, str] = {}
    with pytest.raises(DataError, match="ends inside quotes that open in line 4:"):
        list(batches_of(found, Columns(), reasons))
    assert reasons[1].endswith("(raise that if it is a document); it is so far inside quotes that open in line 4")


def test_files_that_differ_do_not_go_into_one(shard: Make, copied: Any) -> None:
    first, same = shard(BASIC, "a.csv"), shard(BASIC.replace(b"\r\n", b"\n"), "b.csv")
    FORMATS["csv"].check_together([first, shard(b"", "e.csv"), same])
    other = shard(b"id,text\n1,a\n", "c.csv")
    with pytest.raises(
        InputError, match=r"a\.csv and .*c\.csv cannot be .*columns id, text, lang in one, columns id, text"
    ):
        FORMATS["csv"].check_together([first, other])
    with pytest.raises(InputError, match="comma between fields, double quotes in one, semicolon between"):
        copied((first, [True, True]), (shard(BASIC.replace(b",", b";"), "d.csv"), [True, True]))
    sink = open_sink(first.path.with_name("out.csv"), "csv")
    with sink, pytest.raises(InputError, match=r"a\.tsv is tsv, but the output is csv"):
        FORMATS["tsv"].copy(shard(b"text\na\n", "a.tsv"), np.array([True]), sink)


def test_a_file_that_changes_is_noticed(shard: Make, reading: Any, copied: Any) -> None:
    found = shard(BASIC, "a.csv")
    with pytest.raises(DataError, match="changed while it was in use"):
        copied((found, [True]))
    found.path.write_bytes(BASIC + b"5,e,f\n")
    with pytest.raises(DataError, match="changed while it was in use"):
        reading(found)
