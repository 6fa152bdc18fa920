"""STATE: plain values of a program, and beside them what commands keep: how far a run came, and how many rows had no id."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import InputError, OptionError, is_integer
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import default_ids
from neardup.io.formats.table import FILES

ROWS_WITHOUT_ID, ADDING, FILTERING = "rows_without_id", "add", "filter"
OF_COMMANDS = (ROWS_WITHOUT_ID, ADDING, FILTERING)
"""The keys of commands."""


class CommandState(dict[str, Any]):
    """A state as a command makes it: the values of programs are those of the state before."""


def state_after(before: Any, given: Any) -> Any:
    """The state that follows from a given one; what commands keep stays, unless one of them gives the state.

    Raises:
        OptionError: there is no place for what commands keep, or a program takes a name of theirs.
    """
    if isinstance(given, CommandState):
        return dict(given)
    kept = {key: before[key] for key in OF_COMMANDS if key in before} if isinstance(before, dict) else {}
    if not isinstance(given, dict):
        if kept:
            raise OptionError(
                f"`state={given!r}`: commands such as `neardup store add` have kept values in the state of this store, too: "
                f"{', '.join(kept)}. Give a dict."
            )
        return given
    if taken := [key for key in OF_COMMANDS if key in given and key not in kept]:
        raise OptionError(f"`state`: {taken[0]!r} is a key of commands such as `neardup store add`. Take another.")
    return given | kept


def state_for_commands(state: Any) -> dict[str, Any]:
    """The state of a store, to which a command adds its own values; an InputError if a program has kept something else than a
    dict.
    """
    if state is None:
        return {}
    if not isinstance(state, dict):
        raise InputError(
            f"The state of the store is {state!r}, which a program has kept there. Commands keep there how far they came: let the "
            "program keep a dict."
        )
    return state


_decode = msgspec.json.Decoder().decode


OWN = re.compile(r'"row:(0|[1-9][0-9]{0,17})"')
"""An id, as JSON, as a store gives it to a document without one."""


class RowIds:
    """Ids under which a store keeps rows: their own, or `row:N` for the rows without one.

    The default ids of rows, `FILE:ROW`, begin again in every run, and a store would take the second one for an update of the
    first. So N counts the rows without an id of all runs; the count is saved with the documents. An N whose name is that of a kept
    document, or of another row, is passed over; and `demand_no_own` refuses names of that form as ids of other documents.
    """

    def __init__(self, state: Any, kept: Callable[[Sequence[str]], Container[str]]) -> None:
        """`state`: that of the store. `kept`: which of some ids (JSON) its documents have."""
        self._count, self._kept = _count_in(state_for_commands(state)), kept

    def of(self, tokens: Any, shard: Shard, rows: Array) -> list[int | str]:
        """The ids of some rows of a shard (int64[n]); `tokens`: Arrow large_string[n], their ids as JSON values."""
        ids = [_decode(token) for token in tokens.to_pylist()]
        if shard.format not in FILES:
            places = np.flatnonzero(pc.equal(tokens, default_ids(shard.name, rows))).tolist()
            for place, name in zip(places, self._free(len(places), set(ids) if places else set()), strict=True):
                ids[place] = name
        return ids

    def _free(self, count: int, given: Container[int | str]) -> list[str]:
        """So many names that no document has; `given`: ids of other rows."""
        found: list[str] = []
        while len(found) < count:
            names = [f"row:{self._count + i}" for i in range(count - len(found))]
            self._count += len(names)
            kept = self._kept([f'"{name}"' for name in names])
            found += [name for name in names if name not in given and f'"{name}"' not in kept]
        return found

    def state(self) -> dict[str, int]:
        """What is saved with the documents."""
        return {ROWS_WITHOUT_ID: self._count} if self._count else {}


def demand_no_own(names: Sequence[str], state: Any) -> None:
    """Refuse documents with ids (JSON) that the store has given to documents without one: an update by chance.

    Raises:
        OptionError: there is one.
    """
    count = _count_in(state) if isinstance(state, dict) else 0
    for name in names if count else ():
        if (own := OWN.fullmatch(name)) and int(own[1]) < count:
            raise OptionError(
                f"A document has the id {name}, which the store gave to a document without an id. Give it another id. To replace "
                "that document, remove it as well."
            )


def _count_in(state: Mapping[str, Any]) -> int:
    """How many names a store has given, in its state."""
    found = state.get(ROWS_WITHOUT_ID, 0)
    return found if is_integer(found) else 0
