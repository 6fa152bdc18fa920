"""Detect the dialect of delimited text from the beginning of a file.

It distinguishes: comma, semicolon, tab or bar (in .tsv only the tab); double, single or no quotes; a backslash as escape, or
no escape. A dialect fits if every row of the sample has as many fields as the header and no quote is out of place. If several
fit, the more common one is chosen, unless they differ in the delimiter: then the dialect is unclear, which is an error.

A file with an unclosed quote often fits best without quotes, and would then be read wrongly. So a file counts as quoted, whether it
fits or not, if its header is quoted, or if other fields are. Between tabs, where texts that begin with a quote are common, this
holds only if most of them also end with one.
"""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.dialect import Dialect
from neardup.kernels.io.delimited import BEGIN, FINE, QUOTED, QUOTED_ESCAPED, QUOTES, UNQUOTED, find_fields, split_rows

_CLEAR_RATIO = 4
"""Fields between tabs count as quoted if the rows that fit outnumber the others by this factor; else quotes are part of texts."""

_QUOTINGS = [('"', None), ('"', "\\"), ("'", None), ("'", "\\"), (None, None), (None, "\\")]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a sample reads in one dialect."""

    dialect: Dialect
    columns: int
    rows: int
    good: int
    good_bytes: int
    quoted: int
    needed: bool
    whole_header: bool = False
    quoted_rows: int = 0  # among the rows that fit
    ends_inside: bool = False  # the sample ends inside quotes
    unclosed: bool = False  # the file ends inside quotes too

    @property
    def fits(self) -> bool:
        return self.good == self.rows

    @property
    def fits_but_the_end(self) -> bool:
        """Every row fits, except the last if the file ends inside its quotes."""
        return self.good + self.unclosed == self.rows

    @property
    def means_quotes(self) -> bool:
        """The fields are meant to be quoted, so rows that do not fit are damage."""
        if self.whole_header:
            return True
        if self.dialect.delimiter == "\t":
            return self.quoted_rows > _CLEAR_RATIO * (self.rows - self.good)
        return self.quoted_rows > 0 or (self.unclosed and self.fits_but_the_end)


def find_dialect(sample: Array, *, complete: bool, delimiters: str, name: str) -> Dialect:
    """The dialect of a file that begins with `sample` (uint8[bytes], UTF-8). `complete`: the sample is the whole file.

    Raises:
        InputError: no dialect fits, or several fit that differ in the delimiter.
    """
    readings = [_quoting(sample, delimiter, complete) for delimiter in delimiters]
    several = [reading for reading in readings if reading.columns > 1]
    if not several:
        return readings[0].dialect
    fitting = [reading for reading in several if reading.fits_but_the_end]
    if not fitting:
        best = max(reading.good_bytes for reading in several)
        fitting = [reading for reading in several if reading.good_bytes == best and 2 * reading.good >= reading.rows]
    if len(fitting) == 1:
        return fitting[0].dialect
    found = " or ".join(str(reading.dialect) for reading in fitting) or "none fits half of the first rows"
    raise InputError(
        f"{name}: it is not clear which characters delimit and quote its fields ({found}). "
        """Give `dialect` the delimiter, the quote and the escape character, such as `dialect=',"'`."""
    )


def _quoting(sample: Array, delimiter: str, complete: bool) -> _Reading:
    """The best-fitting quoting for a delimiter."""
    readings = [_read(sample, Dialect(delimiter, *quoting), complete) for quoting in _QUOTINGS]
    double, single, plain = readings[0], readings[2], readings[4]
    if not double.quoted and (single.whole_header or (single.fits and single.needed)):
        return single
    found = next((reading for reading in readings if reading.fits), None)
    if found is double and delimiter == "\t" and double.ends_inside and not double.quoted and plain.fits:
        return plain if plain.rows > double.rows + 1 else double
    if found in readings[:2] or (found is single and single.needed):
        return found
    best = max(readings[:2], key=lambda reading: reading.good_bytes)
    if best.means_quotes:
        return best
    return found or max(readings, key=lambda reading: reading.good_bytes)


def _read(sample: Array, dialect: Dialect, complete: bool) -> _Reading:
    codes = dialect.codes
    ends = np.empty(np.count_nonzero(sample == ord("\n")), np.int64)
    found, state, _ = split_rows(sample, BEGIN, *codes, ends)
    ends = ends[:found]
    rest = len(sample) - (int(ends[-1]) + 1 if found else 0)
    ends_inside = state in (QUOTED, QUOTED_ESCAPED)
    unclosed = ends_inside and complete
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
    whole_header = bool(quoted[0, : counts[0]].all()) and odd[0] == FINE
    needed = whole_header or bool((kinds == QUOTES).any()) or any(np.isin(content, special).any() for content in inside)
    size = int((ends - starts)[good].sum())
    return _Reading(
        dialect,
        int(counts[0]),
        len(starts),
        int(good.sum()),
        size,
        int(quoted.sum()),
        needed,
        bool(whole_header),
        int((quoted.any(axis=1) & good).sum()),
        ends_inside,
        unclosed,
    )
