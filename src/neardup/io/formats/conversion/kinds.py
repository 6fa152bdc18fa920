"""The types of columns, from all values of rows of JSON. Values of several types become JSON text, so that nothing is lost."""

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from neardup.io.formats.json.json_values import EXACT_INTEGERS

_MAX_FIELDS = 1000
"""An object with more different keys is data, and has no schema."""
_MAX_DEPTH = 50
"""Levels of objects and lists in a column."""
_INT64 = 1 << 63
_NAMES = {bool: "bool", int: "int", float: "float", str: "text", list: "list", dict: "object"}
_TYPES = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "large int": pa.int64(),
    "float": pa.float64(),
    "text": pa.large_string(),
}


@dataclass(slots=True)
class Kind:
    """What the values of a column have been so far.

    Attributes:
        name: `null` before the first value, `json` for values of several types; else one of those that JSON has, or `large int`
            for integers that floating-point numbers do not hold.
        fields: of objects.
        item: of lists.
    """

    name: str = "null"
    fields: "dict[str, Kind]" = field(default_factory=dict)
    item: "Kind | None" = None

    def see(self, value: Any, depth: int = 0) -> None:
        """Take a value of the column into account."""
        if value is None or self.name == "json":
            return
        name = _NAMES[type(value)]
        if name == "int" and abs(value) >= EXACT_INTEGERS:
            name = "large int" if -_INT64 <= value < _INT64 else "json"
        pair = {self.name, name}
        if self.name == "null" or len(pair) == 1:
            self.name = name
        elif pair in ({"int", "float"}, {"int", "large int"}):
            self.name = (pair - {"int"}).pop()
        else:
            self.name = "json"
        if self.name == "object":
            for key, inner in value.items():
                self.fields.setdefault(key, Kind()).see(inner, depth + 1)
            if (
                not value or len(self.fields) > _MAX_FIELDS or depth > _MAX_DEPTH
            ):  # no file has a struct without a field
                self.name = "json"
        elif self.name == "list":
            self.item = self.item or Kind()
            for inner in value:
                self.item.see(inner, depth + 1)
            if depth > _MAX_DEPTH:
                self.name = "json"

    @property
    def type(self) -> Any:
        """The type of Arrow."""
        if self.name == "object":
            return pa.struct([pa.field(key, kind.type) for key, kind in self.fields.items()])
        if self.name == "list":
            return pa.large_list(pa.null() if self.item is None else self.item.type)
        return pa.null() if self.name == "null" else _TYPES.get(self.name, pa.large_string())

    def fit(self, value: Any) -> Any:
        """A value of the column, as its type takes it."""
        if value is None:
            return None
        if self.name == "json":
            return json.dumps(value, ensure_ascii=False)
        if self.name == "object":
            return {key: kind.fit(value.get(key)) for key, kind in self.fields.items()}
        if self.name == "list" and self.item is not None:
            return [self.item.fit(inner) for inner in value]
        return float(value) if self.name == "float" else value

    def mixed(self, path: str = "") -> list[str]:
        """The columns, or fields in them, whose values are written as JSON text."""
        if self.name == "json":
            return [path]
        inner = self.fields.items() if self.name == "object" else [("[]", self.item)] if self.item is not None else []
        return [
            found
            for key, kind in inner
            for found in kind.mixed(path + key if key == "[]" or not path else f"{path}.{key}")
        ]
