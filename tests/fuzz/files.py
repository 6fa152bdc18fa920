"""FILES: a case's documents in two shards of a format, and what is read of them again."""

import csv
import functools
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from fuzz.cases import Case, Document

COMPRESS = {"": bytes, ".gz": functools.partial(gzip.compress, mtime=0), ".zst": zstandard.compress}
DECOMPRESS = {
    "": bytes,
    ".gz": gzip.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("language", pa.string()), ("score", pa.int64())])
DIALECTS = {"csv": {"delimiter": ";"}, "tsv": {"delimiter": "\t"}}
FLAGS = {"csv": ["--dialect", ';"'], "tsv": ["--dialect", '\t"'], "lines": ["--lines"]}
READING = {"csv": {"dialect": ';"'}, "tsv": {"dialect": '\t"'}, "lines": {"lines": True}}


def as_read(case: Case, text: str) -> str:
    """The text of a document as the format can hold it."""
    if case.kind == "txt":
        return text.lstrip("\ufeff")
    if case.kind == "lines":
        return " ".join(text.replace("\ufeff", " ").split()) or "?"
    return text


def row_of(document: Document, row: int, text: str) -> dict[str, Any]:
    """As in JSON; ids of rows are unique."""
    return {"id": f"d{row}", "text": text, "language": document.language, "score": document.score}


def shards_of(case: Case) -> list[range]:
    """The rows of each of two files."""
    n = len(case.documents)
    return [range(n // 3), range(n // 3, n)]


def ending(case: Case) -> str:
    """Of the files; which compression, is a matter of the number of documents."""
    kind = "log" if case.kind == "lines" else case.kind
    return f".{kind}{['', '.gz', '.zst'][len(case.documents) % 3] if case.kind != 'parquet' else ''}"


def write(case: Case, texts: list[str]) -> tuple[list[str], list[str]]:
    """Write below `in/`, and the reference to ref.jsonl. Returns the name of each shard, and the id of each document."""
    names, ids = [], [f"d{row}" for row in range(len(texts))]
    Path("in").mkdir()
    end = ending(case)
    pack = COMPRESS[Path(end).suffix if Path(end).suffix in COMPRESS else ""]
    for letter, shard in zip("ab", shards_of(case), strict=True):
        rows = [row_of(case.documents[row], row, texts[row]) for row in shard]
        if case.kind == "txt" and not rows:
            continue  # a pattern without files is refused
        if case.kind == "txt":
            Path(f"in/{letter}").mkdir()
            for row in rows:
                place = int(row["id"][1:])
                ids[place] = f"{letter}/{place:03}{end}"
                Path("in", ids[place]).write_bytes(pack(row["text"].encode()))
            names.append(f"in/[{letter}]/*")
            continue
        names.append(f"in/{letter}{end}")
        if case.kind == "parquet":
            pq.write_table(table_of(rows), names[-1], row_group_size=5)
            continue
        Path(names[-1]).write_bytes(pack(_content(case.kind, rows)))
        if case.kind == "lines":
            for number, row in enumerate(rows):
                ids[int(row["id"][1:])] = f"{names[-1]}:{number}"
    if case.reference is not None:
        n = len(case.documents)
        rows = [row_of(each, n + i, texts[n + i]) for i, each in enumerate(case.reference)]
        Path("ref.jsonl").write_bytes(_content("lines" if case.kind == "lines" else "jsonl", rows))
    return names, ids


def _content(kind: str, rows: list[dict[str, Any]]) -> bytes:
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=len(row["text"]) % 2 == 0) + "\n" for row in rows).encode()
    if kind == "lines":
        return "".join(row["text"] + "\n" for row in rows).encode()
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, SCHEMA.names, quoting=csv.QUOTE_ALL, **DIALECTS[kind])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def table_of(rows: list[dict[str, Any]]) -> Any:
    """An Arrow table; languages are strings there."""
    languages = [row["language"] if row["language"] is None else str(row["language"]) for row in rows]
    return pa.Table.from_pylist([row | {"language": each} for row, each in zip(rows, languages, strict=True)], SCHEMA)


def texts_of(case: Case, output: dict[str, bytes], rows: int) -> list[str | None]:
    """Of each row of the inputs, the text that was written for it; None if there is none. `output`: files by relative name."""
    found: list[str | None] = [None] * rows
    unpack = DECOMPRESS[Path(ending(case)).suffix if Path(ending(case)).suffix in DECOMPRESS else ""]
    for name, packed in output.items():
        if case.kind == "parquet":
            read = pq.read_table(pa.BufferReader(packed)).to_pylist()
            pairs = [(row["id"], row["text"]) for row in read]
        elif case.kind == "txt":
            pairs = [(f"d{int(Path(name).name.split('.')[0])}", unpack(packed).decode())]
        elif case.kind == "jsonl":
            pairs = [
                (row["id"], row["text"])
                for row in map(
                    json.loads,
                    unpack(packed).decode().removesuffix("\n").split("\n") if packed and unpack(packed) else [],
                )
            ]
        else:
            csv.field_size_limit(1 << 30)
            read = csv.DictReader(io.StringIO(unpack(packed).decode(), newline=""), **DIALECTS[case.kind])
            pairs = [(row["id"], row["text"]) for row in read]
        for id_, text in pairs:
            assert found[int(id_[1:])] is None, f"{id_} is written twice"
            found[int(id_[1:])] = text
    return found
