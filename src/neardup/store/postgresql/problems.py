"""PROBLEMS with a database, in our words, and which of them pass by themselves."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from neardup.errors import DataError, InputError, MissingExtra, NeardupError, TransferError
from neardup.store.postgresql.refusals import state_of_refusal

LOCK_SECONDS = 60
"""How long one call may wait for those of other services."""
SILENT_SECONDS = 600
"""How long a service that decides may say nothing to the database, before this ends what it has begun."""


class LostError(NeardupError):
    """The database cannot be reached any more. What was being done was not done, and can be tried again."""


class GrantError(InputError):
    """The role may not do what it was asked to do. Nothing was done, and it may do other things."""


class UnknownOutcomeError(TransferError):
    """The database cannot be reached, and whether it has what a call has changed is not known."""

    def __init__(self, shown: str, attempts: int, reason: str) -> None:
        super().__init__(shown, "learning whether a change has arrived", attempts, reason)
        self.args = (
            f"{shown} was lost while a change was being written, and could not be asked {attempts} times since whether it has "
            f"arrived, at last with: {reason}. Call again once the database is back. If the change has arrived, its documents are "
            "kept then, and a repeated one is a duplicate of itself; nothing is added twice.",
        )


class LaggingError(TransferError):
    """A stand-by has not got yet what this service knows of the store."""

    def __init__(self, server: str, known: int, found: int, replayed: str) -> None:
        """`known`, `found`: the last change that this service knows, and that the stand-by has; `replayed`: how far it has come."""
        super().__init__(server, "reading a stand-by", 1, f"it lags behind its primary, at {replayed}")
        self.args = (
            f"{server} is a stand-by that lags behind its primary: it has the changes up to {found:,} (replayed up to {replayed}), "
            f"and this service knows {known:,} from before. Call again when it has caught up, or name the primary.",
        )


def load_psycopg() -> Any:
    """The package psycopg; a MissingExtra if it is not installed, or finds no libpq."""
    try:
        import psycopg

        logger = logging.getLogger("psycopg")
        if not logger.handlers:  # what it ignores is no news for standard error
            logger.addHandler(logging.NullHandler())
    except ImportError as problem:
        raise MissingExtra(
            f"A store in PostgreSQL needs psycopg, which cannot be loaded ({problem}): pip install 'neardup[postgres]'"
        ) from None
    return psycopg


@contextlib.contextmanager
def translated_errors(shown: str, connection: Any = None, *, database: str = "") -> Iterator[None]:
    """Errors of psycopg in our words.

    Args:
        shown: the place of the store.
        connection: if it is broken afterwards, it was lost.
        database: what is connected to, if nothing else is done.

    Raises:
        LostError: the database cannot be reached.
        InputError: something in the database or the call must change.
        DataError: the database has what no version of neardup writes.
    """
    psycopg = load_psycopg()
    try:
        yield
    except psycopg.Error as problem:
        state = problem.sqlstate or ""
        if not state and database and isinstance(problem, psycopg.OperationalError):
            state = state_of_refusal(psycopg, problem, database)
        raise _problem(shown, problem, state, is_lost=connection is not None and connection.closed) from None


def _problem(shown: str, problem: Any, state: str, *, is_lost: bool) -> NeardupError:
    psycopg = load_psycopg()
    said = " ".join(line for line in map(str.strip, str(problem).splitlines()) if line and not line.startswith(_ASKS))
    passes = isinstance(problem, psycopg.OperationalError) and (not state or state[:2] == "08" or state in _PASSING)
    if is_lost or passes:
        return LostError(said)
    if isinstance(problem, psycopg.ProgrammingError) and not state:  # libpq does not understand the URL
        return InputError(f"{shown} is no place of a database: {said}. Give postgresql://USER@HOST/DATABASE.")
    if state == _NOT_GRANTED:
        return GrantError(f"{shown}: {said}. Grant the role what docs/postgresql.md lists.")
    told_of = next((text for start, text in _REMEDIES.items() if state.startswith(start)), None)
    if told_of is not None:
        return InputError(f"{shown}: {said}. {told_of}")
    if state[:2] in ("53", "54", "58"):
        return InputError(
            f"{shown} cannot be written to: {said}. What was acknowledged before is kept. Mend the cause."
        )
    return DataError(f"{shown}: PostgreSQL says {state} {said}. The tables may have been changed by another program.")


_ASKS = "Is the server running"
"""libpq's own question behind each failure to connect, in the middle of our sentence."""
_PASSING = {"57P01", "57P02", "57P03", "57P05", "53300", "25P03"}
"""The server is going down, has crashed, is starting, has ended an idle session, or has too many of them."""
_NOT_GRANTED = "42501"
_REMEDIES = {
    "28": "Give the user and the password of a role that may enter, in the URL, PGPASSWORD or ~/.pgpass.",
    "3D": "Create the database, or name another.",
    "0A000": "It is a stand-by, which cannot be written to. Name the primary, or all hosts and `target_session_attrs=read-write`.",
    "25006": "It is a stand-by, which cannot be written to. Name the primary, or all hosts and `target_session_attrs=read-write`.",
    "55P03": f"Another service has decided for {LOCK_SECONDS} seconds, or hangs. Call again.",
    "57014": "A time-out of the role or the database has ended a statement. Raise it for this role.",
    "23505": "Another program writes to the tables without the lock of the store. Let only neardup write to them.",
}
