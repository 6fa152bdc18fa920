"""What tells the weights of one recipe from those of another in a digest: name, packages that decide them, and kind of sums.

Weights are fixed-point numbers, whose sums are exact. cppjieba adds floating-point numbers, and so does neardup for it, but not
always did: `sums` tells the fingerprints of those days, whose digests lack it.
"""

from collections.abc import Mapping
from typing import Any

from neardup.recipe.stored_parts import StoredPart, of_other_versions, stored, with_versions
from neardup.recipe.tables.parts import WEIGHT_PACKAGES

SUMS, DOUBLES = "sums", "float64"
_IN_DOUBLES = ("cppjieba",)


def weights_identity(name: str) -> Any:
    """The value of weights in a recipe's digest."""
    found = with_versions(name, WEIGHT_PACKAGES.get(name, ()))
    return found | {SUMS: DOUBLES} if name in _IN_DOUBLES else found


def stored_weights(value: Mapping[str, Any]) -> str | StoredPart:
    """The weights with this value in a digest; a placeholder if they are a caller's, or what decides them is not the same here."""
    name, known = value.get("name", ""), dict(value)
    packages = WEIGHT_PACKAGES.get(name, ())
    if not packages:
        return stored(known)
    if known == weights_identity(name):
        return str(name)
    if name in _IN_DOUBLES and SUMS not in known:
        return stored(known, _EXACT)
    return stored(known, of_other_versions(known, packages))


_EXACT = (
    "an earlier version of neardup made the fingerprints, with exact sums, and here sums are rounded as in cppjieba, so some bits "
    "differ. Make the fingerprints again"
)
