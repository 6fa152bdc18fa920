"""Unicode's normal forms in time linear in the text, whatever marks it has.

`unicodedata.normalize` puts combining marks into canonical order (The Unicode Standard 14.0, section 3.11, D109) by insertion: a
row of n marks in the wrong order takes n² steps, which is an hour for a row of 3 MB. Long rows are therefore sorted beforehand. The
result is canonically equivalent, so its normal form is the same.
"""

import unicodedata
from functools import cache
from itertools import groupby
from typing import Literal

import numpy as np

from neardup.arrays import Bools
from neardup.text.unicode_tables import entries_of, fold_tables

Form = Literal["NFC", "NFKC"]

LONG_MARKS = 64
"""Marks in a row from which on they are sorted beforehand; no writing system comes near it."""
SHORT_CHARACTERS = 256
"""Characters of a text up to which insertion does no harm, and a look at them would take longer than their normal form."""
_HALFWIDTH_SOUND_MARKS = [0xFF9E, 0xFF9F]
"""The only characters beside marks that become nothing but marks in NFKC."""


def normal_form(form: Form, text: str) -> str:
    """The text in NFC or NFKC, as `unicodedata.normalize` gives it.

    >>> normal_form("NFC", "a" + "\u0301" * 100 + "\u0323") == "\u1ea1" + "\u0301" * 100
    True
    """
    return unicodedata.normalize(form, _in_order(form, text) if len(text) > SHORT_CHARACTERS else text)


@cache
def may_be_mark() -> Bools:
    """bool[0x110000]: the code points that are marks, or become marks."""
    tables, codes = fold_tables(), np.arange(0x110000)
    found: Bools = entries_of(tables.mark_index, tables.mark_blocks, codes) != 0
    found[_HALFWIDTH_SOUND_MARKS] = True
    return found


def _in_order(form: Form, text: str) -> str:
    """The text with the marks of every row of LONG_MARKS or more in canonical order."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    some = may_be_mark()[codes[:: LONG_MARKS // 2]]
    if not (some[1:] & some[:-1]).any():  # every row of LONG_MARKS has two of them, one after the other
        return text
    edges = np.flatnonzero(np.diff(may_be_mark()[codes], prepend=False, append=False)).reshape(-1, 2)
    parts, done = [], 0
    for first, last in edges[edges[:, 1] - edges[:, 0] >= LONG_MARKS].tolist():
        parts += [text[done:first], _ordered(form, text[first:last])]
        done = last
    return "".join([*parts, text[done:]])


def _ordered(form: Form, row: str) -> str:
    """The row with its characters decomposed and its marks in canonical order."""
    decomposed = {c: unicodedata.normalize(form.replace("C", "D"), c) for c in set(row)}  # type: ignore[arg-type]
    characters = "".join(map(decomposed.__getitem__, row))
    rows = groupby(characters, lambda c: unicodedata.combining(c) != 0)
    return "".join("".join(sorted(some, key=unicodedata.combining) if are_marks else some) for are_marks, some in rows)
