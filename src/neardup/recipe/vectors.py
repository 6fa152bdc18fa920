"""The recipe of vectors: everything that decides the fingerprint of a vector."""

from dataclasses import dataclass
from typing import Any, Literal

from neardup.errors import OptionError, is_integer
from neardup.recipe.plain_recipe import MAX_BITS, PlainRecipe, distance_problems
from neardup.recipe.tables.spellings import one_of

METHODS = {
    "signs": "planes of 1 and -1 from one hash per dimension: dense or sparse rows, with the same bits",
    "gaussian": "planes of normally distributed numbers: dense rows",
    "independent": "planes of 1 and -1 from one hash per dimension and bit: slow, for comparison",
}
"""The methods of making planes."""
VectorMethod = Literal["signs", "gaussian", "independent"]
KIND = "vectors"
VERSION = 1
"""Increases with every change of the code that changes a bit."""


@dataclass(frozen=True, kw_only=True)
class VectorRecipe(PlainRecipe):
    """How a vector becomes a fingerprint: bit j is 1 if its dot product with plane j is above 0 (Charikar 2002, section 3).

    Attributes:
        dimension: the number of components of a vector.
        bits: the fingerprint's width, 1 to 512.
        seed: the random seed of the planes, 0 to 2^64 - 1.
        method: how planes are made, one of METHODS.
        max_distance: the default distance; None for no default. It is not part of the digest.

    Raises:
        OptionError: fields are not allowed; the message has all problems.

    >>> VectorRecipe(dimension=384).digest() == VectorRecipe(dimension=384, seed=1).digest()
    False
    """

    dimension: int
    bits: int = 64
    seed: int = 0
    method: VectorMethod = "signs"
    max_distance: int | None = None

    def __post_init__(self) -> None:
        problems = []
        for name, low, high, allowed in (
            ("dimension", 1, 2**63 - 1, "of at least 1"),
            ("bits", 1, MAX_BITS, f"from 1 to {MAX_BITS}"),
            ("seed", 0, 2**64 - 1, "from 0 to 2^64 - 1"),
        ):
            value = getattr(self, name)
            if not is_integer(value) or not low <= int(value) <= high:
                problems.append(f"`{name}={value!r}`: give an integer {allowed}")
            else:
                object.__setattr__(self, name, int(value))  # JSON cannot hold numpy's
        if self.method not in tuple(METHODS):
            problems.append(one_of("method", self.method, METHODS))
        if is_integer(self.bits):
            problems += distance_problems(self.max_distance, self.bits)
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @property
    def min_tokens(self) -> int:
        """1: a vector with fewer non-zero components has no direction, so it is `short` and near no other."""
        return 1

    def as_dict(self) -> dict[str, Any]:
        """Everything that decides the bits, as plain values."""
        return {
            "kind": KIND,
            "dimension": self.dimension,
            "bits": self.bits,
            "seed": self.seed,
            "method": self.method,
            "version": VERSION,
        }
