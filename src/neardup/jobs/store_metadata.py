"""METADATA: columns of rows that a store keeps with its documents, and by which its policy may prefer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.io.shard import Shard
from neardup.store.preference import key_of

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class MetadataColumns:
    """Columns whose values are kept.

    Attributes:
        names: the columns.
        key: the one whose numbers the policy of the store compares; None if it compares none.
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
            InputError: the policy needs a number, and the value is none.
        """
        if not self.names:
            return None
        found: list[dict[str, Any]] = [{} for _ in rows]
        for name, column in zip(self.names, values, strict=True):
            for place, token in enumerate(column.to_pylist()):
                if token is None:
                    continue
                value = _decode(token)
                found[place][name] = value if name != self.key else self._number(value, shard, int(rows[place]))
        return found

    def _number(self, value: Any, shard: Shard, row: int) -> int | float:
        """A number, or what a text tells as one: CSV has texts only."""
        number = value
        if isinstance(value, str):
            try:
                number = int(value)
            except ValueError:
                try:
                    number = float(value)
                except ValueError:
                    number = None
        if isinstance(number, bool) or not isinstance(number, int | float) or number - number != 0:
            raise InputError(
                f"{shard.name}, row {row} (counted from 0): {self.key!r} is {value!r}. The store prefers documents by this column, "
                "and needs a number, or nothing, in each row."
            )
        return number


def metadata_columns(policy: str, given: str | Sequence[str]) -> MetadataColumns:
    """The columns that are named, for a store of this policy.

    Raises:
        OptionError: a name is empty, or the column that the policy compares is not named.
    """
    names = tuple(dict.fromkeys((given,) if isinstance(given, str) else given))
    if not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"`metadata={list(names)!r}`: give names of columns, none of them empty.")
    key = key_of(policy)
    if key is not None and key not in names:
        raise OptionError(
            f"The policy of this store, {policy!r}, compares the column {key!r}. Name it: `metadata={[key]!r}`."
        )
    return MetadataColumns(names, key)

