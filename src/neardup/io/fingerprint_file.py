"""The fingerprint file: Parquet with the columns `id`, `fingerprint` and `short`, and the recipe in the metadata.

`fingerprint` is uint64 for up to 64 bits, else fixed-size binary, big-endian. `short` is true for texts with too few tokens to
be near anything by fingerprint alone. The schema's metadata holds `neardup.recipe` (JSON), `neardup.digest` (the recipe's) and
`neardup.format` (1).
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import DataError
from neardup.io.ids import plain_ids
from neardup.recipe import Recipe

Array = np.ndarray[Any, np.dtype[Any]]

FORMAT = b"1"


def fingerprint_schema(recipe: Recipe) -> Any:
    """The schema, with the recipe in its metadata."""
    kind = pa.uint64() if recipe.words == 1 else pa.binary(8 * recipe.words)
    return pa.schema(
        [
            pa.field("id", pa.large_string(), nullable=False),
            pa.field("fingerprint", kind, nullable=False),
            pa.field("short", pa.bool_(), nullable=False),
        ],
        metadata={
            b"neardup.format": FORMAT,
            b"neardup.recipe": json.dumps(recipe.as_dict(), sort_keys=True).encode(),
            b"neardup.digest": recipe.digest().encode(),
        },
    )


def fingerprint_column(fingerprints: Array) -> Any:
    """An Arrow array of uint64[n, words]: uint64 for one word, else big-endian bytes."""
    n, words = fingerprints.shape
    if words == 1:
        return pa.array(np.ascontiguousarray(fingerprints[:, 0]))
    content = np.ascontiguousarray(fingerprints.astype(">u8"))
    return pa.Array.from_buffers(pa.binary(8 * words), n, [None, pa.py_buffer(content)])


class FingerprintWriter:
    """Writes a fingerprint file, a batch at a time, to an open binary file."""

    def __init__(self, sink: Any, recipe: Recipe) -> None:
        self._schema = fingerprint_schema(recipe)
        self._writer = pq.ParquetWriter(sink, self._schema, compression="zstd")

    def write(self, ids: Any, fingerprints: Array, short: Array) -> None:
        """ids: Arrow large_string, each a JSON value; uint64[n, words]; bool[n]."""
        columns = [plain_ids(ids), fingerprint_column(fingerprints), pa.array(short)]
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


@dataclass(frozen=True, slots=True)
class FingerprintFile:
    """What a fingerprint file holds.

    Attributes:
        ids: Arrow large_string[n].
        fingerprints: uint64[n, words].
        short: bool[n].
        recipe: the recipe's fields, Unicode version and version of the code.
        digest: the recipe's digest.
    """

    ids: Any
    fingerprints: Array
    short: Array
    recipe: dict[str, Any]
    digest: str

    def made_by(self) -> Recipe:
        """The recipe."""
        known = {field.name for field in dataclasses.fields(Recipe)}
        return Recipe(**{name: value for name, value in self.recipe.items() if name in known})


def is_fingerprint_file(path: str | Path) -> bool:
    """Whether `path` is a Parquet file that says it holds fingerprints."""
    try:
        return pq.read_schema(path).metadata is not None and b"neardup.digest" in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowInvalid):
        return False


def read_fingerprint_file(path: str | Path) -> FingerprintFile:
    """Read a fingerprint file.

    Raises:
        DataError: it is damaged, of a later format, or its columns are not those of a fingerprint file.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise DataError(f"{path} cannot be read as a fingerprint file: {problem}.") from None
    metadata = table.schema.metadata or {}
    if metadata.get(b"neardup.format") != FORMAT or table.column_names != ["id", "fingerprint", "short"]:
        raise DataError(
            f"{path} is no fingerprint file of format {FORMAT.decode()}. Make it with `neardup fingerprint`."
        )
    parts = [_words(chunk) for chunk in table.column("fingerprint").chunks]
    recipe = json.loads(metadata[b"neardup.recipe"])
    words = (recipe["bits"] + 63) // 64
    return FingerprintFile(
        table.column("id").combine_chunks().cast(pa.large_string()),
        np.concatenate(parts) if parts else np.empty((0, words), np.uint64),
        table.column("short").to_numpy(),
        recipe,
        metadata[b"neardup.digest"].decode(),
    )


def _words(chunk: Any) -> Array:
    if pa.types.is_uint64(chunk.type):
        return np.ascontiguousarray(chunk.to_numpy().reshape(-1, 1))
    size = chunk.type.byte_width
    content = np.frombuffer(chunk.buffers()[1], ">u8", count=(chunk.offset + len(chunk)) * size // 8)
    return content[chunk.offset * size // 8 :].reshape(len(chunk), size // 8).astype(np.uint64)
