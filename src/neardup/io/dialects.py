"""Dialects of delimited text: which characters delimit, quote and escape; stated, or found out from the beginning of a file.

Found out are: comma, semicolon, tab or bar (in .tsv only the tab); double or single quotes, or none; a backslash as escape, or
none. A dialect fits if by it every row of the sample has as many fields as the header and no quote is out of place. Where
several fit, the more usual one is taken, unless they delimit differently: then it is not clear, and that is an error.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.errors import InputError, OptionError
from neardup.kernels.delimited import BEGIN, FINE, QUOTED, QUOTED_ESCAPED, QUOTES, UNQUOTED, find_fields, split_rows

Array = np.ndarray[Any, np.dtype[Any]]

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", '"': "double quote", "'": "single quote"}
_QUOTINGS = [('"', None), ('"', "\\"), ("'", None), ("'", "\\"), (None, None), (None, "\\")]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The characters of a dialect, all ASCII and different; a doubled quote in a quoted field always is one.

    Attributes:
        delimiter: between fields.
        quote: around fields that hold a delimiter, a newline or a quote; None if there is none.
        escape: before a character that then means itself; None if there is none.
    """

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None

    @classmethod
    def parse(cls, given: str) -> "Dialect":
        r"""A dialect by its characters: delimiter, quote, escape, the last two if there are; `\t` is a tab.

        Raises:
            OptionError: there are none or too many, one occurs twice, or one cannot serve.
        """
        characters = given.replace("\\t", "\t") if isinstance(given, str) else ""
        fits = all(" " < c <= "~" or c in "\t " for c in characters) and not any(c.isalnum() for c in characters)
        if not 1 <= len(characters) <= 3 or len(set(characters)) < len(characters) or not fits:
            raise OptionError(
                f"dialect={given!r}: give the delimiter and, if there are, the quote and the escape character, as "
                r"""',"' or ';"\' or '\t'; different ASCII characters, no letters or digits."""
            )
        return cls(characters[0], *[c for c in characters[1:]], *[None] * (2 - len(characters[1:])))  # noqa: C416

    @property
    def codes(self) -> tuple[int, int, int]:
        """As the kernels take it: delimiter, quote, escape; -1 for none."""
        return ord(self.delimiter), *(ord(c) if c else -1 for c in (self.quote, self.escape))  # type: ignore[return-value]

    def cell(self, text: str) -> str:
        """A field that holds `text`.

        Raises:
            ValueError: this dialect cannot write it.
        """
        special = [c for c in text if c in "\r\n" or c in (self.delimiter, self.quote, self.escape)]
        if not special:
            return text
        if self.quote:
            inside = text.replace(self.escape, self.escape * 2) if self.escape else text
            return f"{self.quote}{inside.replace(self.quote, self.quote * 2)}{self.quote}"
        if not self.escape:
            raise ValueError("no quote and no escape character")
        return "".join(self.escape + c if c in special else c for c in text)

    def __str__(self) -> str:
        parts = [f"{_NAMES.get(self.delimiter, repr(self.delimiter))} between fields"]
        parts.append(f"{_NAMES.get(self.quote, repr(self.quote))}s" if self.quote else "no quotes")
        return ", ".join([*parts, *([f"escape {self.escape}"] if self.escape else [])])


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a sample looks like by one dialect."""

    dialect: Dialect
    columns: int
    rows: int
    good: int
    good_bytes: int
    quoted: int
    needed: bool

    @property
    def fits(self) -> bool:
        return self.good == self.rows


def find_dialect(sample: Array, *, complete: bool, delimiters: str, name: str) -> Dialect:
    """The dialect of a file that begins with `sample` (uint8[bytes], UTF-8); `complete`: that is all of it.

    Raises:
        InputError: no dialect fits, or several that delimit differently.
    """
    readings = [_quoting(sample, delimiter, complete) for delimiter in delimiters]
    several = [reading for reading in readings if reading.columns > 1]
    if not several:
        return readings[0].dialect
    fitting = [reading for reading in several if reading.fits]
    if not fitting:
        best = max(reading.good_bytes for reading in several)
        fitting = [reading for reading in several if reading.good_bytes == best and 2 * reading.good >= reading.rows]
    if len(fitting) == 1:
        return fitting[0].dialect
    found = " or ".join(str(reading.dialect) for reading in fitting) or "none fits half of the first rows"
    raise InputError(
        f"{name}: it is not clear which characters delimit and quote its fields ({found}). "
        """Pass --dialect with delimiter, quote and escape character, as --dialect ',"'."""
    )


def _quoting(sample: Array, delimiter: str, complete: bool) -> _Reading:
    """The most fitting way of quoting with a delimiter."""
    readings = [_read(sample, Dialect(delimiter, *quoting), complete) for quoting in _QUOTINGS]
    double, single = readings[0], readings[2]
    if single.fits and single.needed and not double.quoted:
        return single
    for reading in readings:
        if reading.fits:
            return reading
    return max(readings, key=lambda reading: reading.good_bytes)


def _read(sample: Array, dialect: Dialect, complete: bool) -> _Reading:
    codes = dialect.codes
    ends = np.empty(np.count_nonzero(sample == ord("\n")), np.int64)
    found, state = split_rows(sample, BEGIN, *codes, ends)
    ends = ends[:found]
    rest = len(sample) - (int(ends[-1]) + 1 if found else 0)
    unclosed = state in (QUOTED, QUOTED_ESCAPED) and complete
    if rest and (complete or not found):
        ends = np.append(ends, len(sample))
    starts = np.append(0, ends + 1)[: len(ends)]
    blank = (ends == starts) | ((ends == starts + 1) & (sample[np.minimum(starts, len(sample) - 1)] == ord("\r")))
    starts, ends = starts[~blank], ends[~blank]
    if not len(starts):
        return _Reading(dialect, 0, 0, 0, 0, 0, False)
    slots = np.arange(int((sample[: ends[0]] == ord(dialect.delimiter)).sum()) + 1)
    spans, kinds = np.zeros((len(starts), len(slots), 2), np.int64), np.zeros((len(starts), len(slots)), np.uint8)
    counts, odd = np.empty(len(starts), np.int64), np.empty(len(starts), np.uint8)
    find_fields(sample, starts, ends, *codes, slots, spans, kinds, counts, odd)
    good = (counts == counts[0]) & (odd == FINE)
    if unclosed:
        good[-1] = False
    quoted = (kinds == UNQUOTED) | (kinds == QUOTES)
    inside = [sample[begin:end] for begin, end in spans[kinds == UNQUOTED].tolist()] if dialect.quote == "'" else []
    special = [ord(dialect.delimiter), ord("\n")]
    needed = bool((kinds == QUOTES).any()) or any(np.isin(content, special).any() for content in inside)
    size = int((ends - starts)[good].sum())
    return _Reading(dialect, int(counts[0]), len(starts), int(good.sum()), size, int(quoted.sum()), needed)
