"""NUMBERS: the sequence of the runs of digits of a text, by which `guard="same-numbers"` keeps documents apart.

A digit is a decimal digit of any script (Nd), and counts by its value: Arabic-Indic, Devanagari and full-width digits are those of
ASCII. Texts are normalized first, by the recipe: so ² is 2. Whatever stands between two runs separates them, and nothing else of it
counts: 1,000 is the runs 1 and 000, and another number than 1000; 2024-01-02 and 2024/01/02 are the same runs.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.kernels.digests import digest_documents
from neardup.kernels.text.variants import Variants
from neardup.text.normalizers import compared_form, varied
from neardup.text.unicode_tables import DIGIT, removal_table
from neardup.text.variants import variants_of

_ZERO, _SEPARATOR = 0x30, 0x20


@cache
def _ascii_digits() -> Variants:
    """Decimal digits of all scripts, each with that of ASCII of the same value."""
    codes = np.flatnonzero(removal_table() == DIGIT).tolist()
    return variants_of({chr(code): str(unicodedata.decimal(chr(code))) for code in codes if code > 0x7F})


def number_digests(texts: Any, steps: Sequence[Any]) -> Array:
    """uint64[n], equal for texts (an Arrow `large_string` array) of which the runs of digits are equal; 0 for texts without digits.

    `steps`: the normalization of the recipe. Texts that it makes equal have equal numbers.
    """
    folded = compared_form(texts, steps)
    size = int(folded.offsets[-1])
    if size and folded.data[:size].max() > 0x7F:
        folded = varied(_ascii_digits(), 1.0, folded.as_array())
        size = int(folded.offsets[-1])
    runs, ends = _runs(folded.data[:size], folded.offsets)
    digests = np.empty((len(folded), 2), np.uint64)
    digest_documents(runs, ends, digests)
    found: Array = np.where(np.diff(ends) > 0, np.maximum(digests[:, 1], 1), 0).astype(np.uint64)
    return found


def _runs(data: Array, offsets: Array) -> tuple[Array, Array]:
    """The digits of each text, with a space after each run, one text after another; and where each begins: int64[n + 1]."""
    is_digit = data - np.uint8(_ZERO) < 10
    digits = np.flatnonzero(is_digit)
    is_last = np.ones(len(digits), np.bool_)
    is_last[:-1] = np.diff(digits) > 1
    of_text = np.searchsorted(digits, offsets)
    is_last[of_text[1:][of_text[1:] > 0] - 1] = True  # texts stand without anything between them
    places = np.arange(len(digits)) + np.cumsum(is_last) - is_last
    runs = np.full(len(digits) + int(is_last.sum()) + 1, _SEPARATOR, np.uint8)
    runs[places] = data[digits]
    ends = np.append(places + is_last + 1, 0)
    return runs, np.where(of_text > 0, ends[of_text - 1], 0)


def number_values(texts: Any, steps: Sequence[Any]) -> Any:
    """What `number_digests` tells, as JSON values: Arrow large_string[n]; null for texts without digits."""
    return as_values(number_digests(texts, steps))


def as_values(digests: Array) -> Any:
    """Digests of numbers (uint64[n]) as JSON values: Arrow large_string[n]; null for 0."""
    return pa.array([f'"{value:016x}"' if value else None for value in digests.tolist()], pa.large_string())
