"""NOTES of a store: plain values by key, each kept until a time, such as the answer to a request that may come again."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from neardup.store.record_checks import agrees, note_checksum
from neardup.store.record_tables import NOTES
from neardup.store.transactions import Transactions

AT_ONCE = 500
"""Values in one query; SQLite allows 32,766."""
SWEPT = 2
"""Old notes that are looked at for each new one, so that those that have expired never become many."""


class NoteRow(NamedTuple):
    """A row of `notes`: the value as JSON, and until when it is kept, in seconds since 1970."""

    key: str
    value: str
    until: float


class Notes(Transactions):
    """The part of a record that has the notes. The table is made with the first of them."""

    _is_there = False

    def has_notes(self) -> bool:
        """Whether there is a table of notes."""
        if not self._is_there:
            self._is_there = bool(list(self._rows("SELECT 1 FROM sqlite_schema WHERE name = 'notes'")))
        return self._is_there

    def notes(self, keys: Sequence[str], now: float) -> dict[str, NoteRow]:
        """The notes with those of these keys that there are, and that have not expired.

        Raises:
            DataError: a row is not what was written.
        """
        found: dict[str, NoteRow] = {}
        if not self.has_notes():
            return found
        for first in range(0, len(keys), AT_ONCE):
            some = keys[first : first + AT_ONCE]
            marks = ", ".join("?" * len(some))
            for row in self._rows(f"SELECT * FROM notes WHERE key IN ({marks})", some):
                note = self._note(row)
                if note.until > now:
                    found[note.key] = note
        return found

    def add_notes(self, rows: Iterable[NoteRow], now: float) -> None:
        """Keep notes, in the place of those with the same keys; and forget some of the oldest that have expired."""
        given = list(rows)
        if not given:
            return
        if not self.has_notes():
            with self._told():
                self._base.execute(NOTES)
        oldest = "SELECT number FROM notes ORDER BY number LIMIT ?"
        self._write(f"DELETE FROM notes WHERE number IN ({oldest}) AND until <= ?", [(SWEPT * len(given), now)])
        sealed = [(*row, note_checksum(*row)) for row in given]
        self._write("INSERT OR REPLACE INTO notes (key, value, until, checksum) VALUES (?, ?, ?, ?)", sealed)

    def all_notes(self) -> Iterable[tuple[Any, ...]]:
        """The rows of all notes, as they are in the file."""
        return self._rows("SELECT * FROM notes") if self.has_notes() else ()

    def _note(self, row: tuple[Any, ...]) -> NoteRow:
        number, *values, checksum = row
        if not agrees(note_checksum, values, checksum):
            raise self._damage(f"row {number} of `notes` is not what was written")
        return NoteRow(*values)
