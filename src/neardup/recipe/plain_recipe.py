"""What recipes have in common that are plain values alone, without files: those of vectors, and of other programs."""

from typing import Any

from neardup.errors import is_integer
from neardup.recipe.tables.parts import digest_of

MAX_BITS = 512


class PlainRecipe:
    """A recipe of plain values. `bits`: the fingerprint's width."""

    bits: int

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return (self.bits + 63) // 64

    def as_dict(self) -> dict[str, Any]:
        """Everything that tells the fingerprints from others, as plain values."""
        raise NotImplementedError

    def stored(self) -> dict[str, Any]:
        """The values of `as_dict`: no files are needed."""
        return self.as_dict()

    def digest(self) -> str:
        """The digest of the recipe: 16 hexadecimal digits that differ between any two recipes of any kind."""
        return digest_of(self.as_dict())


def distance_problems(max_distance: Any, bits: int) -> list[str]:
    """What is wrong with the default distance of a recipe of so many bits, as phrases."""
    if max_distance is None or (is_integer(max_distance) and 0 <= int(max_distance) <= bits):
        return []
    return [f"`max_distance={max_distance!r}`: give an integer from 0 to {bits}, or leave it out"]
