"""Rows that are longer than a document may be: so much of them is held as is allowed, and not several times."""

import gzip
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from io_rows import batches_of

from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard

LIMIT = 64 << 20
PIECES = 200
"""Of one megabyte each."""


def bomb(before: str, piece: str, after: str, encoding: str = "utf-8") -> bytes:
    """A text with the same piece again and again, a gzip member each."""
    content = (piece * ((1 << 20) // len(piece))).encode(encoding)
    return (
        gzip.compress(before.encode(encoding)) + gzip.compress(content) * PIECES + gzip.compress(after.encode(encoding))
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl.gz", ('{"text": "a"}\n{"text": "', "word ", '"}\n{"text": "c"}\n')),
        ("a.csv.gz", ('id,text\n0,a\n1,"', "word, ", '"\n2,"c"\n')),
        ("a.csv.gz", ('id,text\n0,a\n1,"', "a line that is about as long as lines of a text are\n", '"\n2,"c"\n')),
    ],
)
def test_a_row_that_is_too_long_takes_no_more_than_twice_the_limit(
    shard: Callable[..., Shard], name: str, content: tuple[str, str, str], encoding: str
) -> None:
    found = replace(shard(bomb(*content, encoding), name), max_document_bytes=LIMIT, encoding=encoding)
    reasons: dict[int, str] = {}
    texts: list[Any] = []
    tracemalloc.start()
    try:
        for batch in batches_of(found, Columns(), reasons):
            texts += batch.texts.to_pylist()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert texts == ["a", None, "c"]
    assert reasons[1].startswith("it is longer than `max_document_bytes`, 67,108,864 bytes")
    assert LIMIT < peak < 2 * LIMIT


def test_a_long_row_within_the_limit_is_read_whole(shard: Callable[..., Shard], reading: Any) -> None:
    text = 'a line, and "another"\n' * 1_000_000
    found = shard(b'id,text\n0,a\n1,"' + text.replace('"', '""').encode() + b'"\n2,c\n', "a.csv")
    assert reading(found).texts == ["a", text, "c"]
    text = "words " * 5_000_000
    assert reading(shard(b'{"text": "' + text.encode() + b'"}\n{"text": "c"}\n', "a.jsonl")).texts == [text, "c"]
    wide = replace(shard(f"{text}\nc\n".encode("utf-16-le"), "a.txt"), encoding="utf-16-le", format="lines")
    assert reading(wide).texts == [text, "c"]
