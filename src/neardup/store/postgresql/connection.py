"""CONNECT to a database, and again when the connection was lost."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from neardup.errors import InputError, TransferError
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.problems import LostError, load_psycopg, translated_errors
from neardup.store.session.folder import LOCK_PAUSE_SECONDS, BusyError

R = TypeVar("R")
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 2.0
"""Seconds between two attempts to reach a database, which double."""
MIN_PATIENCE_SECONDS = 5.0
"""For so many seconds at least, a database that cannot be reached is tried again."""
OLDEST_VERSION = 150_000
"""The oldest version of PostgreSQL, as the server tells it."""
_DEFAULTS = {
    "application_name": "neardup",
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Unless the place says otherwise: a machine that vanishes is found out."""


class Attempts:
    """How often something was tried, with pauses in between, until patience ends."""

    def __init__(self, shown: str, patience: float) -> None:
        self._shown, self._ends, self._pause, self.count = shown, time.monotonic() + patience, FIRST_PAUSE_SECONDS, 1

    def failed(self, problem: Exception) -> None:
        """Wait before the next attempt; a TransferError if there is none."""
        if time.monotonic() + self._pause > self._ends:
            raise TransferError(self._shown, "reaching the database", self.count, str(problem)) from None
        time.sleep(self._pause)
        self._pause, self.count = min(2 * self._pause, LONGEST_PAUSE_SECONDS), self.count + 1


class Database:
    """A database, and the one connection to it, which threads use one after another.

    Attributes:
        place: where it is.
        patience: seconds for which a database that cannot be reached is tried again.
    """

    def __init__(self, place: DatabasePlace, patience: float) -> None:
        self.place, self.patience = place, max(patience, MIN_PATIENCE_SECONDS)
        self._connection: Any = None
        self._claims: list[str] = []

    def connected(self) -> Any:
        """The connection, which commits each statement by itself outside of `BEGIN`.

        Raises:
            LostError: the database cannot be reached now.
            InputError: it cannot be entered, or is too old, or of another encoding.
        """
        if self._connection is not None and not self._connection.closed:
            return self._connection
        psycopg = load_psycopg()
        with translated_errors(self.place.shown, database=self.place.database):
            given = psycopg.conninfo.conninfo_to_dict(self.place.database)
            made = psycopg.connect(
                self.place.database,
                autocommit=True,
                prepare_threshold=None,  # a pooler may give each transaction another session
                client_encoding="utf8",
                **{name: value for name, value in _DEFAULTS.items() if name not in given},
            )
        try:
            self._demand(made)
            for claim in self._claims:
                _take(made, claim, self.place.shown)
        except BaseException:
            made.close()
            raise
        self._connection = made
        return made

    def _demand(self, made: Any) -> None:
        if made.info.server_version < OLDEST_VERSION:
            found = made.info.server_version // 10_000
            raise InputError(
                f"{self.place.shown} is PostgreSQL {found}. neardup needs {OLDEST_VERSION // 10_000} or newer."
            )
        encoding = made.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise InputError(
                f"{self.place.shown} has the encoding {encoding}. Create a database with `ENCODING 'UTF8' TEMPLATE template0`."
            )

    def once(self, work: Callable[[Any], R]) -> R:
        """What a function of the connection returns; it may end within a transaction. A LostError if the database cannot be
        reached.
        """
        connection = self.connected()
        with translated_errors(self.place.shown, connection):
            return work(connection)

    def run(self, work: Callable[[Any], R]) -> R:
        """What a function of the connection returns that may be called again if the connection is lost.

        Raises:
            TransferError: the database cannot be reached for as long as patience lasts.
        """
        attempts = self.attempts()
        while True:
            try:
                return self.once(work)
            except LostError as problem:
                self.drop()
                attempts.failed(problem)
            except BaseException:
                self.roll_back()
                raise

    def claim(self, name: str, wait: float) -> None:
        """Hold an advisory lock with the connection and each one that follows it; a BusyError after `wait` seconds."""
        ends = time.monotonic() + wait
        while True:
            try:
                self.run(lambda connection: _take(connection, name, self.place.shown))
                break
            except BusyError:
                if time.monotonic() >= ends:
                    raise
            time.sleep(LOCK_PAUSE_SECONDS)
        self._claims.append(name)

    def attempts(self) -> Attempts:
        """Attempts that begin now."""
        return Attempts(self.place.shown, self.patience)

    def roll_back(self) -> None:
        """End a transaction that was begun; if that fails, the server will, as the connection is closed."""
        psycopg = load_psycopg()
        connection = self._connection
        if (
            connection is None
            or connection.closed
            or connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        ):
            return
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self.drop()

    def drop(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _take(connection: Any, name: str, shown: str) -> None:
    """Take an advisory lock of the session."""
    if not connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (name,)).fetchone()[0]:
        raise BusyError(
            f"Another command that keeps how far it came adds to {shown}. Wait until it has ended (`wait=60`). Services may go on."
        )
