"""Convert ids of files, which are JSON values, to ids of an index: all strings, or all integers."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InputError
from neardup.io.ids import plain_ids


def labels_of(tokens: Any, *, strings: bool) -> Any:
    """Convert Arrow large_string[n] of JSON values to strings (both 17 and "17" become "17"), or to int64[n].

    Raises:
        InputError: `strings` is false, and an id is a string or does not fit 64 bits.
    """
    if strings:
        return plain_ids(tokens)
    quoted = pc.starts_with(tokens, '"').to_numpy(zero_copy_only=False)
    try:
        if not quoted.any():
            return pc.cast(tokens, pa.int64()).to_numpy()
        first = tokens[int(quoted.argmax())].as_py()
        reason = f"The id {first} is not an integer"
    except pa.ArrowInvalid as problem:
        reason = f"An id does not fit 64 bits: {problem}"
    raise InputError(
        f"{reason}, but the index has integer ids. Name their column with `id`, or build the index without `integer_ids`."
    )
