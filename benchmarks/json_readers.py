"""How fast JSON lines become Arrow columns of texts and ids, by reader and by threads; and what each reader lets pass.

    python benchmarks/json_readers.py [--quick] [--data FOLDER] [--output FILE]

Every contender is given the same blocks of about 4 MB of lines in memory, and yields the same two Arrow columns. `neardup` is
`BlockReader`, which adds to Arrow's reader the checks for UTF-8 and for one object a line.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json as pj

from corpora import Texts, data_folder, missing, open_texts, python_installation
from measure import arguments, environment, rounded, table, take_turns, write_json
from neardup.io.corpora.batch import Columns
from neardup.io.formats.json.json_blocks import BlockReader
from neardup.io.formats.lines import Lines

BYTES = 60_000_000
BLOCK_BYTES = 4 << 20
ROUNDS = 5
TEXT = pa.large_string()
ROWS = {
    "half a surrogate pair": b'{"text": "\\ud800"}',
    "not UTF-8, in the text": b'{"text": "a\xff"}',
    "not UTF-8, in another column": b'{"text": "a", "x": "\xff"}',
    "key repeated": b'{"text": "a", "text": "b"}',
    "two objects": b'{"text": "a"}{"text": "b"}',
    "NaN in another column": b'{"text": "a", "x": NaN}',
    "comma too many": b'{"text": "a",}',
    "control character": b'{"text": "a\tb"}',
    "nested 100,000 deep in another column": b'{"text": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "id of 30 digits": b'{"text": "a", "id": 123456789012345678901234567890}',
}


class Row(msgspec.Struct):
    """The columns that are read, as a type for msgspec."""

    text: str
    id: str | int | None = None


def _columns(texts: list[str], ids: list[Any]) -> tuple[Any, Any]:
    return pa.array(texts, TEXT), pa.array([msgspec.json.encode(value).decode() for value in ids], TEXT)


def by_json(lines: Lines) -> tuple[Any, Any]:
    """Python's own reader."""
    rows = [json.loads(lines.line(i)) for i in range(len(lines))]
    return _columns([row["text"] for row in rows], [row.get("id") for row in rows])


def by_orjson(lines: Lines) -> tuple[Any, Any]:
    """Whole objects."""
    rows = [orjson.loads(lines.line(i)) for i in range(len(lines))]
    return _columns([row["text"] for row in rows], [row.get("id") for row in rows])


def by_msgspec(lines: Lines) -> tuple[Any, Any]:
    """Only what is wanted."""
    decode = msgspec.json.Decoder(Row).decode
    rows = [decode(lines.line(i)) for i in range(len(lines))]
    return _columns([row.text for row in rows], [row.id for row in rows])


def by_arrow(lines: Lines) -> tuple[Any, Any]:
    """Arrow's reader without any check."""
    read = pj.read_json(
        pa.BufferReader(pa.py_buffer(lines.data)),
        pj.ReadOptions(use_threads=False, block_size=lines.data.size + 1),
        pj.ParseOptions(explicit_schema=pa.schema({"text": TEXT, "id": TEXT}), unexpected_field_behavior="ignore"),
    )
    return read.column("text"), read.column("id")


def by_neardup(lines: Lines) -> tuple[Any, Any]:
    """What this package does."""
    batch, rejections = BlockReader(Columns(), "shard").read(lines)
    if rejections:
        raise ValueError(rejections[0][1])
    return batch.texts, batch.ids


READERS: dict[str, Callable[[Lines], tuple[Any, Any]]] = {
    "json": by_json,
    "orjson": by_orjson,
    "msgspec, typed": by_msgspec,
    "pyarrow.json": by_arrow,
    "neardup": by_neardup,
}


def as_lines(data: bytes) -> Lines:
    """A block of whole lines."""
    characters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    return Lines(0, characters, np.append(0, ends[:-1] + 1), ends)


def blocks(texts: Texts, characters: int, ascii_only: bool) -> Iterator[Lines]:
    """JSON lines of pieces of the texts, with the other columns that a crawl has."""
    rows: list[bytes] = []
    size = 0
    for number, text in enumerate(texts.array.to_pylist()):
        for start in range(0, len(text), characters):
            row = {
                "id": f"{number}-{start}",
                "url": f"https://example.org/{number}",
                "date": "2026-01-01T00:00:00Z",
                "language": "en",
                "score": 0.93,
                "meta": {"tokens": [1, 2, 3], "source": "crawl"},
                "text": text[start : start + characters],
            }
            rows.append(json.dumps(row, ensure_ascii=ascii_only).encode() + b"\n")
            size += len(rows[-1])
            if size >= BLOCK_BYTES:
                yield as_lines(b"".join(rows))
                rows, size = [], 0


def measure(name: str, corpus: list[Lines], rounds: int) -> list[dict[str, Any]]:
    """Megabytes of JSON a second, by reader and number of threads."""
    size = sum(lines.data.size for lines in corpus) / 1e6
    rows = sum(map(len, corpus))
    contenders: dict[str, Callable[[], object]] = {}
    with ThreadPoolExecutor(2) as pool:
        for reader, read in READERS.items():
            contenders[f"{reader}/1"] = lambda read=read: [read(lines) for lines in corpus]  # type: ignore[misc]
            contenders[f"{reader}/2"] = lambda read=read: list(pool.map(read, corpus))  # type: ignore[misc]
        times = take_turns(contenders, rounds)
    return [
        {
            "texts": name,
            "bytes_a_row": round(size * 1e6 / rows),
            "reader": reader,
            "one_thread": times[f"{reader}/1"].as_record(size, "megabytes_per_second"),
            "two_threads": times[f"{reader}/2"].as_record(size, "megabytes_per_second"),
        }
        for reader in READERS
    ]


def outcome(read: Callable[[Lines], tuple[Any, Any]], row: bytes) -> str:
    """What a reader makes of one row."""
    try:
        texts, ids = read(as_lines(row + b"\n"))
    except Exception:  # each has its own kinds
        return "refused"
    try:
        found = texts.to_pylist()
    except UnicodeDecodeError:
        return "read as broken text"
    if b"123456789" in row:
        return f"id {ids.to_pylist()[0]}"
    return "read" if found == ["a"] else f"read as {found}"


def main() -> None:
    """Measure, print the tables, write the results."""
    given = arguments(__doc__.splitlines()[0], "json_readers")
    size, rounds = (BYTES // 10, 2) if given.quick else (BYTES, ROUNDS)
    corpora = {"English": python_installation(size)}
    folder = data_folder(given.data)
    reason = missing(folder, "zh_laws_national")
    if reason is None and folder is not None:
        corpora["Chinese"] = open_texts(folder, "zh_laws_national").head(size)
    results = []
    for name, texts in corpora.items():
        for characters in (4000, 200):
            results += measure(name, list(blocks(texts, characters, False)), rounds)
        if name == "Chinese":
            results += measure("Chinese as \\u escapes", list(blocks(texts, 4000, True)), rounds)
    print(
        table(
            ["texts", "bytes a row", "reader", "one thread, MB/s", "two threads, MB/s"],
            [
                [
                    row["texts"],
                    f"{row['bytes_a_row']:,}",
                    row["reader"],
                    *(f"{rounded(row[key]['megabytes_per_second'], 3):g}" for key in ("one_thread", "two_threads")),
                ]
                for row in results
            ],
        )
    )
    strictness = {what: {name: outcome(read, row) for name, read in READERS.items()} for what, row in ROWS.items()}
    print("\n" + table(["row", *READERS], [[what, *found.values()] for what, found in strictness.items()]))
    if reason is not None:
        print(f"\nskipped: {reason}")
    write_json(
        given.output,
        {
            "environment": environment(("msgspec", "orjson")),
            "corpora": [texts.as_record() for texts in corpora.values()],
            "results": results,
            "strictness": strictness,
            "skipped": [reason] if reason else [],
        },
    )


if __name__ == "__main__":
    main()
