"""The options of an index: bits, distance, method and its options. Values that are not allowed are refused."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.display import as_code
from neardup.errors import OptionError, is_integer
from neardup.hamming.block_plan import check_distance
from neardup.hamming.index.methods.table import AUTO, METHODS
from neardup.hamming.index.planning.planner import usual_choice, usual_options
from neardup.hamming.index.segments import Way
from neardup.hamming.unique import fingerprint_rows
from neardup.recipe.tables.spellings import one_of

WORD_BITS = 64
MAX_BITS = 512


@dataclass(frozen=True)
class SearchOptions:
    """How an index searches.

    Attributes:
        bits: bits of a fingerprint, a multiple of 64.
        max_distance: the largest distance that a query may ask for.
        method: one of `neardup.hamming.index.methods.table.METHODS`, or AUTO.
        options: the method options that were given.
    """

    bits: int
    max_distance: int
    method: str
    options: dict[str, int]

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return self.bits // WORD_BITS

    @property
    def is_exact(self) -> bool:
        """Whether queries find every document within the distance."""
        return self.method == AUTO or METHODS[self.method].is_exact

    def way(self, rows: int) -> Way:
        """How a segment of `rows` documents is searched."""
        size: dict[str, int] = {"bits": self.bits, "max_distance": self.max_distance, "rows": rows}
        if self.method == AUTO:
            chosen = usual_choice(**size, given=self.options)
            return chosen.method, self.max_distance, chosen.options
        return self.method, self.max_distance, usual_options(self.method, **size, given=self.options)

    def limit(self, max_distance: int | None, *, name: str = "max_distance") -> int:
        """The distance of a query: `max_distance`, by default that of the index. `name`: of the argument, in messages.

        Raises:
            OptionError: the value is larger than the index's, or not a distance.
        """
        if max_distance is None:
            return self.max_distance
        if check_distance(max_distance, self.bits, name=name) > self.max_distance:
            raise OptionError(
                f"`{name}={max_distance}`: the index was made for {self.max_distance}. Give at most that, or make another."
            )
        return int(max_distance)

    def rows(self, fingerprints: Array, name: str = "fingerprints") -> Array:
        """Fingerprints as uint64[n, words]. `name`: of the argument, in messages.

        Raises:
            OptionError: they are not fingerprints, or have another number of bits.
        """
        rows = fingerprint_rows(fingerprints, name)
        if WORD_BITS * rows.shape[1] != self.bits:
            raise OptionError(
                f"These fingerprints have {WORD_BITS * rows.shape[1]} bits, those of the index {self.bits}."
            )
        return rows

    def row(self, fingerprint: int | np.uint64 | Array) -> Array:
        """One fingerprint, an integer or uint64[words], as uint64[1, words].

        Raises:
            OptionError: it is not one fingerprint, or has another number of bits.
        """
        if isinstance(fingerprint, np.ndarray):
            if fingerprint.size != self.words:
                raise OptionError(
                    f"fingerprint has the shape {fingerprint.shape}; one of this index is an integer or uint64[{self.words}]. "
                    "For many fingerprints use query_many()."
                )
            return self.rows(fingerprint.reshape(1, -1), "fingerprint")
        if not is_integer(fingerprint):
            raise OptionError(
                f"`fingerprint={fingerprint!r}`: give an integer, or an array uint64[{self.words}]. For many fingerprints use "
                "query_many()."
            )
        value = int(fingerprint)
        if not 0 <= value < 1 << self.bits:
            raise OptionError(
                f"`fingerprint={value}`: the index has {self.bits} bits; give an integer from 0 to 2^{self.bits} - 1."
            )
        if self.bits == WORD_BITS:
            return np.array([[value]], np.uint64)
        return np.frombuffer(value.to_bytes(self.bits // 8, "big"), ">u8").astype(np.uint64).reshape(1, -1)


def search_options(max_distance: int, bits: int, method: str, options: Mapping[str, int]) -> SearchOptions:
    """Check these values and return them as options.

    Raises:
        OptionError: a value that is not allowed, or an option that the method does not have.
    """
    if not is_integer(bits) or bits not in range(WORD_BITS, MAX_BITS + 1, WORD_BITS):
        raise OptionError(f"`bits={bits!r}`: give 64, 128, … 512; pad narrower fingerprints with zero bits.")
    if not isinstance(method, str) or method not in (AUTO, *METHODS):
        raise OptionError(f"{one_of('method', method, (AUTO, *METHODS))}.")
    if method != AUTO:
        has = METHODS[method].option_names
        unknown = sorted(set(options) - set(has))
        if unknown:
            raise OptionError(f"{as_code(unknown)}: `method={method!r}` has {as_code(has) or 'no options'}.")
    least = {option.name: option.least for each in METHODS.values() for option in each.options}
    for name, value in options.items():
        if not is_integer(value) or value < least.get(name, 1):
            raise OptionError(f"`{name}={value!r}`: give an integer from {least.get(name, 1)} up.")
    numbers = {name: int(value) for name, value in options.items()}  # JSON cannot hold numpy's
    found = SearchOptions(int(bits), check_distance(max_distance, int(bits)), method, numbers)
    chosen, limit, usual = found.way(0)
    METHODS[chosen].code.build(np.empty((0, found.words), np.uint64), limit, usual)  # or refuses
    return found
