"""What tells weights from others in a recipe's digest: their name, the packages that they are of, and how votes are added."""

from collections.abc import Mapping
from typing import Any

from neardup.recipe.parts import WEIGHT_PACKAGES
from neardup.recipe.stored_parts import StoredPart, of_other_versions, stored, with_versions

_SUMS = {"cppjieba": {"sums": "doubles"}}
"""Where the arithmetic decides bits. Before it was the tool's own, `cppjieba` had no such entry."""


def weight_identity(name: str) -> Any:
    """The value of weights of the package in a recipe's digest."""
    found = with_versions(name, WEIGHT_PACKAGES.get(name, ()))
    return found | _SUMS[name] if name in _SUMS else found


def stored_weights(value: Mapping[str, Any]) -> str | StoredPart:
    """The weights with this value in a digest; a placeholder if they are a caller's, or are made otherwise here."""
    name = value.get("name", "")
    if value == weight_identity(name):
        return str(name)
    packages = WEIGHT_PACKAGES.get(name, ())
    if with_versions(name, packages) == value and name in _SUMS:
        why = (
            "the fingerprints were made by a version of neardup that added votes as integers, and here they are doubles, as in "
            "the tool. Make the fingerprints again"
        )
        return stored(dict(value), why)
    return stored(dict(value), of_other_versions(dict(value), packages) if packages else "")
