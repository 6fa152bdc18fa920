"""One line of JSON lines to a text, an id and values by msgspec: several times as fast as Python's, for regular rows.

It decodes what is asked for and skips the rest of the line. That msgspec keeps the last of repeated keys is got round by its
hook for types that it does not know: each column has a type of its own, and a second call for one type is a repeated key.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from neardup.io.batch import Columns
from neardup.io.formats.json_rows import Row
from neardup.io.formats.json_values import quote, value_token

ReadLine = Callable[[bytes], Row | None]

_VALUES = (str, int, float, bool, type(None))


class StructReader:
    """Makes functions that read lines, one for each thread."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._struct: Any = None
        names = list(dict.fromkeys((*columns.text, columns.id_or_default, *columns.values)))
        if not any("." in name for name in names):  # else the column may be nested
            fields = [f"f{i}" for i in range(len(names))]
            kinds: list[Any] = [type("Column", (), {"name": name}) for name in names]
            for kind in kinds:
                kind.instance = kind()
            members = [(field, kind, msgspec.UNSET) for field, kind in zip(fields, kinds, strict=True)]
            try:
                self._struct = msgspec.defstruct("Row", members, rename=dict(zip(fields, names, strict=True)), gc=False)
            except ValueError:  # a name that msgspec does not take, with a quotation mark for example
                return

    def reader(self) -> ReadLine | None:
        """A function that takes a line and gives what `json_rows.read_row` gives, or None if it cannot tell.

        None itself if these columns cannot be read so.
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
        names, id_name, must_have_id = self._columns.text, self._columns.id_or_default, self._columns.id is not None
        separator = self._columns.separator

        def read(line: bytes) -> Row | None:
            found.clear()
            try:
                line.decode()  # msgspec does not look at the columns that it skips
                decode(line)
            except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
                return None
            texts = [found.get(name) for name in names]
            if any(type(text) is not str for text in texts):
                return None
            value = found.get(id_name)
            token = quote(value) if type(value) is str else str(value) if type(value) is int else None
            if token is None and must_have_id:
                return None
            values = [found.get(name) for name in value_names]
            if values and any(type(value) not in _VALUES for value in values):
                return None
            return separator.join(texts), token, [value_token(value) for value in values]  # type: ignore[arg-type]

        return read
