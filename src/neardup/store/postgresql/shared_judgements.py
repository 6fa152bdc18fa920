"""SHARED JUDGEMENTS and notes: those of a store in PostgreSQL, which every service reads in the database, and no replica has.

They belong to the store, not to its rows, so a compaction leaves them as they are.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from neardup.errors import DataError
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.record.judgements_table import COLUMNS, JudgementRow
from neardup.store.record.notes_table import SWEPT_PER_NOTE, NoteRow
from neardup.store.record.schema import agrees, judgement_checksum, note_checksum

_TYPES = ("bytea", "bytea", "text", "text", "text", "boolean", "float8", "bigint", "float8", "bytea", "bytea", "bigint")
_VALUES = ", ".join(f"%s::{kind}" for kind in _TYPES)
"""Of a row and its checksum."""


class _TableOfStores:
    """A table that has rows of stores. `store`: which it is; see `Head`. Who writes holds the lock of the store."""

    def __init__(self, place: DatabasePlace, table: str) -> None:
        self._shown, self._table = place.shown, f'"{place.schema}".{table}'

    def remove(self, connection: Any, store: str) -> None:
        """Remove all rows of a store."""
        connection.execute(f"DELETE FROM {self._table} WHERE store = %s", (store,))

    def problems(self, connection: Any, store: str) -> Iterator[str]:
        """What is wrong with rows of a store."""
        query = f"SELECT {self._columns} FROM {self._table} WHERE store = %s ORDER BY 1"
        for row in connection.execute(query, (store,), binary=True).fetchall():
            try:
                self._read(row)
            except DataError as problem:
                yield str(problem)

    _columns: str

    @abstractmethod
    def _read(self, row: Sequence[Any]) -> Any:
        """A row with these columns, checked."""

    def _demand_whole(self, what: str, checksum_of: Callable[..., int], values: Sequence[Any], checksum: Any) -> None:
        if not agrees(checksum_of, values, checksum):
            raise DataError(f"{self._shown} is damaged: the {what} is not what was written. Restore the database.")


class SharedJudgements(_TableOfStores):
    """The table of judgements."""

    _columns = f"number, {COLUMNS}, checksum"

    def __init__(self, place: DatabasePlace) -> None:
        super().__init__(place, "judgements")

    def after(self, connection: Any, store: str, number: int, limit: int | None) -> list[tuple[int, JudgementRow]]:
        """So many judgements, or all, with numbers above one, in their order; a DataError if a row is not what was written."""
        query = f"SELECT {self._columns} FROM {self._table} WHERE store = %s AND number > %s ORDER BY number LIMIT %s"
        found = connection.execute(query, (store, number, limit), binary=True)
        return [(row[0], self._read(row)) for row in found.fetchall()]

    def pairs(self, connection: Any, store: str) -> set[tuple[bytes, bytes]]:
        """The digests of all pairs that are judged."""
        query = f'SELECT "left", "right" FROM {self._table} WHERE store = %s'
        return set(connection.execute(query, (store,), binary=True).fetchall())

    def count(self, connection: Any, store: str) -> int:
        """How many there are."""
        found = connection.execute(f"SELECT count(*) FROM {self._table} WHERE store = %s", (store,)).fetchone()
        return int(found[0])

    def write(self, connection: Any, store: str, rows: Sequence[JudgementRow]) -> None:
        """Keep judgements, in the place of earlier ones of the same pairs."""
        for row in rows:
            query = f'DELETE FROM {self._table} WHERE store = %s AND ("left", "right") IN ((%s, %s), (%s, %s))'
            connection.execute(query, (store, row.left, row.right, row.right, row.left))
            values = (*row, judgement_checksum(*row))
            connection.execute(
                f"INSERT INTO {self._table} (store, number, {COLUMNS}, checksum) "
                f"SELECT %s, coalesce(max(number), 0) + 1, {_VALUES} FROM {self._table} WHERE store = %s",
                (store, *values, store),
            )

    def forget(self, connection: Any, store: str, digests: Sequence[bytes]) -> None:
        """Forget the judgements of texts with these digests."""
        if digests:
            query = f'DELETE FROM {self._table} WHERE store = %s AND ("left" = ANY(%s) OR "right" = ANY(%s))'
            connection.execute(query, (store, list(digests), list(digests)))

    def _read(self, row: Sequence[Any]) -> JudgementRow:
        number, *values, checksum = row
        self._demand_whole(f"judgement {number:,}", judgement_checksum, values, checksum)
        return JudgementRow(*values)


class SharedNotes(_TableOfStores):
    """The table of notes."""

    _columns = "key, value, until, checksum"

    def __init__(self, place: DatabasePlace) -> None:
        super().__init__(place, "notes")

    def ask(self, connection: Any, store: str, keys: Sequence[str]) -> Any:
        """Ask for notes that have not expired by the clock of the database; `read` has the answer. `store`: which it is; see
        `Head`.
        """
        return connection.execute(
            f"SELECT {self._columns} FROM {self._table} WHERE store = %s AND key = ANY(%s) "
            "AND until > extract(epoch FROM clock_timestamp())",
            (store, list(keys)),
        )

    def read(self, asked: Any) -> dict[str, NoteRow]:
        """The notes that were asked for, by their keys; a DataError if a row is not what was written."""
        return {note.key: note for note in map(self._read, asked.fetchall())}

    def write(self, connection: Any, store: str, rows: Sequence[NoteRow], now: float) -> None:
        """Keep notes, each key once, in the place of those with the same keys; and forget some that have expired."""
        if not rows:
            return
        connection.execute(
            f"DELETE FROM {self._table} WHERE store = %(store)s AND key IN (SELECT key FROM {self._table} "
            "WHERE store = %(store)s AND until <= %(now)s ORDER BY until LIMIT %(most)s)",
            {"store": store, "now": now, "most": SWEPT_PER_NOTE * len(rows)},
        )
        columns = [list(column) for column in zip(*((*row, note_checksum(*row)) for row in rows), strict=True)]
        connection.execute(
            f"INSERT INTO {self._table} (store, key, value, until, checksum) "
            "SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::float8[], %s::bigint[]) "
            "ON CONFLICT (store, key) DO UPDATE SET value = excluded.value, until = excluded.until, checksum = excluded.checksum",
            (store, *columns),
        )

    def _read(self, row: Sequence[Any]) -> NoteRow:
        *values, checksum = row
        self._demand_whole(f"note {values[0]!r}", note_checksum, values, checksum)
        return NoteRow(*values)
