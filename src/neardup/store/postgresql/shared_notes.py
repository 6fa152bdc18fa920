"""SHARED NOTES: the notes of a store in PostgreSQL, which every service reads in the database, and no replica has.

They belong to the store, not to its rows, so a compaction leaves them as they are.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.errors import DataError
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.record.notes_table import SWEPT, NoteRow
from neardup.store.record.record_checks import agrees, note_checksum


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
            {"store": store, "now": now, "most": SWEPT * len(rows)},
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
