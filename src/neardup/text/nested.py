"""Types of Arrow columns, and columns of tables, or fields nested in them, by path."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Keys = tuple[str, ...]


def is_string(kind: Any) -> bool:
    """Whether a type holds strings."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def type_at(schema: Any, path: Sequence[str]) -> Any:
    """The type of a column or of a field in nested structs; None if there is no such column or field."""
    kind = schema.field(path[0]).type
    for key in path[1:]:
        if not pa.types.is_struct(kind) or kind.get_field_index(key) < 0:
            return None
        kind = kind.field(key).type
    return kind


def column_at(table: Any, path: Keys) -> Any:
    """A column of a table or record batch, or a field nested in it; null where one of the enclosing structs is null."""
    column = table.column(table.schema.get_field_index(path[0]))
    return pc.struct_field(column, list(path[1:])) if len(path) > 1 else column
