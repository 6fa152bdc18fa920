"""Types of Arrow columns, and columns of tables, or fields nested in them, by path."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Keys = tuple[str, ...]

_TEXT = pa.large_string()


def is_string(kind: Any) -> bool:
    """Whether a type holds strings."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def type_at(schema: Any, path: Sequence[str]) -> Any:
    """The type of a column or of a field in nested structs; None if there is no such column or field.

    Below a column of type null, as writers make where a whole file has no value, everything is of that type.
    """
    kind = schema.field(path[0]).type
    for key in path[1:]:
        if pa.types.is_null(kind):
            return kind
        if not pa.types.is_struct(kind) or kind.get_field_index(key) < 0:
            return None
        kind = kind.field(key).type
    return kind


def column_at(table: Any, path: Keys) -> Any:
    """A column of a table or record batch, or a field nested in it; null where one of the enclosing structs is null."""
    column = table.column(table.schema.get_field_index(path[0]))
    for key in path[1:]:
        if not pa.types.is_null(column.type):
            column = pc.struct_field(column, key)
    return column


def as_text(array: Any) -> Any:
    """An Arrow array of strings of any type as `large_string`."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    return array.cast(_TEXT)


def with_texts_at(array: Any, keys: Keys, changed: Any, texts: Sequence[str]) -> Any:
    """An Arrow array with other texts in the rows `changed` (int64[n]), in itself or in its field along `keys`."""
    mask = np.zeros(len(array), np.bool_)
    mask[changed] = True
    return _with_texts(array, keys, pa.array(texts, _TEXT), pa.array(mask))


def _with_texts(array: Any, keys: Keys, texts: Any, mask: Any) -> Any:
    """An Arrow array, or its field along `keys`, with `texts` (large_string) where `mask` is true; keeps its type."""
    if not keys:
        texts = texts if len(texts) == len(array) else pc.replace_with_mask(as_text(array), mask, texts)
        return _as_kind(texts, array.type)
    kind = array.type
    # null where the struct is null; `array.field` ignores nulls of the struct, and slices
    fields = [pc.struct_field(array, number) for number in range(kind.num_fields)]
    number = kind.get_field_index(keys[0])
    fields[number] = _with_texts(fields[number], keys[1:], texts, mask)
    nulls = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=nulls)


def _as_kind(texts: Any, kind: Any) -> Any:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _as_kind(texts, kind.storage_type))
    if pa.types.is_dictionary(kind):
        return texts.cast(kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(texts.cast(kind.value_type), run_end_type=kind.run_end_type)
    return texts.cast(kind)


_OF_TEXTS = ("text", "content", "value", "body", "message")
"""Names of fields that hold texts, the most likely first."""


def value_of_type(kind: Any) -> Any:
    """A value of a type of Arrow, for `advice_on_value`: its structs as dicts, its lists with an item, strings as such."""
    if pa.types.is_struct(kind):
        return {field.name: value_of_type(field.type) for field in kind}
    if hasattr(kind, "value_field") and not pa.types.is_map(kind) and not pa.types.is_dictionary(kind):
        return [value_of_type(kind.value_type)]
    return "" if is_string(kind) else None


def advice_on_value(name: str, value: Any) -> str:
    """What to do about a column of texts that holds lists or dicts like `value`: a sentence; nothing for other values."""
    if isinstance(value, Mapping):
        field = _field_of_text(value)
        if isinstance(value.get(field), str):
            return f"Its fields can be read: `text={f'{name}.{field}'!r}`."
        return "" if field is None else advice_on_value(f"{name}.{field}", value[field])
    if not isinstance(value, list | tuple) or not value:
        return ""
    item = value[0]
    field = _field_of_text(item) if isinstance(item, Mapping) else None
    if isinstance(item, str):
        path = f"{name}[]"
    elif field is not None and isinstance(item[field], str):
        path = f"{name}[].{field}"
    else:
        return ""
    return f"Its texts can be read, joined by a newline: `text={path!r}`."


def advice_on_path(row: Mapping[str, Any], name: str) -> str:
    """The same for the columns of a row and a column, or a path that leads into one."""
    keys, value = [name] if name in row else name.split("."), row
    for place, key in enumerate(keys):
        if not isinstance(value, Mapping) or key not in value:
            return advice_on_value(".".join(keys[:place]), value) if place else ""
        value = value[key]
    return advice_on_value(name, value)


def _field_of_text(fields: Mapping[str, Any]) -> str | None:
    """The field that most likely holds a text, or has one nested in it; None without any."""
    strings = [name for name, value in fields.items() if isinstance(value, str)]
    nested = [name for name, value in fields.items() if isinstance(value, Mapping | list | tuple)]
    named = [name for name in _OF_TEXTS if name in strings]
    return next(iter([*named, *strings, *nested]), None)
