"""TRANSACTIONS of a file of SQLite: what is changed together, what is read as it is at one time, and errors in our words."""

import contextlib
import ctypes
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError, NeardupError
from neardup.store.record.schema import agrees

_NO_DAMAGE = {
    getattr(sqlite3, f"SQLITE_{name}")
    for name in ("PERM", "BUSY", "LOCKED", "NOMEM", "READONLY", "INTERRUPT", "IOERR", "FULL", "CANTOPEN", "PROTOCOL")
}
"""Errors of SQLite for which the file is not to blame."""
SQL_VALUES = 500
"""Values in one statement; SQLite has a limit."""


def location(path: Path) -> str:
    """Where SQLite finds a file. If it cannot make its files beside it, it needs to be told that nothing will change; while a
    process that may write has the file open, they exist.
    """
    place = path.absolute().as_uri()
    return (
        f"{place}?immutable=1"
        if path.exists() and not Path(f"{path}-wal").exists() and not _is_writable(path)
        else place
    )


def _is_writable(path: Path) -> bool:
    """Whether SQLite can write to a file, and beside it."""
    as_opened = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=as_opened) for each in (path, path.parent)) and not (
        os.statvfs(path).f_flag & os.ST_RDONLY
    )


class Transactions:
    """A connection to a file of SQLite.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tables = set[str]()  # that were found, and stay
        self._file: tuple[int, int] | None = None
        self._connect()

    def _connect(self) -> None:
        """Open the file."""
        self._place = location(self.path)
        self._seen = self._stamp()
        self._base = sqlite3.connect(self._place, isolation_level=None, check_same_thread=False, uri=True)

    def _stamp(self) -> Any:
        """What changes with a file that SQLite takes as unchanging; None if that is not known or not needed."""
        if "?" not in self._place:
            return None
        found = self.path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Errors of SQLite in our words.

        Raises:
            InputError: the file cannot be read or written.
            DataError: it is damaged.
        """
        try:
            yield
        except (sqlite3.DatabaseError, ValueError) as problem:
            raise self._problem(problem) from None

    def _problem(self, problem: Exception) -> Exception:
        if isinstance(problem, NeardupError | sqlite3.ProgrammingError):
            return problem
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF in _NO_DAMAGE:
            return InputError(
                f"{self.path} cannot be used: {problem}. What was acknowledged before is kept. Mend the cause, and open the store "
                "again."
            )
        return self._damage(str(problem))

    def _damage(self, what: str) -> DataError:
        return DataError(f"{self.path} is damaged: {what}. Restore it from a backup.")

    def _demand_whole(
        self, table: str, key: Any, checksum_of: Callable[..., int], values: Sequence[Any], checksum: Any
    ) -> None:
        """Refuse a row whose checksum is not that of its values."""
        if not agrees(checksum_of, values, checksum):
            raise self._damage(f"row {key} of `{table}` is not what was written")

    def _has_table(self, name: str) -> bool:
        if name not in self._tables and list(self._rows("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,))):
            self._tables.add(name)
        return name in self._tables

    def _make_tables(self, script: str) -> None:
        """Run the statements of a script, none of which ends a transaction."""
        with self._translated_errors():
            for statement in script.split(";\n"):
                self._base.execute(statement)

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows that a query finds; errors as of `_translated_errors`."""
        try:
            for row in self._base.execute(query, values):  # noqa: UP028 - it would close the cursor, maybe after the database
                yield row
        except sqlite3.DatabaseError as problem:
            raise self._problem(problem) from None

    def _rows_of(self, query: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """The rows that a query finds whose end, `IN`, is to be followed by the values, some at a time."""
        for first in range(0, len(values), SQL_VALUES):
            some = values[first : first + SQL_VALUES]
            yield from self._rows(f"{query} ({', '.join('?' * len(some))})", some)

    def _write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of some rows of values; errors as of `_translated_errors`."""
        try:
            self._base.executemany(statement, rows)
        except sqlite3.DatabaseError as problem:
            raise self._problem(problem) from None

    def begin(self) -> None:
        """Begin a change, unless one was begun."""
        if not self.is_busy:
            with self._translated_errors():
                self._base.execute("BEGIN IMMEDIATE")

    def begin_reading(self) -> None:
        """Read the record as it is now until `end_reading`, whatever other processes write."""
        if (
            location(self.path) != self._place or self._stamp() != self._seen
        ):  # SQLite took it as unchanging, or may do so now
            self.close()
            self._connect()
            self._file = None
        with self._translated_errors():
            self._base.execute("BEGIN")
            self._base.execute("SELECT 1 FROM facts LIMIT 1").fetchone()  # what is read first begins it
        if self._file is None:
            self._was_opened()

    def end_reading(self) -> None:
        """End what `begin_reading` began."""
        self.commit()

    @property
    def is_busy(self) -> bool:
        """Whether a change or a reading was begun, and has not ended."""
        try:
            return self._base.in_transaction
        except sqlite3.ProgrammingError:  # it is closed
            return False

    def commit(self) -> None:
        """Make what was changed since `begin` durable."""
        if self.is_busy:
            with self._translated_errors():
                self._base.execute("COMMIT")

    def roll_back(self) -> None:
        """Undo what was changed since `begin`."""
        if self.is_busy:
            with self._translated_errors():
                self._tables.clear()  # one of them may have been made since
                self._base.execute("ROLLBACK")

    def mark(self) -> None:
        """Begin a part of a change that `undo` can undo alone; it ends with `release` or `undo`."""
        with self._translated_errors():
            self._base.execute("SAVEPOINT part")

    def release(self) -> None:
        """Keep what was changed since `mark`."""
        with self._translated_errors():
            self._base.execute("RELEASE part")

    def undo(self) -> None:
        """Undo what was changed since `mark`."""
        with self._translated_errors():
            self._tables.clear()
            self._base.execute("ROLLBACK TO part")
        self.release()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """One change: durable when the block ends, or nothing of it."""
        self.begin()
        try:
            yield
        except BaseException:
            self.roll_back()
            raise
        self.commit()

    def _was_opened(self) -> None:
        """Note which file was opened: SQLite opens it when it is first read."""
        self._file = _file_at(self.path)

    @property
    def has_moved(self) -> bool:
        """Whether the path has another file by now, or none."""
        return self._file is not None and _file_at(self.path) != self._file

    def close(self) -> None:
        """Close the file.

        The last connection that is closed removes the write-ahead log by its name. If another file system is mounted at the path
        by now, with a file of the same number there, SQLite takes that for the file that it has opened, and would remove the log of
        another store. So such a connection stays open until the process ends.
        """
        if self.has_moved:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._base))
        else:
            self._base.close()


def _file_at(path: Path) -> tuple[int, int] | None:
    """The device and the number of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
