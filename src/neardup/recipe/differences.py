"""The differences between two recipes."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from neardup.recipe.fields import RecipeFields
from neardup.recipe.stored_parts import plain


def difference(these: Mapping[str, Any], those: Mapping[str, Any]) -> str:
    """Describe the differences between two recipes, given as results of `as_dict`: `bits: 64 there, 128 here; …`."""
    kinds = [values.get("kind", "texts") for values in (these, those)]
    if kinds[0] != kinds[1]:
        return f"of {kinds[0]} there, of {kinds[1]} here"
    found = differing_fields(these, those)
    return "; ".join(f"{name}: {_shown(here)} there, {_shown(there)} here" for name, here, there in found)


def differing_fields(these: Mapping[str, Any], those: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """The fields in which two such recipes differ, with both values."""
    values = [(name, _value(name, these), _value(name, those)) for name in {**these, **those}]
    return [each for each in values if each[1] != each[2]]


def _value(name: str, values: Mapping[str, Any]) -> Any:
    """The value of a field; a missing field has its default."""
    plainly = {field.name: plain(field.default) for field in dataclasses.fields(RecipeFields)}
    return values.get(name, plainly.get(name))


def _shown(value: Any) -> str:
    """Format a value: names as they are, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
