"""ROW IDS: names of rows without an id that differ from those of all other rows that a store was ever given."""

from typing import Any

import msgspec
import numpy as np
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import default_ids
from neardup.io.formats.table import FILES
from neardup.store.command_state import ROWS_WITHOUT_ID, state_for_commands

_decode = msgspec.json.Decoder().decode


class RowIds:
    """Ids under which a store keeps rows: their own, or `row:N` for the rows without one.

    The default ids of rows, `FILE:ROW`, begin again in every run, and a store would take the second one for an update of the
    first. So N counts the rows without an id of all runs; the count is saved with the documents.
    """

    def __init__(self, state: Any) -> None:
        """`state`: that of the store."""
        self._count = state_for_commands(state).get(ROWS_WITHOUT_ID, 0)

    def of(self, tokens: Any, shard: Shard, rows: Array) -> list[int | str]:
        """The ids of some rows of a shard (int64[n]); `tokens`: Arrow large_string[n], their ids as JSON values."""
        ids = [_decode(token) for token in tokens.to_pylist()]
        if shard.format not in FILES:
            for i in np.flatnonzero(pc.equal(tokens, default_ids(shard.name, rows))).tolist():
                ids[i] = f"row:{self._count}"
                self._count += 1
        return ids

    def state(self) -> dict[str, int]:
        """What is saved with the documents."""
        return {ROWS_WITHOUT_ID: self._count} if self._count else {}
