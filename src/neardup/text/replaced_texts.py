"""Put other texts into data of any type that `neardup.text.frames` takes; the data that was given stays as it is.

Each function takes the data, the keys of the column (none for data that is one column; several for a nested field), the rows with
other texts (int64[n], ascending), and these texts. Columns keep their types.
"""

import copy
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.text.nested import Keys, with_texts_at


def in_items(items: list[Any] | tuple[Any, ...], keys: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """A list or a tuple of strings, or of dicts, of which those with other texts are copies."""
    found = list(items)
    for row, text in zip(rows.tolist(), texts, strict=True):
        found[row] = _with_value(found[row], keys, text)
    return tuple(found) if isinstance(items, tuple) else found


def _with_value(value: Any, keys: Keys, text: str) -> Any:
    """A text in the place of a value, or of what is nested in it."""
    if not keys:
        return text
    fields: Mapping[str, Any] = value
    try:
        found = copy.copy(value)
        found[keys[0]] = _with_value(fields[keys[0]], keys[1:], text)
    except TypeError:  # a mapping that cannot be copied or changed
        return dict(fields) | {keys[0]: _with_value(fields[keys[0]], keys[1:], text)}
    return found


def in_numpy(values: Any, _: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """An array of strings."""
    wide = values.dtype
    if wide.kind == "U" and texts:
        wide = np.promote_types(wide, np.array(texts).dtype)
    found = values.astype(wide)
    found[rows] = texts
    return found


def in_arrow(data: Any, keys: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """A table, a batch or a column of Arrow."""
    if isinstance(data, pa.Table | pa.RecordBatch):
        number = data.schema.get_field_index(keys[0])
        column = in_arrow(data.column(number), keys[1:], rows, texts)
        return data.set_column(number, data.schema.field(number), column)
    if isinstance(data, pa.Array):
        return with_texts_at(data, keys, rows, texts)
    chunks, first = [], 0
    for chunk in data.chunks:
        begin, end = np.searchsorted(rows, [first, first + len(chunk)])
        chunks.append(with_texts_at(chunk, keys, rows[begin:end] - first, texts[begin:end]))
        first += len(chunk)
    return pa.chunked_array(chunks, data.type)


def in_pandas(data: Any, keys: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """A data frame or a column of pandas; categories become those of the texts."""
    if hasattr(data, "columns"):
        label = next(label for label in data.columns if str(label) == keys[0])
        found = data.copy(deep=False)
        found[label] = in_pandas(data[label], keys[1:], rows, texts)
        return found
    values = in_items(data.tolist(), keys, rows, texts)
    kind = "category" if str(data.dtype) == "category" else data.dtype
    return type(data)(values, index=data.index, name=data.name, dtype="object").astype(kind)


def in_polars(data: Any, keys: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """A data frame, lazy or not, or a column of polars; an Enum becomes strings, as it may not have the texts."""
    if hasattr(data, "collect"):
        return in_polars(data.collect(), keys, rows, texts).lazy()
    if hasattr(data, "columns"):
        return data.with_columns(in_polars(data.get_column(keys[0]), keys[1:], rows, texts))
    if str(data.dtype) == "Object":
        values = in_items(data.to_list(), keys, rows, texts)
        return type(data)(data.name, values, dtype=data.dtype)
    is_enum = str(data.dtype).startswith("Enum")
    strings = data.cast(sys.modules["polars"].String) if is_enum else data
    found = sys.modules["polars"].from_arrow(in_arrow(strings.to_arrow(), keys, rows, texts)).alias(data.name)
    return found if is_enum else found.cast(data.dtype)


def in_dataset(data: Any, keys: Keys, rows: Array, texts: Sequence[str]) -> Any:
    """A Hugging Face dataset."""
    table = in_arrow(data.with_format("arrow")[:], keys, rows, texts)
    found = type(data)(table, info=data.info, split=data.split)
    how = data.format
    return found.with_format(how["type"], how["columns"], how["output_all_columns"], **how["format_kwargs"])
