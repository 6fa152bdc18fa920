"""Files in other encodings: read as texts, written as the bytes they were; and rows that are too long to be read."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from io_rows import ReadRows

from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.table import FORMATS, open_sink

Make = Callable[..., Shard]

TEXTS = ["plain", "漢字, かな; 表示", '"引用"\n次の行', "ソ表能\\|"]
ENCODINGS = ["utf-16", "utf-16-be", "utf-32", "gb18030", "shift_jis", "euc_jp", "iso2022_jp", "utf-8"]


def encoded(texts: list[str], kind: str, encoding: str) -> bytes:
    """Texts as a file of a format."""
    if kind == "jsonl":
        content = "".join(
            json.dumps({"text": text, "id": i}, ensure_ascii=False) + "\n" for i, text in enumerate(texts)
        )
    elif kind == "csv":
        out = io.StringIO(newline="")
        csv.writer(out).writerows([["id", "text"], *([str(i), text] for i, text in enumerate(texts))])
        content = out.getvalue()
    else:
        content = "".join(f"{text}\n" for text in texts)
    return content.encode(encoding)


def as_encoded(path: Path, content: bytes, encoding: str, **more: Any) -> Shard:
    """A file of that encoding as a shard."""
    path.write_bytes(content)
    return find_shards([path], reading=Reading(encoding=encoding, **more))[0]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "lines"])
def test_rows_are_read_as_texts_and_copied_as_bytes(
    tmp_path: Path, reading: Any, copied: Any, kind: str, encoding: str
) -> None:
    texts = [text.replace("\n", " ") if kind == "lines" else text for text in TEXTS]
    content = encoded(texts, kind, encoding)
    name = {"lines": "a.txt"}.get(kind, f"a.{kind}")
    found = as_encoded(tmp_path / name, content, encoding, lines=kind == "lines")
    result = reading(found)
    assert result.texts == texts
    assert result.reasons == {}
    assert copied((found, [True] * 4)).read_bytes() == content
    some = copied((found, [False, True, False, True])).read_bytes()
    assert some == encoded(texts, kind, encoding)[: len(some)] or reading(
        as_encoded(tmp_path / f"b{name}", some, encoding, lines=kind == "lines")
    ).texts == [texts[1], texts[3]]


@pytest.mark.parametrize("compression", ["plain", "gzip"])
@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-8-sig", "utf-16-le", "utf-32-be", "utf-7"])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "lines", "txt"])
def test_a_file_that_keeps_all_rows_keeps_all_bytes(
    tmp_path: Path, copied: Any, kind: str, encoding: str, finished: bool, compression: str
) -> None:
    texts = [text.replace("\n", " ") if kind in ("lines", "txt") else text for text in TEXTS]
    content = encoded(texts, "csv" if kind == "tsv" else kind, "utf-8").decode()
    content = content.replace(",", "\t") if kind == "tsv" else content
    data = (content if finished else content.removesuffix("\n").removesuffix("\r")).encode(encoding)
    name = {"lines": "a.txt"}.get(kind, f"a.{kind}")
    found = as_encoded(tmp_path / name, data, encoding, lines=kind == "lines")
    path = copied((found, [True] * (1 if kind == "txt" else 4)), compression=compression)
    written = path.read_bytes() if compression == "plain" else gzip.decompress(path.read_bytes())
    mark = (
        b"\xef\xbb\xbf" if encoding == "utf-8-sig" and kind in ("jsonl", "lines") else b""
    )  # no part of a row of UTF-8
    assert mark + written == data


@given(
    texts=st.lists(st.text(st.sampled_from("ab\"',\\|\r\nソ表漢é"), max_size=6), max_size=8),
    encoding=st.sampled_from(["utf-16-le", "gb18030", "cp932", "utf-8"]),
    kind=st.sampled_from(["jsonl", "csv"]),
)
def test_any_rows_survive_any_encoding(tmp_path_factory: Any, texts: list[str], encoding: str, kind: str) -> None:
    texts = [text.replace("é", "e") for text in texts]
    folder = tmp_path_factory.mktemp("encoded")
    content = encoded(texts, kind, encoding)
    found = replace(as_encoded(folder / f"a.{kind}", content, encoding), dialect=',"')
    read = ReadRows(found)
    assert (read.texts, read.reasons) == (texts, {})
    with open_sink(folder / "out", kind) as sink:
        FORMATS[kind].copy(found, np.ones(len(texts), np.bool_), sink)
    assert (folder / "out").read_bytes() == content


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "shift_jis"])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_columns_are_added_in_the_encoding_of_the_file(tmp_path: Path, reading: Any, kind: str, encoding: str) -> None:
    found = as_encoded(tmp_path / f"a.{kind}", encoded(TEXTS, kind, encoding), encoding)
    added = pa.table({"note": ["a", "b", "漢", "d"]})
    with open_sink(tmp_path / f"out.{kind}", kind) as sink:
        FORMATS[kind].annotate(found, added, sink, keep=np.array([True, False, True, True]))
    out = as_encoded(tmp_path / f"out.{kind}", (tmp_path / f"out.{kind}").read_bytes(), encoding)
    assert reading(out).texts == [TEXTS[0], *TEXTS[2:]]
    assert reading(out, "note").texts == ["a", "漢", "d"]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "lines"])
def test_rows_that_are_not_of_the_encoding_are_rejected(tmp_path: Path, reading: Any, copied: Any, kind: str) -> None:
    texts = ["漢字", "b@d", "end"]
    content = encoded(texts, kind, "shift_jis").replace(b"@", b"\x81\x01")
    found = as_encoded(
        tmp_path / ("a.txt" if kind == "lines" else f"a.{kind}"), content, "shift_jis", lines=kind == "lines"
    )
    result = reading(found)
    assert result.texts == ["漢字", None, "end"]
    assert result.reasons[1].startswith("it is not shift_jis: illegal multibyte sequence (byte ")
    assert copied((found, [True, False, True])).read_bytes() == encoded(["漢字", "end"], kind, "shift_jis").replace(
        b"1", b"2" if kind != "lines" else b"1"
    )


def test_a_text_file_is_decoded_as_a_whole(tmp_path: Path, reading: Any) -> None:
    assert reading(as_encoded(tmp_path / "a.txt", "漢\n字".encode("utf-16"), "utf-16")).texts == ["漢\n字"]
    result = reading(as_encoded(tmp_path / "a.txt", b"\x81", "gb18030"))
    assert result.reasons == {0: "it is not gb18030: incomplete multibyte sequence (byte 0)"}


@pytest.mark.parametrize("kind", ["jsonl", "csv", "txt"])
def test_utf_16_read_as_utf_8_says_what_to_pass(tmp_path: Path, reading: Any, kind: str) -> None:
    content = encoded(["a"], kind, "utf-16")
    with pytest.raises(DataError, match=r"begins with the byte order mark of UTF-16.*Pass `encoding='utf-16'`\."):
        reading(as_encoded(tmp_path / f"a.{kind}", content, "utf-8"))
    for order in ("le", "be"):
        without = encoded(["abcd"], kind, f"utf-16-{order}")
        with pytest.raises(DataError, match=rf"looks like UTF-16, .*Pass `encoding='utf-16-{order}'`\."):
            reading(as_encoded(tmp_path / f"a.{kind}", without, "utf-8"))
    with pytest.raises(DataError, match="does not begin with the byte order mark of UTF-16 .*utf-16-le'` or"):
        reading(as_encoded(tmp_path / f"a.{kind}", without, "utf-16"))
    assert reading(as_encoded(tmp_path / f"e.{kind}", b"", "utf-16")).texts == ([""] if kind == "txt" else [])


@pytest.mark.parametrize("name", ["utf-9", "rot13", "base64", "idna", "unicode_escape", "", None, "a\0b"])
def test_an_encoding_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(OptionError, match="encoding=.*: give an encoding that Python knows, as utf-8, utf-16, gb18030"):
        Reading(encoding=name)


def test_encodings_have_one_name() -> None:
    assert [Reading(encoding=name).encoding for name in ("UTF8", "utf-8-sig", "SJIS", "GB18030", "latin1")] == [
        "utf-8",
        "utf-8",
        "shift_jis",
        "gb18030",
        "iso8859-1",
    ]


def test_parquet_has_no_other_encoding(shard: Make) -> None:
    found = replace(shard(pa.table({"text": ["a"]}), "a.parquet"), encoding="gb18030")
    with pytest.raises(InputError, match=r"a\.parquet is Parquet, which is always UTF-8, but `encoding='gb18030'` is"):
        FORMATS["parquet"].check(found, Columns())


def test_files_of_two_orders_do_not_go_into_one(tmp_path: Path) -> None:
    little = as_encoded(tmp_path / "a.jsonl", b"\xff\xfe" + encoded(["a"], "jsonl", "utf-16-le"), "utf-16")
    big = as_encoded(tmp_path / "b.jsonl", b"\xfe\xff" + encoded(["a"], "jsonl", "utf-16-be"), "utf-16")
    with pytest.raises(InputError, match="utf-16-le in one, utf-16-be in the other"):
        FORMATS["jsonl"].check_together([little, big])


LIMIT = 1000
REASON = "it is longer than `max_document_bytes`, 1,000 bytes (raise that if it is a document)"


@pytest.mark.parametrize("size", [LIMIT, 20 << 20])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "lines"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "shift_jis"])
def test_rows_that_are_too_long_are_rejected(
    tmp_path: Path, reading: Any, copied: Any, kind: str, encoding: str, size: int
) -> None:
    texts = ["a", '",\n"'.replace("\n", " " if kind == "lines" else "\n") * (size // 4), "c", "x" * size, "e"]
    name = "a.txt" if kind == "lines" else f"a.{kind}"
    content = encoded(texts, kind, encoding)
    found = as_encoded(tmp_path / name, content, encoding, lines=kind == "lines", max_document_bytes=LIMIT)
    result = reading(found)
    assert result.texts == ["a", None, "c", None, "e"]
    told = {row: reason.partition("; it is so far")[0] for row, reason in result.reasons.items()}
    assert told == {1: REASON, 3: REASON}
    kept = copied((found, [True, False, True, False, True])).read_bytes()
    assert len(kept) < LIMIT
    again = as_encoded(tmp_path / f"b{name}", kept, encoding, lines=kind == "lines")
    assert reading(again).texts == ["a", "c", "e"]
    at_the_end = as_encoded(
        tmp_path / name, encoded(texts[:2], kind, encoding), encoding, lines=kind == "lines", max_document_bytes=LIMIT
    )
    assert reading(at_the_end).reasons[1].startswith(REASON)


def test_cells_and_text_files_that_are_too_long_are_rejected(tmp_path: Path, shard: Make, reading: Any) -> None:
    table = replace(shard(pa.table({"text": ["a", "x" * 1001, "y" * 1000]}), "a.parquet"), max_document_bytes=LIMIT)
    assert reading(table).reasons == {1: f'its column "text" is {REASON.removeprefix("it is ")}'}
    for pack, ending in ((bytes, ""), (gzip.compress, ".gz"), (zstandard.compress, ".zst")):
        long = as_encoded(tmp_path / f"a.txt{ending}", pack(b"x" * 1001), "utf-8", max_document_bytes=LIMIT)
        assert reading(long).reasons == {0: REASON}
        fitting = as_encoded(tmp_path / f"b.txt{ending}", pack(b"x" * 1000), "utf-8", max_document_bytes=LIMIT)
        assert reading(fitting).texts == ["x" * 1000]


@pytest.mark.parametrize("size", [0, -1, "x", "1X", True, None, ""])
def test_a_limit_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(OptionError, match="max_document_bytes=.*: give bytes as a number or as 512M or 4G"):
        Reading(max_document_bytes=size)
