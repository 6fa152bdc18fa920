"""Inputs in every format: what `deduplicate_files` makes of one, and what it must make of the rows that another reader sees."""

import bz2
import csv
import functools
import gzip
import io
import json
import lzma
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lz4.frame
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import neardup
from flips.corpus import LINES, OPTIONS, ROWS
from flips.form import Form, UnreadableError

Row = tuple[str, str]
"""Id and text; the id of a row without one is empty."""
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": functools.partial(gzip.compress, mtime=0),
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".lz4": functools.partial(lz4.frame.compress, content_checksum=True),
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(),
    ".bz2": bz2.decompress,
    ".xz": functools.partial(lzma.decompress, format=lzma.FORMAT_XZ),
    ".lz4": lz4.frame.decompress,
}
DELIMITERS = {"csv": ";", "tsv": "\t"}

LONE = "\ue000"
"""Stands for a carriage return without newline, which ends a row for Python's reader, but not for neardup (docs/files.md)."""


def _json_rows(content: bytes) -> list[Row]:
    found = []
    for line in content.decode().removeprefix("\ufeff").split("\n"):
        if line.strip(" \t\r\n"):
            value = json.loads(line)
            if not isinstance(value, dict) or not isinstance(value.get("text"), str):
                raise UnreadableError(line)
            value["text"].encode()
            found.append((str(value["id"]) if isinstance(value.get("id"), (str, int)) else "", value["text"]))
    return found


def _delimited_rows(kind: str, content: bytes) -> list[Row]:
    text = re.sub("\r(?!\n)", LONE, content.decode().removeprefix("\ufeff"))
    read = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITERS[kind])
    header, *rows = [[cell.replace(LONE, "\r") for cell in row] for row in read] or [[]]
    if "text" not in header or any(len(row) not in (0, len(header)) for row in rows):
        raise UnreadableError(header)
    place = header.index("id") if "id" in header else None
    return [("" if place is None else row[place], row[header.index("text")]) for row in rows if row]


def _line_rows(content: bytes) -> list[Row]:
    lines = (line.removesuffix("\r") for line in content.decode().removeprefix("\ufeff").split("\n"))
    return [("", line) for line in lines if line.strip()]


def _parquet_rows(content: bytes) -> list[Row]:
    return _table_rows(pq.ParquetFile(pa.BufferReader(content)).read())


def _arrow_rows(content: bytes) -> list[Row]:
    opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    return _table_rows(opened(pa.BufferReader(content)).read_all())


def _table_rows(table: pa.Table) -> list[Row]:
    table.validate(full=True)
    if not pa.types.is_string(table.schema.field("text").type):
        raise UnreadableError("text")
    texts = table.column("text").to_pylist()
    ids = table.column("id").to_pylist() if "id" in table.column_names else [""] * len(texts)
    if None in texts:
        raise UnreadableError("null")
    return list(zip(map(str, ids), texts, strict=True))


READ: dict[str, Callable[[bytes], list[Row]]] = {
    "jsonl": _json_rows,
    "csv": functools.partial(_delimited_rows, "csv"),
    "tsv": functools.partial(_delimited_rows, "tsv"),
    "log": _line_rows,
    "txt": lambda content: [("", content.decode().removeprefix("\ufeff"))],
    "parquet": _parquet_rows,
    "arrow": _arrow_rows,
    "arrows": _arrow_rows,
}


def content_of(kind: str, rows: list[dict[str, Any]]) -> bytes:
    """Rows in a format that is not Parquet and not text files."""
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=number % 2 == 0) + "\n" for number, row in enumerate(rows)).encode()
    if kind == "log":
        return "".join(f"{line}\n" for line in LINES).encode()
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["id", "text"], delimiter=DELIMITERS[kind])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _input(kind: str, packing: str = "", **written: Any) -> Form:
    """A form of input; `written`: options of Parquet's writer."""
    name = f"in.{kind}{packing}"
    reading = {"lines": True} if kind == "log" else {"dialect": f'{DELIMITERS[kind]}"'} if kind in DELIMITERS else {}

    def make() -> None:
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(ROWS), name, row_group_size=9, **written)
        elif kind in ("arrow", "arrows"):
            new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
            table = pa.Table.from_pylist(ROWS)
            with new(name, table.schema, options=pa.ipc.IpcWriteOptions(**written)) as writer:
                writer.write_table(table, max_chunksize=9)
        elif kind == "txt":
            Path("in").mkdir()
            for number, line in enumerate(LINES):
                Path(f"in/{number:02}.txt{packing}").write_bytes(PACK[packing](line.encode()))
        else:
            Path(name).write_bytes(PACK[packing](content_of(kind, ROWS)))

    def targets() -> list[str]:
        return sorted(map(str, Path("in").iterdir())) if kind == "txt" else [name]

    def rows_of(names: list[str]) -> list[Row]:
        try:
            parts = [READ[kind](UNPACK[packing](Path(each).read_bytes())) for each in names]
        except Exception as problem:
            raise UnreadableError(str(problem)) from problem
        return [row for part in parts for row in part]

    def use() -> Any:
        output = "out/" if kind == "txt" else f"out.{kind}{packing}"
        neardup.deduplicate_files(
            targets()[0] if kind != "txt" else "in", output, audit="audit.jsonl", **OPTIONS, **reading
        )
        audit = [json.loads(line) for line in Path("audit.jsonl").read_bytes().splitlines()]
        written_names = sorted(map(str, Path("out").iterdir())) if kind == "txt" else [output]
        return [text for _, text in rows_of(written_names)], [_outcome(line) for line in audit]

    def reread() -> Any:
        texts = [text for _, text in rows_of(targets())]
        if kind in DELIMITERS and "" in texts:
            raise UnreadableError("an empty text is a missing one")
        found = neardup.deduplicate(texts, **OPTIONS)
        return found.survivors, [_outcome(line) for line in found.duplicates.to_pylist()]

    return Form(f"{kind}{packing}" + "".join(f" {value}" for value in written.values()), make, targets, use, reread)


def _outcome(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("row", "survivor_row", "similarity", "distance", "exact"))


def _archive() -> Form:
    def make() -> None:
        records = [
            b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/%s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
            % (row["id"].encode(), len(block), block)
            for row in ROWS
            for block in [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + row["text"].encode()]
        ]
        Path("in.warc.gz").write_bytes(b"".join(gzip.compress(record, mtime=0) for record in records))

    def use() -> Any:
        neardup.deduplicate_files("in.warc.gz", "out.warc.gz", audit="audit.jsonl", **OPTIONS)
        audit = [json.loads(line) for line in Path("audit.jsonl").read_bytes().splitlines()]
        return gzip.decompress(Path("out.warc.gz").read_bytes()), [_outcome(line) for line in audit]

    return Form("warc.gz", make, lambda: ["in.warc.gz"], use)


RECIPE = '# how words become features, and what these weigh\nword_shingle = 2\ncjk_shingle = 3\nweights = "tf"\nbits = 96\nmin_tokens = 4\nmax_distance = 12\nnormalize = ["nfkc_casefold", "digits"]\n'


def _recipe() -> Form:
    def use() -> Any:
        return neardup.fingerprint([ROWS[0]["text"]], recipe="recipe.toml").tolist()

    def reread() -> Any:
        try:
            values = tomllib.loads(Path("recipe.toml").read_text(encoding="utf-8"))
        except (ValueError, TypeError) as problem:
            raise UnreadableError(str(problem)) from problem
        return neardup.fingerprint([ROWS[0]["text"]], recipe=neardup.Recipe(**values)).tolist()

    return Form("recipe.toml", lambda: _write("recipe.toml", RECIPE), lambda: ["recipe.toml"], use, reread)


def _write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


INPUTS = [
    *(_input(kind, packing) for kind in ("jsonl", "csv", "tsv", "log", "txt") for packing in ("", ".gz", ".zst")),
    *(_input("jsonl", packing) for packing in (".bz2", ".xz", ".lz4")),
    *(_input(kind, compression=name) for kind in ("arrow", "arrows") for name in (None, "lz4")),
    *(_input("parquet", compression=name) for name in ("none", "snappy", "zstd")),
    _input("parquet", compression="gzip", write_page_checksum=True),
    _archive(),
    _recipe(),
]
