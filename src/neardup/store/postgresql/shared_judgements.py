"""SHARED JUDGEMENTS and notes: those of a store in PostgreSQL, which every service reads in the database, and no replica has.

They belong to the store, not to its rows, so a compaction leaves them as they are.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.errors import DataError
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.record.judgements_table import COLUMNS, JudgementRow
from neardup.store.record.notes_table import SWEPT_PER_NOTE, NoteRow
from neardup.store.record.schema import agrees, judgement_checksum, note_checksum

_TYPES = ("bytea", "bytea", "text", "text", "text", "boolean", "float8", "bigint", "float8", "bytea", "bytea", "bigint")
_VALUES = ", ".join(f"%s::{kind}" for kind in _TYPES)
"""Of a row and its checksum."""


class SharedJudgements:
    """The table of judgements. `store`: which it is; see `Head`. Who writes holds the lock of the store."""

    def __init__(self, place: DatabasePlace) -> None:
        self._shown, self._table = place.shown, f'"{place.schema}".judgements'

    def after(self, connection: Any, store: str, number: int, limit: int | None) -> list[tuple[int, JudgementRow]]:
        """So many judgements, or all, with numbers above one, in their order.

        Raises:
            DataError: a row is not what was written.
        """
        query = f"SELECT number, {COLUMNS}, checksum FROM {self._table} WHERE store = %s AND number > %s ORDER BY number LIMIT %s"
        found = connection.execute(query, (store, number, limit), binary=True)
        return [(row[0], self._judgement(row)) for row in found.fetchall()]

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

    def remove(self, connection: Any, store: str) -> None:
        """Remove all judgements of a store."""
        connection.execute(f"DELETE FROM {self._table} WHERE store = %s", (store,))

    def problems(self, connection: Any, store: str) -> Iterator[str]:
        """What is wrong with judgements."""
        query = f"SELECT number, {COLUMNS}, checksum FROM {self._table} WHERE store = %s ORDER BY number"
        for row in connection.execute(query, (store,), binary=True).fetchall():
            try:
                self._judgement(row)
            except DataError as problem:
                yield str(problem)

    def _judgement(self, row: Sequence[Any]) -> JudgementRow:
        number, *values, checksum = row
        if not agrees(judgement_checksum, values, checksum):
            raise DataError(
                f"{self._shown} is damaged: the judgement {number:,} is not what was written. Restore the database."
            )
        return JudgementRow(*values)


class SharedNotes:
    """The table of notes."""

    def __init__(self, place: DatabasePlace) -> None:
        self._shown, self._table = place.shown, f'"{place.schema}".notes'

    def ask(self, connection: Any, store: str, keys: Sequence[str], now: float) -> Any:
        """Ask for notes that have not expired; `read` has the answer. `store`: which it is; see `Head`."""
        return connection.execute(
            f"SELECT key, value, until, checksum FROM {self._table} WHERE store = %s AND key = ANY(%s) AND until > %s",
            (store, list(keys), now),
        )

    def read(self, asked: Any) -> dict[str, NoteRow]:
        """The notes that were asked for, by their keys.

        Raises:
            DataError: a row is not what was written.
        """
        return {note.key: note for note in map(self._note, asked.fetchall())}

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

    def remove(self, connection: Any, store: str) -> None:
        """Remove all notes of a store."""
        connection.execute(f"DELETE FROM {self._table} WHERE store = %s", (store,))

    def problems(self, connection: Any, store: str) -> Iterator[str]:
        """What is wrong with notes."""
        query = f"SELECT key, value, until, checksum FROM {self._table} WHERE store = %s ORDER BY key"
        for row in connection.execute(query, (store,)).fetchall():
            try:
                self._note(row)
            except DataError as problem:
                yield str(problem)

    def _note(self, row: Sequence[Any]) -> NoteRow:
        *values, checksum = row
        if not agrees(note_checksum, values, checksum):
            raise DataError(
                f"{self._shown} is damaged: the note {values[0]!r} is not what was written. Restore the database."
            )
        return NoteRow(*values)
