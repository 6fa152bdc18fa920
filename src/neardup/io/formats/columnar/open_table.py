"""What Parquet and Arrow files have in common: rows in columns of one schema, read a block at a time."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS

ARROW_ERRORS = (pa.ArrowNotImplementedError, OSError, *DECODER_ERRORS)
"""ArrowInvalid is a ValueError, and so is the error of names that are not UTF-8. Memory that is exhausted is no damage."""


class Block(NamedTuple):
    """Rows that follow one another.

    Attributes:
        rows: how many they are.
        batch: their record batch; None if none of them was wanted.
        share: how much of the file was read with them, from 0 to 1.
    """

    rows: int
    batch: Any
    share: float


class OpenTable(Protocol):
    """An open file. `opened(shard)` of a format's module gives one as a context, and raises DataError if it is damaged.

    Attributes:
        schema: of Arrow.
    """

    @property
    def schema(self) -> Any: ...

    def blocks(self, names: Sequence[str] | None, size: int, wanted: Array | None) -> Iterator[Block]:
        """All rows in order, in blocks of some `size` bytes.

        Args:
            names: the columns to read, dotted where nested; None for all.
            size: of a block, in bytes; a row may be larger.
            wanted: bool[rows]: the rows that are needed; None for all.
        """
