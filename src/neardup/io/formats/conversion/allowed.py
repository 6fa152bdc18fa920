"""Which rows can be written in another format, by the types of their columns: checked before any work."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.formats.table import opened_table
from neardup.text.nested import is_string

_PLAIN = (
    is_string,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_null,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_time,
)


def demand_convertible(shards: Sequence[Shard], target: str) -> None:
    """Refuse shards whose rows would lose what they hold in an output of this format.

    Raises:
        InputError: with the first column of a type that the format has not, or if files with and without a schema would share
            a schema.
    """
    kinds = {shard.format for shard in shards}
    if target == "jsonl":
        for shard in shards:
            if shard.format in OF_COLUMNS:
                with opened_table(shard) as file:
                    _demand_plain(shard, file.schema)
    elif kinds & set(OF_COLUMNS) and kinds - set(OF_COLUMNS):
        raise InputError(
            f"The inputs are {' and '.join(sorted(kinds))}, whose rows have types in some files only. Name an output of JSON "
            "lines (OUT.jsonl), or a folder (OUT/), which keeps the files apart."
        )
    elif target == "parquet":
        for shard in shards:
            if shard.format in OF_COLUMNS:
                with opened_table(shard) as file:
                    _demand_parquet(shard, file.schema)


def _demand_parquet(shard: Shard, schema: Any) -> None:
    import pyarrow.parquet as pq

    for field in schema:
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowException:
            raise _cannot_hold(shard, field, "Parquet", field.type) from None


def _cannot_hold(shard: Shard, field: Any, target: str, kind: Any) -> InputError:
    return InputError(
        f'{shard.name}: column "{field.name}" is {field.type}, and {target} has no {kind}. Leave the column out of the '
        f"input, or name an output that ends in .{shard.format}."
    )


def _demand_plain(shard: Shard, schema: Any) -> None:
    for field in schema:
        kind = _odd_type(field.type)
        if kind is not None:
            raise _cannot_hold(shard, field, "JSON", kind)


def _odd_type(kind: Any, *, nested: bool = False) -> Any:
    """The first type in a type that JSON lacks; None if it has all."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if any(test(kind) for test in _PLAIN):
        return None
    if pa.types.is_timestamp(kind):
        return kind if nested and kind.unit == "ns" else None  # Python has no nanoseconds
    if pa.types.is_struct(kind):
        return next((odd for field in kind if (odd := _odd_type(field.type, nested=True)) is not None), None)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _odd_type(kind.value_type, nested=True)
    return kind
