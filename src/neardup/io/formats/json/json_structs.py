"""Read a line of JSON lines into text, id and values with msgspec: several times as fast as Python's parser, for regular rows.

It decodes the requested columns and skips the rest of the line. msgspec keeps the last of repeated keys, which its hook for unknown
types works around: each column has its own type, and a second call for one type reveals a repeated key.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from neardup.io.corpora.batch import Columns
from neardup.io.formats.json.json_rows import Row
from neardup.io.formats.json.json_values import quote, value_token

ReadLine = Callable[[bytes], Row | None]

_VALUES = (str, int, float, bool, type(None))


class StructReader:
    """Makes functions that read lines, one function per thread."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._struct: Any = None
        names = list(dict.fromkeys((*columns.text, columns.id_or_default, *columns.values)))
        if not columns.of_elements and not any(
            set(name) & set(".[") for name in names
        ):  # then the column may be nested
            fields = [f"f{i}" for i in range(len(names))]
            kinds: list[Any] = [type("Column", (), {"name": name}) for name in names]
            for kind in kinds:
                kind.instance = kind()
            members = [(field, kind, msgspec.UNSET) for field, kind in zip(fields, kinds, strict=True)]
            try:
                self._struct = msgspec.defstruct("Row", members, rename=dict(zip(fields, names, strict=True)), gc=False)
            except ValueError:  # msgspec refuses some names, for example with a quotation mark
                return

    def reader(self) -> ReadLine | None:
        """A function from a line to the result of `json_rows.read_row`, or to None if it cannot decide.

        Returns None instead of a function if these columns cannot be read this way.
        """
        if self._struct is None:
            return None
        found: dict[str, Any] = {}

        def hook(kind: Any, value: Any) -> Any:
            if kind.name in found:
                raise ValueError("a repeated key")
            found[kind.name] = value
            return kind.instance

        decode = msgspec.json.Decoder(self._struct, dec_hook=hook).decode
        value_names = self._columns.values
        names, id_name, is_named = self._columns.text, self._columns.id_or_default, self._columns.id is not None
        separator = self._columns.separator

        def read(line: bytes) -> Row | None:
            found.clear()
            try:
                line.decode()  # msgspec does not check the columns that it skips
                decode(line)
            except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
                return None
            texts = [found.get(name) for name in names]
            if any(type(text) is not str for text in texts):
                return None
            value = found.get(id_name)
            token = quote(value) if type(value) is str else str(value) if type(value) is int else None
            if token is None and is_named and value is not None:
                return None
            values = [found.get(name) for name in value_names]
            if values and any(type(value) not in _VALUES for value in values):
                return None
            return separator.join(texts), token, [value_token(value) for value in values]  # type: ignore[arg-type]

        return read
