"""The recipe of fingerprints that another program made from texts that are not known here, and how programs write fingerprints."""

from dataclasses import dataclass
from typing import Any, Literal

from neardup.errors import OptionError, is_integer
from neardup.recipe.plain_recipe import MAX_BITS, PlainRecipe, distance_problems

KIND = "another program"
UNNAMED = "unnamed"
"""The program of fingerprints whose program is not named: those of one width are comparable with one another."""

Digits = Literal["decimal", "signed", "hexadecimal", "binary", "bytes"]
DIGITS: dict[Digits | str, str] = {
    "decimal": "decimal numbers from 0",
    "signed": "decimal numbers whose sign is the first bit (two's complement)",
    "hexadecimal": "hexadecimal digits in upper or lower case, 0x before them or not",
    "binary": "the digits 0 and 1, 0b before them or not",
    "bytes": "big-endian bytes, in binary columns of Parquet",
}
"""The ways to write a fingerprint."""


@dataclass(frozen=True, kw_only=True)
class ProgramRecipe(PlainRecipe):
    """What is known of fingerprints that another program made: their width, and a name for the program.

    Fingerprints of two programs, or of two widths, are never compared; those without a program's name count as of one. Texts cannot
    be compared with such fingerprints, because nobody here knows how the program makes them. If it computes the bits of a `Recipe`,
    use that recipe instead.

    Attributes:
        program: a name for the program and its settings; any text of 1 to 200 characters.
        bits: the fingerprint's width, 1 to 512.
        max_distance: the default distance; None for no default. It is not part of the digest.

    Raises:
        OptionError: fields are not allowed; the message has all problems.

    >>> ProgramRecipe(program="gosimhash").digest() == ProgramRecipe(program="leonsim").digest()
    False
    """

    program: str = UNNAMED
    bits: int = 64
    max_distance: int | None = None

    def __post_init__(self) -> None:
        problems = []
        if not isinstance(self.program, str) or not 0 < len(self.program) <= 200:
            problems.append(f"`program={self.program!r}`: give a name of 1 to 200 characters, such as 'gosimhash'")
        if not is_integer(self.bits) or not 1 <= int(self.bits) <= MAX_BITS:
            problems.append(f"`bits={self.bits!r}`: give an integer from 1 to {MAX_BITS}")
        else:
            object.__setattr__(self, "bits", int(self.bits))  # JSON cannot hold numpy's
            problems += distance_problems(self.max_distance, self.bits)
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @property
    def min_tokens(self) -> int:
        """1: no fingerprint counts as `short`, because nobody knows how long its text was."""
        return 1

    def as_dict(self) -> dict[str, Any]:
        """Everything that tells these fingerprints from others, as plain values."""
        return {"kind": KIND, "program": self.program, "bits": self.bits}
