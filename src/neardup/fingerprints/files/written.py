"""Fingerprints as arrays of another program's strings, numbers or bytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array, is_of
from neardup.errors import DataError, OptionError, is_integer
from neardup.fingerprints.files.digits import (
    BITS_PER_DIGIT,
    SIGN_NEEDS_BITS,
    WIDTH,
    Problems,
    Reading,
    beyond,
    check_bits,
    check_digits,
    keep_low_bits,
    named,
    nulls,
    texts_of_words,
    width_of,
    words_of_texts,
)
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.programs import Digits
from neardup.text.nested import is_string

_TEXT = pa.large_string()


def read_fingerprints(values: Any, *, digits: Digits, bits: int | None = None) -> Array:
    """Read fingerprints that another program wrote as digits, numbers or bytes.

    Args:
        values: strings or integers, as a list or an Arrow, pandas or polars column; for digits="bytes", bytes. Hexadecimal and
            binary digits may have a prefix (0x, 0b); with `bits`, they may lack leading zeros.
        digits: how the fingerprints are written, one of `decimal`, `signed` (two's complement), `hexadecimal`, `binary`, `bytes`
            (big-endian).
        bits: their width, 1 to 512. By default that of the first digits or bytes, which all others must then match; decimal
            numbers have 64, and signed ones the width of an integer column.

    Returns:
        uint64[n], or uint64[n, words] above 64 bits, most significant word first, as `fingerprint` returns.

    Raises:
        OptionError: `digits` or `bits` is not allowed or is needed, or `values` has another type.
        DataError: a value is null, has wrong digits or does not fit in the width; the message names the first one.

    >>> read_fingerprints(["ff", "0x10"], digits="hexadecimal").tolist()
    [255, 16]
    >>> read_fingerprints(["-1"], digits="signed", bits=8).tolist()
    [255]
    """
    check_digits(digits)
    if bits is not None:
        check_bits(bits)
    if isinstance(values, str | bytes):
        raise OptionError(f"values is one {type(values).__name__}, not many: give a list, even of one: [value].")
    arrays = _arrays(values, digits)
    how = _shown_width(arrays, digits) if bits is None else Reading(digits, int(bits))
    found, first = [np.zeros((0, how.words), np.uint64)], 0
    for array in arrays:
        read = words_of_column(array, how)
        if read is None:
            raise OptionError(
                f"`digits={digits!r}`: the values are of the type {array.type}, which has no {named(digits)}."
            )
        words, problems = read
        if problems:
            row = min(problems)
            raise DataError(f"Fingerprint {first + row} is {problems[row]}.")
        found.append(words)
        first += len(array)
    whole = np.concatenate(found)
    return np.ascontiguousarray(whole[:, 0]) if whole.shape[1] == 1 else whole


def _shown_width(arrays: Sequence[Any], digits: Digits) -> Reading:
    """How to read values whose width nobody has said, by the rule of files: as wide as the first one, or as its type.

    Raises:
        OptionError: the width is needed, or not allowed.
    """
    if digits == "decimal":
        return Reading(digits, WIDTH)
    types = {array.type for array in arrays}
    if digits == "signed":
        integers = {kind.bit_width for kind in types if pa.types.is_integer(kind)}
        if any(map(len, arrays)) and (len(types) > 1 or not integers):
            raise OptionError(SIGN_NEEDS_BITS)
        return Reading(digits, max(integers, default=WIDTH))
    first = next((value for array in arrays for value in array.drop_null()[:1].to_pylist()), None)
    if digits == "bytes":
        bits, per_digit = 8 * len(first) if isinstance(first, bytes) else 0, 8
    else:
        bits, per_digit = (width_of(first, digits) or 0) if isinstance(first, str) else 0, BITS_PER_DIGIT[digits]
    if not bits:
        return Reading(digits, WIDTH)  # nothing to read, or what is refused by its type
    if bits > MAX_BITS:
        raise OptionError(f"The first fingerprint has {bits} bits; {MAX_BITS} are the most.")
    return Reading(digits, bits, bits // per_digit)


def _arrays(values: Any, digits: Digits) -> list[Any]:
    """The values as Arrow arrays."""
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        if hasattr(values, "__arrow_c_stream__"):
            values = pa.chunked_array(values)
        elif hasattr(values, "__arrow_c_array__"):
            values = pa.array(values)
        else:
            values = _array_of_list(_listed(values), digits)
    return list(values.chunks) if isinstance(values, pa.ChunkedArray) else [values]


def _listed(values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise OptionError(
            f"values is a {type(values).__name__}; give a list, or an Arrow, pandas or polars column."
        ) from None


def _array_of_list(values: list[Any], digits: Digits) -> Any:
    try:
        if digits == "bytes":
            if any(isinstance(value, str) for value in values):  # Arrow would take their UTF-8
                raise TypeError
            return pa.array(values, pa.large_binary())
        numbers = digits in ("decimal", "signed")
        return pa.array([str(value) if numbers and is_integer(value) else value for value in values], _TEXT)
    except (pa.ArrowException, TypeError, UnicodeEncodeError):
        kinds = {"bytes": "bytes", "decimal": "strings or integers", "signed": "strings or integers"}.get(
            digits, "strings"
        )
        found = sorted({type(value).__name__ for value in values})
        raise OptionError(f"`digits={digits!r}`: the values are of {', '.join(found)}; give {kinds}.") from None


def words_of_column(array: Any, how: Reading) -> tuple[Array, Problems] | None:
    """Read fingerprints from an Arrow array: uint64[n, words], and the rows that cannot be read; None if its type has no digits."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    numbers = how.digits in ("decimal", "signed")
    if how.digits == "bytes":
        return words_of_bytes(array, how.bits) if is_binary(kind) else None
    if numbers and pa.types.is_integer(kind):
        return words_of_integers(array, how)
    if is_string(kind) or (numbers and pa.types.is_decimal(kind) and kind.scale == 0):
        return words_of_texts(array.cast(_TEXT), how)
    return None


def is_binary(kind: Any) -> bool:
    """Whether an Arrow type holds bytes."""
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def format_fingerprints(fingerprints: Any, *, digits: Digits, bits: int | None = None) -> list[str] | list[bytes]:
    """Write fingerprints as digits, numbers or bytes, as other programs read them.

    Args:
        fingerprints: uint64[n], or uint64[n, words], most significant word first.
        digits: as in `read_fingerprints`. Hexadecimal digits are in lower case; they and binary digits have no prefix, and keep
            leading zeros.
        bits: their width; 64 for each word by default.

    Returns:
        n strings; with digits="bytes", n times bytes. `read_fingerprints` reads them back.

    Raises:
        OptionError: `digits` or `bits` is not allowed, the array has another form, or a fingerprint does not fit in the width.

    >>> format_fingerprints(np.array([255], np.uint64), digits="hexadecimal", bits=12)
    ['0ff']
    """
    check_digits(digits)
    words = np.asarray(fingerprints)
    if (
        words.ndim not in (1, 2)
        or (words.size and not is_of(words, np.uint64))
        or (words.ndim == 2 and not words.shape[1])
    ):
        raise OptionError(
            f"fingerprints has the form {words.dtype}{list(words.shape)}; give uint64[n] or uint64[n, words], as of `fingerprint`."
        )
    words = (words.reshape(-1, 1) if words.ndim == 1 else words).astype(np.uint64, copy=False)
    bits = 64 * words.shape[1] if bits is None else bits
    check_bits(bits)
    if (bits + 63) // 64 != words.shape[1]:
        raise OptionError(
            f"`bits={bits}`: fingerprints of {words.shape[1]} words have up to {64 * words.shape[1]} bits."
        )
    too_large = np.flatnonzero(beyond(words, bits))
    if len(too_large):
        raise OptionError(f"`bits={bits}`: fingerprint {too_large[0]} does not fit. Give the width of all.")
    if digits != "bytes":
        texts: list[str] = texts_of_words(words, digits, bits).to_pylist()
        return texts
    size = (bits + 7) // 8
    content = words.astype(">u8").tobytes()
    stride = 8 * words.shape[1]
    return [content[end - size : end] for end in range(stride, len(content) + 1, stride)]


def words_of_bytes(column: Any, bits: int) -> tuple[Array, Problems]:
    """Read big-endian fingerprints from an Arrow array of binary values: uint64[n, words], and the rows that cannot be read."""
    size, words = (bits + 7) // 8, (bits + 63) // 64
    n, problems = len(column), Problems()
    found = np.zeros((n, 8 * words), np.uint8)
    null = nulls(column)
    if pa.types.is_fixed_size_binary(column.type):
        lengths = np.full(n, column.type.byte_width)
    else:
        column = column.cast(pa.large_binary())
        lengths = np.asarray(pc.fill_null(pc.binary_length(column), 0))
    good = ~null & (lengths == size)
    if good.any():
        kept = column.filter(pa.array(good)).cast(pa.binary(size))
        content = np.frombuffer(kept.buffers()[1], np.uint8)[kept.offset * size : (kept.offset + len(kept)) * size]
        found[good, 8 * words - size :] = content.reshape(-1, size)
    result = found.view(">u8").astype(np.uint64)
    for i in np.flatnonzero(null).tolist():
        problems[i] = "null"
    for i in np.flatnonzero(~null & (lengths != size)).tolist():
        problems[i] = f"of {lengths[i]} bytes, but {bits} bits have {size}"
    for i in np.flatnonzero(beyond(result, bits)).tolist():
        problems.setdefault(i, f"0x{found[i].tobytes().hex().lstrip('0')}, which does not fit in {bits} bits")
    result[list(problems)] = 0
    return result, problems


def words_of_integers(column: Any, how: Reading) -> tuple[Array, Problems]:
    """Read fingerprints from an Arrow array of integers: uint64[n, words], and the rows that cannot be read, which are 0."""
    null = nulls(column)
    numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    found = np.zeros((len(numbers), how.words), np.uint64)
    negative, low = numbers < 0, numbers.astype(np.uint64)
    found[:, -1] = low
    if how.digits == "signed":
        found[:, :-1] = np.where(negative, ~np.uint64(0), np.uint64(0))[:, None]
        magnitude = np.where(negative, ~low, low)
        bad = np.zeros(len(numbers), np.bool_) if how.bits > 64 else magnitude >> np.uint64(how.bits - 1) != 0
        keep_low_bits(found, how.bits)
    else:
        bad = negative | beyond(found, how.bits)
    problems = dict.fromkeys(np.flatnonzero(null).tolist(), "null")
    for i in np.flatnonzero(bad).tolist():
        least = -(1 << how.bits - 1) if how.digits == "signed" else 0
        most = (1 << how.bits - (how.digits == "signed")) - 1
        problems[i] = f"{numbers[i]}, but `digits={how.digits!r}` with {how.bits} bits allows {least} to {most}"
    found[list(problems)] = 0
    return found, problems
