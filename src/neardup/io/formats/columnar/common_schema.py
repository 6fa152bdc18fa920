"""The schema of one file for the rows of several: a column without any value has the type that it has elsewhere."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from neardup.errors import InputError


def common_schema(schemas: Iterable[tuple[str, Any]]) -> Any:
    """The schema to which the rows of all these files can be cast; metadata are those of the first.

    Schemas must agree, except that writers give a column the type null where a file has no value in it: such a column, or part of
    one, gets the type that another file has. A column may be null if it may in any file.

    Args:
        schemas: the name and the schema of each file.

    Raises:
        InputError: schemas differ in something else; it names the files and the first difference.
    """
    rest = iter(schemas)
    first, found = next(rest)
    typed_in = [first] * len(found)  # the file that a column's type is of
    for name, schema in rest:
        if schema.equals(found):
            continue
        if schema.names != found.names:
            raise _cannot_share(first, name, _difference_of_names(found, schema))
        for number, (ours, theirs) in enumerate(zip(found, schema, strict=True)):
            both = _common_type(ours.type, theirs.type)
            if both is None:
                difference = f'column "{ours.name}" is {ours.type} in one, {theirs.type} in the other'
                raise _cannot_share(typed_in[number], name, difference)
            if not both.equals(ours.type):
                typed_in[number] = name
            typed = theirs if pa.types.is_null(ours.type) else ours
            found = found.set(number, typed.with_type(both).with_nullable(ours.nullable or theirs.nullable))
    return found


def _common_type(ours: Any, theirs: Any) -> Any:
    """The type of the values of both, where null is of every type; None if there is none."""
    kinds = ours, theirs
    try:
        both = pa.unify_schemas([pa.schema([("", kind)]) for kind in kinds], promote_options="default").field(0).type
    except pa.ArrowException:
        return None
    return both if all(_is_within(kind, both) for kind in kinds) else None


def _is_within(kind: Any, other: Any) -> bool:
    """Whether a type is another one, except for what is null in it: `unify_schemas` also adds fields to structs."""
    if pa.types.is_null(kind) or kind.equals(other):
        return True
    if kind.id != other.id or not 0 < kind.num_fields == other.num_fields:
        return False
    pairs = [(kind.field(number), other.field(number)) for number in range(kind.num_fields)]
    return all(mine.name == its.name and _is_within(mine.type, its.type) for mine, its in pairs)


def _difference_of_names(schema: Any, other: Any) -> str:
    ours, theirs = ({field.name: field.type for field in fields} for fields in (schema, other))
    lone = next((name for name in (*ours, *theirs) if not (name in ours and name in theirs)), None)
    if lone is None:
        return f"the order of columns is {', '.join(schema.names)} in one, {', '.join(other.names)} in the other"
    return f'column "{lone}" is {ours.get(lone, "missing")} in one, {theirs.get(lone, "missing")} in the other'


def _cannot_share(first: str, name: str, difference: str) -> InputError:
    return InputError(
        f"{first} and {name} cannot be written to one file: {difference}. "
        "Name a folder (OUT/) as the output, which keeps the files apart."
    )
