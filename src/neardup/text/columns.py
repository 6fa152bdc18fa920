"""The library's input texts as Arrow `large_string` arrays; bytes are copied only where necessary."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError, OptionError, is_integer
from neardup.kernels.text.utf8 import TAIL, valid_utf8
from neardup.text.nested import advice_on_value, is_string, value_of_type

BYTES_AT_ONCE = 1 << 20
"""Approximate bytes of text per kernel call: they stay in a core's cache, and threads have work to share."""


def as_text_arrays(texts: Any, *, column: str | None = None) -> list[Any]:
    """Arrow `large_string` arrays from a list of strings, an Arrow array, or an object that offers one; nulls are refused.

    `column`: the name of the column, for messages.
    """
    if isinstance(texts, str | bytes):
        raise OptionError(f"texts is one {type(texts).__name__}, not many: give a list, even of one text: [text].")
    where = "" if column is None else f" of the column {column!r}"
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        if hasattr(texts, "__arrow_c_stream__"):
            texts = pa.chunked_array(texts)
        elif hasattr(texts, "__arrow_c_array__"):
            texts = pa.array(texts)
        else:
            texts = _of_strings(texts, where, column)
    texts = decoded(texts)
    if not is_string(texts.type) and len(texts) == 0:
        return []
    demand_text_type(texts.type, column)
    arrays = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    arrays = [_aligned(array.cast(pa.large_string())) for array in arrays]
    for number, array in enumerate(arrays):
        if not _is_valid(array):
            _demand_utf8(array, sum(map(len, arrays[:number])), where)
    row = 0
    for array in arrays:
        if array.null_count:
            row += int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(f"Text {row}{where} is null. Drop or fill nulls first.")
        row += len(array)
    return arrays


def demand_text_type(kind: Any, column: str | None = None) -> None:
    """Refuse an Arrow type of texts that holds no strings; one of nulls alone is none. `column`: the name of the column, if any.

    Raises:
        OptionError: it is another type.
    """
    if not is_string(kind) and not pa.types.is_null(kind):
        subject = "texts" if column is None else f"The column {column!r}"
        advice = advice_on_value(column or "text", value_of_type(kind))
        raise OptionError(f"{subject} has the type {kind}; give strings.{advice and f' {advice}'}")


def _aligned(array: Any) -> Any:
    """An Arrow `large_string` array whose offsets are aligned, as they may not be if it came over a network: kernels read them."""
    valid, offsets, content = array.buffers()
    if offsets is None or offsets.address % 8 == 0:
        return array
    buffers = [valid, pa.py_buffer(offsets.to_pybytes()), content]
    return pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)


def decoded(column: Any) -> Any:
    """An Arrow column without encodings that Arrow cannot take rows from: dictionaries and run ends become their values, and
    views become large_string and large_binary. Other columns are unchanged.
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = [decoded(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks, chunks[0].type) if chunks else column
    if pa.types.is_run_end_encoded(column.type):
        lengths = np.diff(column.run_ends.to_numpy(), prepend=0)  # of all runs, also of those that a slice has not
        rows = pa.array(np.repeat(np.arange(len(lengths)), lengths)[column.offset : column.offset + len(column)])
        return decoded(decoded(column.values).take(rows))
    if pa.types.is_dictionary(column.type):
        return decoded(column.dictionary).take(column.indices)
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary())
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def decoded_type(kind: Any) -> Any:
    """The type that `decoded` gives a column of this type."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return decoded_type(kind.value_type)
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def join_texts(columns: list[list[Any]], separator: str = "\n") -> list[Any]:
    """Join the texts of several columns row by row; each column is a result of `as_text_arrays`."""
    if len(columns) == 1:
        return columns[0]
    whole = [pa.chunked_array(arrays, pa.large_string()) for arrays in columns]
    joined = pc.binary_join_element_wise(*whole, pa.scalar(separator, pa.large_string()))
    return list(joined.chunks)


def _is_valid(array: Any) -> bool:
    """Whether an Arrow `large_string` array is certainly valid: the check of `validate(full=True)`, several times as fast."""
    array.validate()
    content = array.buffers()[2]
    if len(array) == 0 or content is None:
        return False
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    if offsets[0] < 0 or offsets[-1] > content.size or (np.diff(offsets) < 0).any():
        return False
    return bool(valid_utf8(np.frombuffer(content, np.uint8), offsets, np.empty(TAIL, np.uint8)))


def _demand_utf8(array: Any, first: int, where: str) -> None:
    """Raise DataError for an invalid `large_string` array, whose first text is the text `first` of the input."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as problem:
        for row in range(len(array)):
            try:
                array.slice(row, 1).validate(full=True)
            except pa.ArrowInvalid:
                raise DataError(f"Text {first + row}{where} is not valid: {problem}.") from None
        raise DataError(f"The texts{where} are not valid: {problem}.") from None


def _of_strings(texts: Any, where: str, column: str | None) -> Any:
    """An Arrow array of some object's strings."""
    try:
        found = list(texts)
    except TypeError:
        raise OptionError(
            f"texts is a {type(texts).__name__}; give a list of strings, or an Arrow, pandas or polars column."
        ) from None
    for row, text in enumerate(found):
        if text is None:
            raise DataError(f"Text {row}{where} is null. Drop or fill nulls first.")
        if not isinstance(text, str):
            is_integer(text)  # refuses what cannot be printed
            advice = "" if column is None else advice_on_value(column, text)
            raise OptionError(
                f"Text {row}{where} is a {type(text).__name__}, not a string: {str(text)[:60]!r}.{advice and f' {advice}'}"
            )
    try:
        return pa.array(found, pa.large_string())
    except UnicodeEncodeError:
        row = first_surrogate(found)
        raise DataError(
            f"Text {row}{where} contains a lone surrogate, which is not a character: {surrogate_in(found[row])!a}. "
            "Replace it first: text.encode('utf-8', 'replace').decode()."
        ) from None


def surrogate_in(text: str) -> str:
    """The first lone surrogate of a string; an empty string if it has none."""
    return next((character for character in text if "\ud800" <= character <= "\udfff"), "")


def first_surrogate(values: Iterable[Any]) -> int:
    """The place of the first string with a lone surrogate; -1 if there is none."""
    return next((row for row, value in enumerate(values) if isinstance(value, str) and surrogate_in(value)), -1)


def in_chunks(array: Any, size: int = BYTES_AT_ONCE) -> Iterator[Any]:
    """Slices of an Arrow `large_string` array of about `size` bytes of text, at least one text each."""
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    first = 0
    while first < len(array):
        last = int(np.searchsorted(offsets, offsets[first] + size))
        last = min(max(last, first + 1), len(array))
        yield array.slice(first, last - first)
        first = last
