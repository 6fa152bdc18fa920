"""Write Arrow IPC files and streams."""

import contextlib
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.arrow_files import ArrowTable, opened
from neardup.io.formats.columnar.open_table import OpenTable
from neardup.io.formats.columnar.table_sink import TableSink
from neardup.io.storage.places import parquet_sink

_BATCH_BYTES = 16 << 20


class ArrowSink(TableSink):
    """Writes rows to an IPC file, in batches of some 16 MB; they are compressed if those of the first shard are.

    A column of a dictionary has one in a file, which grows from batch to batch; files may have no other.
    """

    format = "arrow"
    _new: Any = staticmethod(pa.ipc.new_file)

    def _opened(self, shard: Shard) -> AbstractContextManager[OpenTable]:
        return opened(shard)

    def _open(self, file: ArrowTable | None) -> Any:
        self._dictionaries: dict[int, Any] = {}
        self._bytes = 0
        codec = "lz4" if file is None or file.is_compressed() else None
        options = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=True)
        return self._new(parquet_sink(self._path), self._schema, options=options)

    def write(self, batch: Any) -> None:
        """See `TableSink.write`."""
        self._bytes += batch.nbytes
        super().write(batch)

    def _is_enough(self) -> bool:
        return self._bytes >= _BATCH_BYTES

    def _put(self, batches: list[Any]) -> None:
        self._bytes = 0
        batches = [self._with_one_dictionary(batch) for batch in batches]
        with contextlib.suppress(pa.ArrowNotImplementedError):  # types that cannot be joined are written as they came
            batches = pa.Table.from_batches(batches, self._schema).combine_chunks().to_batches()
        for batch in batches:
            try:
                self._writer.write_batch(batch)
            except pa.ArrowInvalid as error:  # dictionaries inside lists and structs
                raise InputError(
                    f"{self._path.name} cannot hold these rows: {error}. Write them to .parquet."
                ) from None

    def _with_one_dictionary(self, batch: Any) -> Any:
        """A batch whose columns of dictionaries have that of this file, to which their values are added."""
        for number, field in enumerate(self._schema):
            if not pa.types.is_dictionary(field.type):
                continue
            column = batch.column(number)
            known = self._dictionaries.get(number)
            if known is None:
                self._dictionaries[number] = column.dictionary
            elif not column.dictionary.equals(known):
                new = column.dictionary.filter(pc.invert(pc.is_in(column.dictionary, value_set=known)))
                self._dictionaries[number] = both = pa.concat_arrays([known, new.unique()])
                places = pc.index_in(column.dictionary, value_set=both)
                try:
                    indices = places.take(column.indices).cast(field.type.index_type)
                except pa.ArrowInvalid:
                    raise InputError(
                        f'The column "{field.name}" has {len(both)} different values in all files together, more than its type '
                        f"{field.type} can count. Name a folder (OUT/) as the output, which keeps the files apart."
                    ) from None
                column = pa.DictionaryArray.from_arrays(indices, both, ordered=field.type.ordered)
                batch = batch.set_column(number, field, column)
        return batch


class ArrowStreamSink(ArrowSink):
    """Writes rows to an IPC stream."""

    format = "arrows"
    _new: Any = staticmethod(pa.ipc.new_stream)
