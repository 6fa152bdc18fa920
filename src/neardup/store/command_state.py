"""STATE: plain values of a program, and beside them what commands keep: how far a run came, and how many rows had no id."""

from typing import Any

from neardup.errors import InputError, OptionError

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
    """The state of a store, to which a command adds its own values.

    Raises:
        InputError: a program has kept something else than a dict.
    """
    if state is None:
        return {}
    if not isinstance(state, dict):
        raise InputError(
            f"The state of the store is {state!r}, which a program has kept there. Commands keep there how far they came: let the "
            "program keep a dict."
        )
    return state
