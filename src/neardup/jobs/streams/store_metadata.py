"""METADATA: columns of rows that a store keeps with its documents, and by which it may prefer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.io.corpora.shard import Shard
from neardup.store.rules import key_of
from neardup.text.single_values import rank_value

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class MetadataColumns:
    """Columns whose values are kept.

    Attributes:
        names: the columns.
        key: the one whose values the store compares; None if it compares none.
    """

    names: tuple[str, ...]
    key: str | None

    def of(self, values: Sequence[Any], shard: Shard, rows: Array) -> list[dict[str, Any]] | None:
        """What is kept with some rows of a shard (int64[n]): the values that they have; None if no columns are named.

        Args:
            values: for each column, Arrow large_string[n] of JSON values.
            shard: where the rows are.
            rows: their numbers there.

        Raises:
            InputError: the store compares the column, and a value is neither a number nor a date.
        """
        if not self.names:
            return None
        found: list[dict[str, Any]] = [{} for _ in rows]
        for name, column in zip(self.names, values, strict=True):
            for place, token in enumerate(column.to_pylist()):
                if token is None:
                    continue
                found[place][name] = value = _decode(token)
                if name == self.key and rank_value(value) is None:
                    raise InputError(
                        f"{shard.name}, row {rows[place]} (counted from 0): {name!r} is {value!r}. The store prefers documents by "
                        "this column, and needs a number, a date in ISO 8601, or nothing in each row."
                    )
        return found


def metadata_columns(keep: str, given: str | Sequence[str]) -> MetadataColumns:
    """The columns that are named, for a store with this `keep`.

    Raises:
        OptionError: a name is empty, or the column that the store compares is not named.
    """
    names = tuple(dict.fromkeys((given,) if isinstance(given, str) else given))
    if not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"`metadata={list(names)!r}`: give names of columns, none of them empty.")
    key = key_of(keep)
    if key is not None and key not in names:
        raise OptionError(
            f"This store was made to keep {keep}, and needs the column {key!r}. Name it: `metadata={[key]!r}`."
        )
    return MetadataColumns(names, key)
