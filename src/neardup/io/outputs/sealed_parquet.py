"""Parquet files of our own, which say by checksums whether they are whole: written and read only here.

The format's own checksums are of the bytes of pages alone: a flipped bit in the header of a page or in the footer may give other
values. The metadata therefore has the number of rows of each row group and the CRC-32 of the values of each of its columns, and a
seal: the CRC-32 of all metadata and of the schema. A file without a seal is refused.
docs/formats/shared.md describes both, byte by byte.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.checksums import checksum
from neardup.io.storage.places import Place, parquet_sink, parquet_source

SEAL, CONTENTS = "neardup.seal", "neardup.contents"


class BrokenSealError(ValueError):
    """The file is not what was written; the message says in what, as the end of a sentence."""


def _seal(schema: Any, metadata: Mapping[str, str]) -> str:
    """The seal of a file. Of the metadata, only what is ours counts: Arrow adds some of its own."""
    ours = {name: text for name, text in metadata.items() if name.startswith("neardup.") and name != SEAL}
    fields = [[field.name, str(field.type), field.nullable] for field in schema]
    return f"{checksum([fields, sorted(ours.items())]):08x}"


def _checksum(column: Any) -> int:
    """The CRC-32 of the values of an Arrow array, however it is laid out: numbers, booleans, strings, dictionaries, lists."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    valid, kind = column.is_valid().to_numpy(zero_copy_only=False), column.type
    found = zlib.crc32(np.packbits(valid).data)
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype("<i8")
        return zlib.crc32(_checksum(column.flatten()).to_bytes(4, "little"), zlib.crc32(lengths.data, found))
    if pa.types.is_fixed_size_binary(kind):
        size, start = kind.byte_width, column.offset
        return zlib.crc32(column.buffers()[1][start * size : (start + len(column)) * size], found)
    if pa.types.is_primitive(kind):
        numbers = column.fill_null(pa.scalar(0).cast(kind))
        return zlib.crc32(np.ascontiguousarray(numbers.to_numpy(zero_copy_only=False)).data, found)
    texts = column.cast(pa.large_binary()).fill_null(b"")
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    found = zlib.crc32(np.diff(offsets).data, found)
    return zlib.crc32(texts.buffers()[2][offsets[0] : offsets[-1]], found) if offsets[-1] > offsets[0] else found


class SealedWriter:
    """Writes a Parquet file of given columns, one row group at a time; `close` adds the metadata and the seal."""

    def __init__(self, sink: Any, schema: Any, metadata: Mapping[str, str] | None = None) -> None:
        """`metadata`: names begin with `neardup.`; more can be given at the end."""
        import pyarrow.parquet as pq

        self._schema, self._metadata, self._contents = schema, dict(metadata or {}), list[list[int]]()
        described = schema.with_metadata(self._metadata)  # so that other programs find it with the schema
        self._writer = pq.ParquetWriter(
            parquet_sink(sink), described, compression="zstd", write_page_checksum=True, write_statistics=False
        )

    def write(self, batch: Any) -> None:
        """Write a record batch as one row group; an empty one is none."""
        if len(batch):
            self._contents.append([len(batch), *map(_checksum, batch.columns)])
            self._writer.write_batch(batch, row_group_size=len(batch))

    def close(self, metadata: Mapping[str, str] | None = None) -> str:
        """Finish the file. Returns its seal."""
        more = {**(metadata or {}), CONTENTS: json.dumps(self._contents)}
        seal = _seal(self._schema, self._metadata | more)
        self._writer.add_key_value_metadata(more | {SEAL: seal})
        self._writer.close()
        return seal


@contextmanager
def opened_sealed(place: Place) -> Iterator[Any]:
    """Open a file that `SealedWriter` wrote, as a `pyarrow.parquet.ParquetFile`, once its seal has been checked.

    Raises:
        BrokenSealError: the seal is missing or broken.
        OSError, pa.ArrowException: it is damaged otherwise; so do reads of damaged pages.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(parquet_source(place), page_checksum_verification=True) as file:
        metadata = metadata_of(file)
        if SEAL not in metadata:
            raise BrokenSealError("it has no seal, which every such file has")
        if metadata[SEAL] != _seal(file.schema_arrow, metadata):
            raise BrokenSealError("its metadata is not what was written")
        if file.metadata.num_row_groups != len(json.loads(metadata[CONTENTS])):
            raise BrokenSealError("it has another number of rows than was written")
        yield file


def metadata_of(file: Any) -> dict[str, str]:
    """The metadata of an open file, as text; bytes that are not UTF-8 are replaced, which breaks the seal."""
    known = file.metadata.metadata or {}
    return {name.decode(errors="replace"): text.decode(errors="replace") for name, text in known.items()}


def read_sealed(place: Place) -> tuple[Any, dict[str, str]]:
    """The table of a whole file, and its metadata.

    Raises:
        BrokenSealError, OSError, pa.ArrowException: as `opened_sealed`.
    """
    with opened_sealed(place) as file:
        return pa.Table.from_batches(list(batches_of(file)), file.schema_arrow), metadata_of(file)


def batches_of(file: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The row groups of an open file, each as a record batch; all rows come, or an error.

    Raises:
        BrokenSealError, OSError, pa.ArrowException: as `opened_sealed`.
    """
    names = file.schema_arrow.names
    wanted = names if columns is None else list(columns)
    for number, (rows, *checksums) in enumerate(json.loads(metadata_of(file)[CONTENTS])):
        table = file.read_row_group(number, columns=wanted).combine_chunks()
        if len(table) != rows:
            raise BrokenSealError("it has another number of rows than was written")
        for batch in table.to_batches():
            if len(batch) != rows or batch.schema.names != [name for name in names if name in wanted]:
                raise BrokenSealError("it has other columns than were written")
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if _checksum(column) != checksums[names.index(name)]:
                    raise BrokenSealError(f"the values of {name} are not those that were written")
            yield batch
