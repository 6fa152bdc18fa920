"""Text files: one document a file, or one a line; in folders, compressed, beside other formats."""

import gzip
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from neardup.errors import DataError, InputError, RowError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.table import FORMATS, open_sink
from neardup.io.outputs.output_names import output_names
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import name_as_text
from neardup.resources.resources import Resources
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.unfinished import TemporaryFolder

Make = Callable[..., Shard]


def as_lines(path: Path, **reading: Any) -> Shard:
    """A file read as lines."""
    return find_shards([path], reading=Reading(lines=True, **reading))[0]


def test_a_file_is_a_document_and_its_relative_path_the_id(tmp_path: Path) -> None:
    for name, content in [("b/x.txt", b"x\r\n\n"), ("a.txt", b""), ("c.txt.gz", gzip.compress(b"\xef\xbb\xbfc"))]:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(content)
    (tmp_path / "in" / "README.md").write_text("about the data")
    shards = find_shards([tmp_path / "in"])
    corpus = FileCorpus(shards, Columns())
    corpus.check()
    found = list(corpus.map(lambda batch: (batch.texts.to_pylist(), batch.ids.to_pylist())))
    assert found == [(0, (["", "x\r\n\n", "c"], ['"a.txt"', '"b/x.txt"', '"c.txt.gz"']))]
    assert corpus.starts == [0, 1, 2, 3]
    masked = corpus.map(lambda batch: batch.texts.to_pylist(), wanted=np.array([False, True, False]))
    assert list(masked) == [(0, [None, "x\r\n\n", None])]
    assert [shard.format for shard in find_shards([tmp_path / "in" / "README.md"])] == ["txt"]


def test_names_of_any_bytes_become_different_texts() -> None:
    parts = [b"a", b"x", b"f", b"e", b"8", b"\\", b"\xfe", b"\xff", b"\xc3\xa9", b"\xc3"]
    names = {b"".join(each) for n in range(1, 5) for each in itertools.product(parts, repeat=n)}
    texts = {name: name_as_text(os.fsdecode(name)) for name in names}
    assert len(set(texts.values())) == len(names)
    for name in (b"a", b"\xc3\xa9", b"a\\", b"x\\xa8"[:2], b"\\fe"):
        assert name_as_text(os.fsdecode(name)) == name.decode()


@pytest.mark.parametrize("threads", [1, 2])
def test_many_files_and_other_formats_keep_their_order(tmp_path: Path, threads: int) -> None:
    for i in range(2500):
        (tmp_path / f"{i:05}.txt").write_bytes(f"text {i}".encode() if i % 1000 else b"\xff")
    (tmp_path / "01200a.jsonl").write_bytes(b'{"text": "one"}\n{"text": "two"}\n')
    corpus = FileCorpus(find_shards([tmp_path]), Columns(), on_error="skip", resources=Resources(threads))
    texts: list[str | None] = []
    for row, found in corpus.map(lambda batch: batch.texts.to_pylist()):
        assert row == len(texts)
        texts += found
    expected: list[str | None] = [f"text {i}" if i % 1000 else None for i in range(2500)]
    assert texts == [*expected[:1201], "one", "two", *expected[1201:]]
    assert [(Path(bad.file).name, bad.row) for bad in corpus.rejected] == [
        ("00000.txt", 0),
        ("01000.txt", 0),
        ("02000.txt", 0),
    ]
    assert corpus.rejected[0].reason == "it is not utf-8: invalid start byte (byte 0)"
    assert corpus.rows_of(1201) == slice(1201, 1203)
    with pytest.raises(RowError, match=r"00000\.txt, row 0 .*it is not utf-8"):
        list(FileCorpus(corpus.shards, Columns(), resources=Resources(threads)).map(lambda batch: None))


def test_a_survivor_is_the_same_file(shard: Make, copied: Any) -> None:
    stored = gzip.compress(b"text", 9)
    found = shard(stored, "a.txt.gz")
    assert copied((found, [True]), name="out.txt.gz", compression="gzip").read_bytes() == stored
    assert copied((found, [True]), name="out.txt").read_bytes() == b"text"
    assert not copied((found, [False]), name="none.txt").exists()


def test_documents_that_are_removed_leave_no_file(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("of an earlier run")
    with Outputs([old, tmp_path / "new.txt"], overwrite=True) as outputs:
        outputs.claim(tmp_path / "new.txt").write_text("new")
        outputs.leave_out(old)
        outputs.commit()
    assert not old.exists()
    assert (tmp_path / "new.txt").read_text() == "new"


def test_a_file_that_changes_is_noticed(shard: Make, reading: Any, copied: Any) -> None:
    for name in ("a.txt", "b.txt.zst"):
        found = shard(zstandard.compress(b"text") if name.endswith("zst") else b"text", name)
        found.path.write_bytes(found.path.read_bytes() + b" more")
        with pytest.raises(DataError, match="changed while it was in use"):
            reading(found)
        with pytest.raises(DataError, match="changed while it was in use"):
            copied((found, [True]))


def test_files_of_one_document_do_not_go_into_one_file(shard: Make, copied: Any) -> None:
    first, second = shard(b"a", "a.txt"), shard(b"b", "b.txt")
    for refused in (
        lambda: FORMATS["txt"].check_together([first, second]),
        lambda: output_names("out.txt", [first, second]),
        lambda: copied((first, [True]), (second, [True])),
    ):
        with pytest.raises(InputError, match=r"a\.txt and .*b\.txt are one document each.*Name a folder"):
            refused()
    with pytest.raises(InputError, match=r"a\.txt is txt, but the output is csv"):
        output_names("out.csv", [first])


@pytest.mark.parametrize("kind", ["txt", "lines"])
def test_plain_text_has_no_columns(shard: Make, tmp_path: Path, kind: str) -> None:
    found = replace(shard(b"a", "a.txt"), format=kind)
    check = FORMATS[kind].check
    check(found, Columns(("body",)))
    with pytest.raises(InputError, match='a.txt is plain text: it has no columns, so no "key".*relative path'):
        check(found, Columns(id="key"))
    with pytest.raises(InputError, match='so no "lang"'):
        check(found, Columns(values=("lang",)))
    with pytest.raises(InputError, match=r"none can be added \(cluster_id\)\. Leave out `annotate`: the audit says"):
        check(found, Columns(), ("cluster_id",))
    with open_sink(tmp_path / "out", kind) as sink, pytest.raises(InputError, match="none can be added"):
        FORMATS[kind].annotate(found, pa.table({"x": [1]}), sink, keep=np.array([True]))


def test_a_line_is_a_document_in_any_file(tmp_path: Path, reading: Any, copied: Any) -> None:
    content = b"\xef\xbb\xbfone\r\n\n \t\r\n two \nbad \xff\nend"
    for name, stored in [("a.txt", content), ("a.log", content), ("a.weird.gz", gzip.compress(content))]:
        (tmp_path / name).write_bytes(stored)
        found = as_lines(tmp_path / name)
        assert found.format == "lines"
        result = reading(found)
        assert result.texts == ["one", " two ", None, "end"]
        assert result.ids == [json.dumps(f"{found.name}:{i}") if i != 2 else None for i in range(4)]
        assert result.reasons == {2: "it is not UTF-8: invalid start byte (byte 4)"}
        assert reading(found, wanted=[False, True, False, False]).texts == [None, " two ", None, None]
        assert copied((found, [True, True, False, True])).read_bytes() == b"one\r\n two \nend"
        assert output_names("out.log", [found, found]) == [Path("out.log")] * 2
    with pytest.raises(InputError, match="lines, but the output is parquet"):
        output_names("out.parquet", [found])
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"a\.parquet has columns, not lines"):
        as_lines(tmp_path / "a.parquet")


def test_lines_can_come_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: Any) -> None:
    import io
    import sys
    from types import SimpleNamespace

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(b"a\nb\n"))))
    temporary = TemporaryFolder(tmp_path, TemporaryFiles())
    (found,) = find_shards("-", temporary=temporary, reading=Reading(lines=True))
    assert (found.format, found.compression, found.relative) == ("lines", "gzip", "stdin.txt")
    assert reading(found).ids == ['"stdin:0"', '"stdin:1"']
