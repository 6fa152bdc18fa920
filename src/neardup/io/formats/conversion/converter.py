"""An output whose rows come from files of other formats."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import counted
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.formats.columnar.table_format import kept_batches
from neardup.io.formats.columnar.table_sink import schema_of_all
from neardup.io.formats.conversion.kinds import Kind
from neardup.io.formats.conversion.sources import Block, dict_rows, samples, with_added
from neardup.io.formats.json.json_values import is_token, plain_column
from neardup.io.formats.table import FORMATS, opened_table

_ENCODE = msgspec.json.Encoder(decimal_format="string").encode
_ROWS_AT_ONCE = 4096


class Rows(NamedTuple):
    """Rows of a shard.

    Attributes:
        shard: the file.
        keep: bool[rows], those that are written.
        valid: bool[rows], those that can be read; all of them decide the types of columns.
        added: further columns, as `Format.annotate` takes them; None for none.
    """

    shard: Shard
    keep: Array
    valid: Array
    added: Any


class Converter:
    """Writes rows of some shards as another format; a context manager.

    Args:
        path, compression: of the output.
        target: its format.
        rows: what is written of each shard.
        html: how pages of WARC become text.

    Attributes:
        notes: what was changed, as sentences; complete at the end.
    """

    def __init__(
        self,
        path: Path,
        target: str,
        compression: str,
        rows: Sequence[Rows],
        *,
        html: str | None,
    ) -> None:
        self.notes: list[str] = []
        self._rows, self._html, self._target = rows, html, target
        self._sink: Any = FORMATS[target].Sink(path, compression, ())
        self._infinite = 0

    def write(self) -> None:
        """Write all rows."""
        if self._target == "jsonl":
            self._write_lines()
        elif all(each.shard.format in OF_COLUMNS for each in self._rows):
            self._write_batches()
        else:
            self._write_dicts()

    def _blocks(self) -> Iterator[tuple[Block, Any]]:
        for shard, keep, _, added in self._rows:
            for rows, found in dict_rows(shard, keep, self._html):
                if found:
                    yield (rows, found), _plain_table(added)

    def _write_lines(self) -> None:
        self._sink.begin(self._rows[0][0], ())
        for (rows, found), added in self._blocks():
            lines = b"\n".join(map(_ENCODE, with_added(rows, found, added)))
            self._infinite += sum(map(_infinities, found)) if b"null" in lines else 0
            self._sink.write(lines + b"\n")
        if self._infinite:
            self.notes.append(f"{counted(self._infinite, 'value')} of NaN or infinity became null, as JSON has none")

    def _write_batches(self) -> None:
        schema = schema_of_all([each.shard for each in self._rows], opened_table)
        for shard, keep, _, added in self._rows:
            more = _plain_table(added)
            with opened_table(shard) as file:
                for batch, rows in kept_batches(shard, file, keep):
                    whole = schema if more is None else pa.schema([*schema, *more.schema], schema.metadata)
                    self._sink.begin_new(shard, whole)
                    columns = [*batch.columns]
                    if more is not None:
                        columns += [column.combine_chunks() for column in more.take(pa.array(rows)).columns]
                    columns = [column.cast(field.type) for column, field in zip(columns, whole, strict=True)]
                    self._sink.write(pa.RecordBatch.from_arrays(columns, schema=whole))
        self._sink.begin_new(self._rows[0][0], schema)

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        """The columns of all rows that can be read, also of removed ones: JSON lines are read once more for them."""
        found: dict[str, Kind] = {}

        def see(rows: Sequence[Mapping[str, Any]]) -> None:
            for row in rows:
                for name, value in row.items():
                    found.setdefault(name, Kind()).see(value)

        for shard, _, valid, _ in self._rows:
            known = samples(shard)
            if known is not None:
                see([known])
                continue
            for _, some in dict_rows(shard, valid, self._html):
                see(some)
        for each in self._rows:
            if each.added is not None:
                see(_plain_table(each.added).to_pylist())
        return found

    def _write_dicts(self) -> None:
        kinds = self._kinds
        mixed = [path for name, kind in kinds.items() for path in kind.mixed(name)]
        if mixed:
            names = ", ".join(f'"{path}"' for path in mixed[:5]) + (" …" if len(mixed) > 5 else "")
            self.notes.append(f"values of several types became JSON text, since a column has one type: {names}")
        schema = pa.schema([pa.field(name, kind.type) for name, kind in kinds.items()])
        self._sink.begin_new(self._rows[0][0], schema)
        for (rows, found), added in self._blocks():
            whole = with_added(rows, found, added)
            for first in range(0, len(whole), _ROWS_AT_ONCE):
                some = whole[first : first + _ROWS_AT_ONCE]
                columns = [
                    pa.array([kind.fit(row.get(name)) for row in some], kind.type) for name, kind in kinds.items()
                ]
                self._sink.write(pa.RecordBatch.from_arrays(columns, schema=schema))

    def close(self) -> None:
        """Finish the file."""
        self._sink.close()

    def __enter__(self) -> "Converter":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._sink.__exit__(kind, error, trace)


def _plain_table(added: Any) -> Any:
    """Added columns with values instead of JSON tokens."""
    if added is None or not any(map(is_token, added.schema)):
        return added
    found = [plain_column(field, column) for field, column in zip(added.schema, added.columns, strict=True)]
    return pa.Table.from_arrays([column for _, column in found], schema=pa.schema([field for field, _ in found]))


def _infinities(value: Any) -> int:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return sum(map(_infinities, value.values()))
    return sum(map(_infinities, value)) if isinstance(value, list) else 0
