"""The texts that benchmarks run on: the text files of the Python installation, and open sets that lie outside the project.

The open sets are found by `--data FOLDER` or NEARDUP_DATA and are never copied: a folder each, with `docs.jsonl.gz` (`id`,
`text`) and `oracle_pairs_*.jsonl` (`a`, `b`, `jaccard`: every pair of ids of set Jaccard 0.5 and more, by another definition
of tokens than the package's own).
"""

import gzip
import hashlib
import json
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, np.dtype[Any]]

TEXT_ENDINGS = {".py", ".txt", ".md", ".rst", ".html"}
PIECE = 4096
"""Characters of a document, if nothing else is said."""
OPEN_SETS = ("en_pep_revisions_even", "zh_laws_national", "en_spdx_licenses")


@dataclass(frozen=True)
class Texts:
    """Documents of one kind.

    Attributes:
        name: what they are.
        array: Arrow `large_string` array, one document a row.
    """

    name: str
    array: Any

    def __len__(self) -> int:
        return len(self.array)

    @property
    def bytes(self) -> int:
        """Bytes of text, as UTF-8."""
        offsets = np.frombuffer(self.array.buffers()[1], np.int64)
        return int(offsets[self.array.offset + len(self.array)] - offsets[self.array.offset])

    def head(self, size: int) -> "Texts":
        """The first documents, about `size` bytes of them."""
        offsets = np.frombuffer(self.array.buffers()[1], np.int64)[self.array.offset :][: len(self.array) + 1]
        return Texts(self.name, self.array.slice(0, int(np.searchsorted(offsets - offsets[0], size))))

    def as_record(self) -> dict[str, Any]:
        """What a result file says of them; the checksum is of all texts, each with its length."""
        digest = hashlib.sha256()
        for text in self.array.to_pylist():
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return {"name": self.name, "documents": len(self), "bytes": self.bytes, "sha256": digest.hexdigest()[:16]}


@dataclass(frozen=True)
class ReferenceSet:
    """Documents and the pairs of them that are known to be similar.

    Attributes:
        texts: the documents.
        left, right: int64[p], rows, left < right.
        jaccard: float64[p], from 0.5 on.
    """

    texts: Texts
    left: Array
    right: Array
    jaccard: Array


def _text_files() -> Iterator[Path]:
    """In an order that does not depend on names' meaning, so that the first 100 MB are a mixture of packages."""
    roots = {Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib", "platlib")}
    found = {
        hashlib.sha256(str(path.relative_to(root)).encode()).digest(): path
        for root in sorted(roots, key=lambda root: len(root.parts))
        for path in root.rglob("*")
        if path.suffix in TEXT_ENDINGS and path.is_file()
    }
    for _, path in sorted(found.items()):
        yield path


def pieces(text: str, piece: int) -> Iterator[str]:
    """Runs of whole lines of `piece` characters or a little more; a rest of less than a quarter of that is left out."""
    lines: list[str] = []
    size = 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        size += len(line)
        if size >= piece:
            yield "".join(lines)
            lines, size = [], 0
    if size >= piece / 4:
        yield "".join(lines)


def python_installation(size: int, *, piece: int = PIECE) -> Texts:
    """English as every machine has it: pieces of the text files of Python and its packages.

    About `size` characters of it, or all there are; mostly source text. The packages differ from machine to machine: compare
    figures of one run only.
    """
    found: list[str] = []
    total = 0
    for path in _text_files():
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        for part in pieces(text, piece):
            found.append(part)
            total += len(part)
        if total >= size:
            break
    return Texts(f"Python installation, pieces of {piece} characters", pa.array(found, pa.large_string()))


def data_folder(given: str | None) -> Path | None:
    """The folder of the open sets: the argument, else NEARDUP_DATA, else none."""
    name = given or os.environ.get("NEARDUP_DATA")
    return Path(name) if name else None


def missing(folder: Path | None, name: str) -> str | None:
    """Why that open set cannot be read, or None if it can."""
    if folder is None:
        return f"{name}: no folder of open sets was given (--data FOLDER or NEARDUP_DATA)"
    if not (folder / name / "docs.jsonl.gz").is_file():
        return f"{name}: {folder.name}/{name}/docs.jsonl.gz does not exist"
    return None


def documents_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of an open set."""
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def open_texts(folder: Path, name: str) -> Texts:
    """The documents of an open set."""
    return Texts(name, pa.array([document["text"] for document in documents_of(folder / name)], pa.large_string()))


def reference_set(folder: Path, name: str) -> ReferenceSet:
    """The documents of an open set and its reference pairs."""
    documents = documents_of(folder / name)
    row = {document["id"]: i for i, document in enumerate(documents)}
    [pairs_file] = (folder / name).glob("oracle_pairs_*.jsonl")
    pairs = [json.loads(line) for line in pairs_file.read_text(encoding="utf-8").splitlines()]
    ends = np.array([(row[pair["a"]], row[pair["b"]]) for pair in pairs], np.int64)
    ends.sort(axis=1)
    return ReferenceSet(
        Texts(name, pa.array([document["text"] for document in documents], pa.large_string())),
        ends[:, 0].copy(),
        ends[:, 1].copy(),
        np.array([pair["jaccard"] for pair in pairs]),
    )
