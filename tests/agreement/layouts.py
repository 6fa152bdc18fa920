"""How a corpus lies in files: formats, compressions and encodings."""

import csv
import functools
import gzip
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

COMPRESS = {"": bytes, ".gz": functools.partial(gzip.compress, mtime=0), ".zst": zstandard.compress}
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("language", pa.string())])


@dataclass(frozen=True)
class Layout:
    """A format of files.

    Attributes:
        kind: jsonl, csv, tsv, txt, lines or parquet.
        compression: an ending.
        encoding: of the texts.
    """

    kind: str = "jsonl"
    compression: str = ""
    encoding: str = "utf-8"

    def __str__(self) -> str:
        return f"{self.kind}{self.compression}" + (f" in {self.encoding}" if self.encoding != "utf-8" else "")

    @property
    def flags(self):
        """The flags for reading such files."""
        encoding = ["--encoding", self.encoding] if self.encoding != "utf-8" else []
        return [*encoding, *(["--lines"] if self.kind == "lines" else [])]

    @property
    def reading(self):
        """The same as options of the library."""
        return {"encoding": self.encoding, "lines": self.kind == "lines"}


@dataclass(frozen=True)
class Files:
    """A corpus in files.

    Attributes:
        parts: what names each shard.
        whole: what names all of them.
        rows: the documents as they are read.
    """

    parts: list[str]
    whole: list[str]
    rows: list[dict]


def write(corpus, layout):
    """Write a corpus below `in` in the current folder, and its reference to `ref.jsonl`."""
    pack, every, parts = COMPRESS[layout.compression], [], []
    Path("in").mkdir()
    for letter, shard in zip("abcdefgh", corpus.shards, strict=False):
        name = f"in/{letter}.{'log' if layout.kind == 'lines' else layout.kind}{layout.compression}"
        rows = shard
        if layout.kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows, SCHEMA), name, row_group_size=7)
        elif layout.kind == "jsonl":
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            Path(name).write_bytes(pack(content.encode(layout.encoding)))
        elif layout.kind == "txt":
            Path(f"in/{letter}").mkdir()
            rows = [
                {"id": f"{letter}/{i:02}.txt{layout.compression}", "text": row["text"]} for i, row in enumerate(rows)
            ]
            for row in rows:
                Path("in", row["id"]).write_bytes(pack(row["text"].encode(layout.encoding)))
            name = f"in/[{letter}]/*"  # ids are relative to what is before the pattern
        elif layout.kind == "lines":
            texts = [" ".join(row["text"].split()) or "?" for row in rows]
            Path(name).write_bytes(pack("".join(f"{text}\n" for text in texts).encode(layout.encoding)))
            rows = [{"id": f"{name}:{i}", "text": text} for i, text in enumerate(texts)]
        else:
            rows = [{"id": str(row["id"]), "text": row["text"]} for row in rows]
            Path(name).write_bytes(pack(_table(rows, layout.kind).encode(layout.encoding)))
        every += rows
        parts.append(name)
    if corpus.reference:
        Path("ref.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus.reference), encoding="utf-8")
    return Files(parts, ["in/*/*"] if layout.kind == "txt" else parts, every)


def _table(rows, kind):
    """Delimited text, with a dialect of its own."""
    out = io.StringIO(newline="")
    dialect = {"delimiter": "\t"} if kind == "tsv" else {"delimiter": ";", "lineterminator": "\n"}
    csv.writer(out, **dialect).writerows([["id", "text"], *([row["id"], row["text"]] for row in rows)])
    return out.getvalue()
