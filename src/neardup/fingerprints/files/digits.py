"""Fingerprints as other programs write them: numbers, digits or bytes, to and from the words that are compared here."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.programs import DIGITS, Digits
from neardup.recipe.tables.spellings import one_of

Problems = dict[int, str]
"""What is wrong with the value of a row, as the end of a sentence that begins with `it is`."""

MAX_CHARACTERS = 2 * MAX_BITS
"""Characters that a fingerprint may have."""
_SHOWN = 40
_BAD = 255
_TEXT = pa.large_string()
_TEN_19, _REST = np.uint64(10**19), np.uint64(2**64 - 1 - 10**19)
WIDTH = 64
"""The width of decimal numbers, which do not show it."""
SIGN_NEEDS_BITS = "`digits='signed'`: the sign is the first bit of the width. Give it as `bits`; most have 64."
BITS_PER_DIGIT = {"hexadecimal": 4, "binary": 1}
"""The bits that a digit has, where it has some."""
_PREFIXES = {"hexadecimal": b"xX", "binary": b"bB"}


def _table(allowed: str) -> Array:
    found = np.full(256, _BAD, np.uint8)
    for digit in allowed:
        found[ord(digit)] = int(digit, 16)
    return found


_VALUES = {"hexadecimal": _table("0123456789abcdefABCDEF"), "binary": _table("01"), "decimal": _table("0123456789")}


@dataclass(frozen=True, slots=True)
class Reading:
    """How digits are read.

    Attributes:
        digits: one of DIGITS, except "bytes".
        bits: the width of the fingerprints.
        count: the number of digits or bytes that every row must have; None if leading zeros may be missing.
    """

    digits: Digits
    bits: int
    count: int | None = None

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return (self.bits + 63) // 64


def check_digits(digits: Any, *, allowed: Sequence[str] = tuple(DIGITS)) -> None:
    """Raise OptionError unless `digits` is one of the allowed keys of DIGITS."""
    if not isinstance(digits, str) or digits not in allowed:
        raise OptionError(f"{one_of('digits', digits, allowed)}.")


def check_bits(bits: Any) -> None:
    """Raise OptionError unless `bits` is a width."""
    if not is_integer(bits) or not 1 <= int(bits) <= MAX_BITS:
        raise OptionError(f"`bits={bits!r}`: give an integer from 1 to {MAX_BITS}.")


def width_of(text: str, digits: Digits) -> int | None:
    """The width in which some hexadecimal or binary digits are written; None for numbers, which have no width."""
    if digits not in BITS_PER_DIGIT:
        return None
    has_prefix = len(text) > 2 and text[0] == "0" and text[1] in _PREFIXES[digits].decode()
    return BITS_PER_DIGIT[digits] * (len(text) - 2 * has_prefix)


def words_of_texts(texts: Any, how: Reading) -> tuple[Array, Problems]:
    """Read fingerprints from an Arrow large_string array: uint64[n, words], and the rows that cannot be read, which are 0."""
    n, problems = len(texts), Problems()
    found = np.zeros((n, how.words), np.uint64)
    if not n:
        return found, problems
    spans = _Spans(texts)
    for i in np.flatnonzero(spans.null).tolist():
        problems[i] = "null"
    for i in np.flatnonzero(~spans.null & (spans.lengths == 0)).tolist():
        problems[i] = "empty"
    for i in np.flatnonzero(spans.lengths > MAX_CHARACTERS).tolist():
        problems[i] = f"a text of {spans.lengths[i]:,} bytes, not {named(how.digits)}"
    rows = np.flatnonzero(~spans.null & (spans.lengths > 0) & (spans.lengths <= MAX_CHARACTERS))
    read = _read_digits if how.digits in BITS_PER_DIGIT else _read_numbers
    bad, too_large = read(spans, rows, how, found)
    for i in bad.tolist():
        sign = "; with a sign, they are `digits='signed'`" if how.digits == "decimal" and _has_sign(texts, i) else ""
        problems[i] = f"{_shown(texts, i)}, not {named(how.digits)}{sign}"
    for i in too_large.tolist():
        problems.setdefault(i, f"{_shown(texts, i)}, which does not fit in {how.bits} bits")
    if how.count is not None and how.digits in BITS_PER_DIGIT:
        counts = spans.lengths - 2 * spans.skip_prefix(rows, how.digits)
        for i in rows[counts[rows] != how.count].tolist():
            problems.setdefault(
                i,
                f"{_shown(texts, i)}, which has {counts[i]} digits, but others have {how.count}: give the width as `bits` if "
                "leading zeros are missing",
            )
    found[list(problems)] = 0
    return found, problems


def texts_of_words(words: Array, digits: Digits, bits: int) -> Any:
    """An Arrow large_string array of the fingerprints uint64[n, words]: hexadecimal and binary digits with their leading zeros."""
    n = len(words)
    if digits in BITS_PER_DIGIT:
        content = np.ascontiguousarray(words.astype(">u8")).view(np.uint8).reshape(n, 8 * words.shape[1])
        if digits == "binary":
            characters = np.unpackbits(content, axis=1)[:, -bits:] + np.uint8(ord("0"))
        else:
            nibbles = np.stack([content >> 4, content & 15], axis=2).reshape(n, 2 * content.shape[1])
            characters = np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles[:, -((bits + 3) // 4) :]]
        offsets = np.arange(n + 1, dtype=np.int64) * characters.shape[1]
        data = pa.py_buffer(np.ascontiguousarray(characters))
        return pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), data)
    if words.shape[1] == 1 and (digits == "decimal" or bits == 64):
        numbers = np.ascontiguousarray(words[:, 0])
        return pa.array(numbers.view(np.int64) if digits == "signed" else numbers).cast(_TEXT)
    limit = 1 << bits - 1 if digits == "signed" else 1 << bits
    found = (int.from_bytes(row.tobytes(), "big") for row in words.astype(">u8"))
    return pa.array([str(number - 2 * limit if number >= limit else number) for number in found], _TEXT)


def named(digits: Digits) -> str:
    """Digits as messages name them."""
    return {
        "decimal": "decimal digits",
        "signed": "decimal digits with or without a minus sign",
        "hexadecimal": "hexadecimal digits",
        "binary": "the digits 0 and 1",
        "bytes": "bytes",
    }[digits]


class _Spans:
    """The bytes of each string of a large_string array."""

    def __init__(self, texts: Any) -> None:
        offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
        content = texts.buffers()[2]
        self.data: Array = np.empty(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
        self.starts, self.lengths, self.null = offsets[:-1], np.diff(offsets), nulls(texts)

    def skip_prefix(self, rows: Array, digits: str) -> Array:
        """bool[n]: whether each of `rows` begins with the prefix of such digits."""
        found = np.zeros(len(self.starts), np.bool_)
        long = rows[self.lengths[rows] > 2]
        first, second = self.data[self.starts[long]], self.data[self.starts[long] + 1]
        found[long] = (first == ord("0")) & np.isin(second, list(_PREFIXES[digits]))
        return found

    def characters(self, starts: Array, length: int) -> Array:
        """uint8[rows, length]: the bytes from each start on."""
        if len(starts) and (np.diff(starts) == length).all():
            return self.data[starts[0] : starts[0] + length * len(starts)].reshape(len(starts), length)
        return self.data[starts[:, None] + np.arange(length)]


def _by_length(lengths: Array) -> list[tuple[int, Array]]:
    """Each length with the places where it occurs."""
    return [(int(length), np.flatnonzero(lengths == length)) for length in np.unique(lengths)]


def _read_digits(spans: _Spans, rows: Array, how: Reading, out: Array) -> tuple[Array, Array]:
    """Read hexadecimal or binary digits of `rows` into uint64[n, words]; return bad rows, and rows that are too large."""
    skipped = 2 * spans.skip_prefix(rows, how.digits)[rows]
    starts, lengths = spans.starts[rows] + skipped, spans.lengths[rows] - skipped
    capacity = 64 * how.words // BITS_PER_DIGIT[how.digits]
    bad, large = [rows[:0]], [rows[:0]]
    for length, places in _by_length(lengths):
        values = _VALUES[how.digits][spans.characters(starts[places], length)]
        bad.append(rows[places[(values == _BAD).any(axis=1)]])
        if length > capacity:
            large.append(rows[places[values[:, : length - capacity].any(axis=1)]])
            values = values[:, length - capacity :]
        if values.shape[1] < capacity:
            values = np.pad(values, ((0, 0), (capacity - values.shape[1], 0)))
        packed = np.packbits(values, axis=1) if how.digits == "binary" else values[:, 0::2] << 4 | values[:, 1::2]
        out[rows[places]] = np.ascontiguousarray(packed).view(">u8")
    large.append(rows[beyond(out[rows], how.bits)])
    return np.concatenate(bad), np.concatenate(large)


def _read_numbers(spans: _Spans, rows: Array, how: Reading, out: Array) -> tuple[Array, Array]:
    """Read decimal numbers of `rows` into uint64[n, words]; return bad rows, and rows that are too large."""
    negative = np.zeros(len(rows), np.bool_)
    if how.digits == "signed":
        negative = (spans.data[spans.starts[rows]] == ord("-")) & (spans.lengths[rows] > 1)
    starts, lengths = spans.starts[rows] + negative, spans.lengths[rows] - negative
    bad, large = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    for length, places in _by_length(lengths):
        values = _VALUES["decimal"][spans.characters(starts[places], length)]
        wrong = (values == _BAD).any(axis=1)
        bad[places] = wrong
        if how.words == 1:
            numbers, too_large = _numbers_of(np.where(wrong[:, None], np.uint8(0), values))
            large[places] = too_large
            out[rows[places], 0] = numbers
        else:
            for place in places[~wrong].tolist():
                text = spans.data[starts[place] : starts[place] + length].tobytes()
                number = int(text)
                large[place] = number.bit_length() > 64 * how.words
                if not large[place]:
                    out[rows[place]] = np.frombuffer(number.to_bytes(8 * how.words, "big"), ">u8")
    if how.digits == "signed":
        large |= _too_far(out[rows], negative, how.bits)
        _negate(out, rows[negative])
        keep_low_bits(out, how.bits)
    else:
        large |= beyond(out[rows], how.bits)
    return rows[bad], rows[large]


def _numbers_of(values: Array) -> tuple[Array, Array]:
    """The numbers of decimal digits uint8[n, length], and whether each exceeds 64 bits."""
    head, tail = values[:, :-19], values[:, -19:]
    low, high = (np.zeros(len(values), np.uint64) for _ in range(2))
    for column in tail.T:
        low = low * np.uint64(10) + column
    if not head.shape[1]:
        return low, np.zeros(len(values), np.bool_)
    too_large = head[:, :-1].any(axis=1) | (head[:, -1] > 1)
    high[:] = head[:, -1]
    too_large |= (high == 1) & (low > _REST)
    return high * _TEN_19 + low, too_large


def _too_far(words: Array, negative: Array, bits: int) -> Array:
    """Whether magnitudes uint64[n, words] are too large for signed numbers of so many bits."""
    least = words.copy()
    rows = np.flatnonzero(negative & words.any(axis=1))  # -2^(bits - 1) fits, so compare magnitude - 1
    for column in range(words.shape[1] - 1, -1, -1):
        borrow = least[rows, column] == 0
        least[rows, column] -= np.uint64(1)
        rows = rows[borrow]
    return beyond(least, bits - 1)


def _negate(words: Array, rows: Array) -> None:
    """Replace some fingerprints uint64[n, words] by their two's complement."""
    words[rows] = ~words[rows]
    for column in range(words.shape[1] - 1, -1, -1):
        words[rows, column] += np.uint64(1)
        rows = rows[words[rows, column] == 0]


def keep_low_bits(words: Array, bits: int) -> None:
    if bits % 64:
        words[:, 0] &= np.uint64((1 << bits % 64) - 1)


def beyond(words: Array, bits: int) -> Array:
    """Whether fingerprints uint64[n, words] have a 1 above the lowest `bits`."""
    width = 64 * words.shape[1]
    if bits >= width:
        return np.zeros(len(words), np.bool_)
    whole, rest = divmod(width - bits, 64)
    found = np.asarray(words[:, :whole].any(axis=1))
    if rest:
        found |= words[:, whole] >> np.uint64(64 - rest) != 0
    return found


def nulls(column: Any) -> Array:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def _has_sign(texts: Any, row: int) -> bool:
    text = texts[row].as_py()
    return bool(text[:1] == "-" and text[1:].isascii() and text[1:].isdecimal())


def _shown(texts: Any, i: int) -> str:
    text = texts.slice(i, 1).cast(pa.large_binary())[0].as_py().decode("utf-8", "replace")
    return json.dumps(text[:_SHOWN], ensure_ascii=False) + (" …" if len(text) > _SHOWN else "")
