"""The file of document frequencies: Parquet with one row for each feature in ascending order, described in its metadata.

Columns: `feature` (uint64, the feature's hash), ascending and unique; `documents` (int64), the number of documents with it.

The metadata has `neardup.frequencies` (1, the format), `neardup.documents` (the number of all documents), `neardup.tokenization`
(the fields that decide the features, as JSON), `neardup.tokenization_digest`, and `neardup.content`, a digest of everything else.
docs/formats/frequencies.md says how each is computed.
"""

import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.recipe.files.document_frequencies import DocumentFrequencies

FORMAT = "1"
SCHEMA = pa.schema(
    [pa.field("feature", pa.uint64(), nullable=False), pa.field("documents", pa.int64(), nullable=False)]
)
ROWS_PER_GROUP = 1 << 20
"""Rows in a row group."""
WRITTEN = ("frequencies", "documents", "tokenization", "tokenization_digest", "content")
"""The names of the metadata, without `neardup.`."""
_UNREADABLE = (OSError, pa.ArrowException, UnicodeDecodeError)
ANEW = "Make it anew with `neardup fit`."


class _Content:
    """Computes the digest of document frequencies from ascending parts of any size."""

    def __init__(self) -> None:
        self._features, self._counts = hashlib.sha256(), hashlib.sha256()

    def add(self, features: Array, counts: Array) -> None:
        self._features.update(features.astype("<u8").tobytes())
        self._counts.update(counts.astype("<i8").tobytes())

    def digest(self, documents: int, tokenization: str) -> str:
        whole = json.dumps([self._features.hexdigest(), self._counts.hexdigest(), documents, tokenization])
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


def tokenization_digest(tokenization: str) -> str:
    """The digest of a tokenization, 16 hexadecimal digits."""
    return hashlib.sha256(tokenization.encode()).hexdigest()[:16]


class FrequencyWriter:
    """Writes a file of document frequencies from ascending parts."""

    def __init__(self, sink: Any, tokenization: str) -> None:
        import pyarrow.parquet as pq

        self._tokenization, self._content, self._features = tokenization, _Content(), 0
        self._writer = pq.ParquetWriter(sink, SCHEMA, compression="zstd", use_dictionary=False)

    def write(self, features: Array, counts: Array) -> None:
        """Write features (uint64[f], ascending and above all earlier ones) and their counts (int64[f])."""
        self._content.add(features, counts)
        self._features += len(features)
        self._writer.write_table(
            pa.table([pa.array(features), pa.array(counts)], schema=SCHEMA), row_group_size=ROWS_PER_GROUP
        )

    def close(self, documents: int) -> str:
        """Finish the file; `documents` is the number of all documents. Returns the digest of the content."""
        digest = self._content.digest(documents, self._tokenization)
        self._writer.add_key_value_metadata(
            {
                "neardup.frequencies": FORMAT,
                "neardup.documents": str(documents),
                "neardup.tokenization": self._tokenization,
                "neardup.tokenization_digest": tokenization_digest(self._tokenization),
                "neardup.content": digest,
            }
        )
        self._writer.close()
        return digest


def _source(path: str | Path, content: bytes | None) -> Any:
    """What Arrow reads: it takes names as text, but for files that it opens itself by the bytes of the name."""
    if content is not None:
        return io.BytesIO(content)
    is_text = os.fsencode(path) == os.fspath(path).encode("utf-8", "replace")
    return os.fspath(path) if is_text else pa.OSFile(os.fsencode(path))


def describe_frequency_file(path: str | Path, content: bytes | None = None) -> DocumentFrequencies:
    """Read the metadata of a file of document frequencies, without its rows. `content`: the file itself, if it is at hand.

    Raises:
        InputError: the file does not exist.
        DataError: the file is damaged, or holds no document frequencies.
    """
    import pyarrow.parquet as pq

    try:
        source = _source(path, content)
    except (UnicodeEncodeError, TypeError):
        raise InputError(f"{path!r:.80} is not a name of a file. Give a file of document frequencies.") from None
    try:
        with pq.ParquetFile(source) as file:
            metadata, rows, schema = file.metadata.metadata or {}, file.metadata.num_rows, file.schema_arrow
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path)!r} of document frequencies. Make it with neardup fit") from None
    except _UNREADABLE as problem:
        reason = str(problem).splitlines()[0].rstrip(".")
        raise DataError(f"{path} cannot be read as a file of document frequencies: {reason}. {ANEW}") from None
    written = {name: metadata.get(f"neardup.{name}".encode(), b"").decode(errors="replace") for name in WRITTEN}
    if written["frequencies"] != FORMAT or not written["documents"].isdigit() or not schema.equals(SCHEMA):
        found = f", but of format {written['frequencies']}" if written["frequencies"] not in ("", FORMAT) else ""
        raise DataError(f"{path} is no file of document frequencies of format {FORMAT}{found}. {ANEW}")
    if tokenization_digest(written["tokenization"]) != written["tokenization_digest"]:
        raise DataError(f"{path} is damaged: what it says of tokens is not what was written. {ANEW}")
    return DocumentFrequencies(written["content"], str(path), int(written["documents"]), rows, written["tokenization"])


def frequency_parts(named: DocumentFrequencies) -> Iterator[tuple[Array, Array]]:
    """Read the rows of a file in parts: features (uint64[], ascending) and counts (int64[]); checks the whole file by the end.

    Raises:
        DataError: the file is damaged, or has changed since it was named.
    """
    import pyarrow.parquet as pq

    content, last = _Content(), -1
    try:
        with pq.ParquetFile(_source(named.path, named.content)) as file:
            for batch in file.iter_batches(ROWS_PER_GROUP):
                features, counts = (column.to_numpy() for column in batch.columns)
                if not len(features):
                    continue
                ascending = int(features[0]) > last and bool((features[1:] > features[:-1]).all())
                if not ascending or counts.min() < 1 or counts.max() > named.documents:
                    raise DataError(f"{named.path} is damaged: its rows are not what neardup fit writes. {ANEW}")
                last = int(features[-1])
                content.add(features, counts)
                yield features, counts
    except _UNREADABLE as problem:
        reason = str(problem).splitlines()[0].rstrip(".")
        raise DataError(f"{named.path} is damaged: {reason}. {ANEW}") from None
    if content.digest(named.documents, named.tokenization or "") != named.digest:
        raise DataError(f"{named.path} is damaged, or was replaced meanwhile: its content has another digest. {ANEW}")
