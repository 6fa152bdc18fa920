"""NOTES of a store: plain values by key, each kept until a time, such as the answer to a request that may come again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from neardup.errors import OptionError
from neardup.store.arguments import as_json, seconds_of, several, time_of
from neardup.store.record.schema import NOTES, note_checksum
from neardup.store.record.transactions import Transactions

SWEPT_PER_NOTE = 2
"""Old notes that are looked at for each new one, so that those that have expired never become many."""
MAX_KEY_CHARACTERS = 500
"""Characters. A row of an index of PostgreSQL has 2.7 KB."""


class NotedError(OptionError):
    """There is a note already that was to be written first; nothing was added.

    Attributes:
        notes: what is kept by the keys that were found.
    """

    def __init__(self, notes: Mapping[str, Any]) -> None:
        super().__init__(f"`unless`: there are notes already: {', '.join(map(repr, notes))}. Nothing was added.")
        self.notes = dict(notes)


def keys_of(option: str, given: Iterable[str]) -> list[str]:
    """Keys of notes, each once; an OptionError if one of them is none."""
    found = several(option, given)
    for key in found:
        if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_CHARACTERS or "\0" in key:
            raise OptionError(
                f"`{option}`: {key!r} is no key of a note. Give 1 to {MAX_KEY_CHARACTERS} characters, none of them NUL."
            )
        as_json(key)  # refuses what is not valid Unicode
    return list(dict.fromkeys(found))


class NoteRow(NamedTuple):
    """A row of `notes`: the value as JSON, and until when it is kept, in seconds since 1970."""

    key: str
    value: str
    until: float


def note_rows(given: Mapping[str, tuple[Any, float | timedelta]], now: float) -> list[NoteRow]:
    """Notes as they are written, of values with the times until which they are kept, or for how long from `now` on; an OptionError
    if one of these is none.
    """
    keys_of("notes", list(given))
    return [NoteRow(key, as_json(value), _end(until, now)) for key, (value, until) in given.items()]


def _end(until: float | timedelta, now: float) -> float:
    return now + seconds_of("notes", until) if isinstance(until, timedelta) else time_of("notes", until)


def values_of(rows: Mapping[str, NoteRow]) -> dict[str, Any]:
    """What notes keep, by their keys."""
    return {key: json.loads(row.value) for key, row in rows.items()}


class Notes(Transactions):
    """The part of a record that has the notes. The table is made with the first of them."""

    def notes(self, keys: Sequence[str], now: float) -> dict[str, NoteRow]:
        """The notes with those of these keys that there are, and that have not expired; a DataError if a row is not what was
        written.
        """
        if not self._has_table("notes"):
            return {}
        notes = map(self._note, self._rows_of("SELECT * FROM notes WHERE key IN", keys))
        return {note.key: note for note in notes if note.until > now}

    def add_notes(self, rows: Iterable[NoteRow], now: float) -> None:
        """Keep notes, in the place of those with the same keys; and forget some of the oldest that have expired."""
        given = list(rows)
        if not given:
            return
        if not self._has_table("notes"):
            self._make_tables(NOTES)
        oldest = "SELECT number FROM notes ORDER BY number LIMIT ?"
        self._write(
            f"DELETE FROM notes WHERE number IN ({oldest}) AND until <= ?", [(SWEPT_PER_NOTE * len(given), now)]
        )
        sealed = [(*row, note_checksum(*row)) for row in given]
        self._write("INSERT OR REPLACE INTO notes (key, value, until, checksum) VALUES (?, ?, ?, ?)", sealed)

    def all_notes(self) -> Iterable[tuple[Any, ...]]:
        """The rows of all notes, as they are in the file."""
        return self._rows("SELECT * FROM notes") if self._has_table("notes") else ()

    def _note(self, row: tuple[Any, ...]) -> NoteRow:
        number, *values, checksum = row
        self._demand_whole("notes", number, note_checksum, values, checksum)
        return NoteRow(*values)
