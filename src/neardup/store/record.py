"""The record of a store: SQLite, with write-ahead logging and full synchronisation. What it does not know was not acknowledged.

`documents` has each kept document under its number, in the order of keeping; `removed` has each distinct text that was not kept,
with its survivor, so that a later copy gets the same answer. Both are written in the order of their numbers, and have no other
index: where a digest or an id is, postings tell. `gone` has a bit for each number that was removed later.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.store.marks import CHUNK, Marks

FORMAT = 1
AT_ONCE = 500
"""Values in one query; SQLite allows 32,766."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    expires REAL,
    metadata TEXT,
    rank REAL
) STRICT;
CREATE TABLE IF NOT EXISTS removed (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    survivor INTEGER NOT NULL,
    similarity REAL,
    distance INTEGER NOT NULL,
    last_seen REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS gone (chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
"""


class DocumentRow(NamedTuple):
    """A row of `documents`: the id as JSON, times in seconds since 1970, the metadata as JSON, how good it is by the policy."""

    number: int
    id: str
    first_seen: float
    last_seen: float
    expires: float | None = None
    metadata: str | None = None
    rank: float | None = None


class RemovedRow(NamedTuple):
    """A row of `removed`: 16 bytes that are equal for equal normalized texts, and the survivor's number."""

    number: int
    digest: bytes
    survivor: int
    similarity: float | None
    distance: int
    last_seen: float


def removed_rows(
    first: int, digests: Sequence[bytes], survivors: Array, similarity: Array, distance: Array, now: float
) -> list[RemovedRow]:
    """The rows of texts under the numbers from `first` on: survivors int64[n], similarity float64[n] (NaN if there is none)."""
    columns = (digests, survivors.tolist(), similarity.tolist(), distance.tolist())
    return [
        RemovedRow(first + i, digest, survivor, None if alike != alike else alike, far, now)
        for i, (digest, survivor, alike, far) in enumerate(zip(*columns, strict=True))
    ]


class Record:
    """The record of a store in a file."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False, lasts: bool = True) -> None:
        """Open the record, or create it; without `lasts`, nothing is synced.

        Raises:
            InputError: it cannot be opened.
            DataError: it is damaged, or of another format.
        """
        self.path = path
        self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._open(create=create, readonly=readonly, lasts=lasts)
        except BaseException:
            self._base.close()
            raise

    def _open(self, *, create: bool, readonly: bool, lasts: bool) -> None:
        path = self.path
        try:
            if readonly:
                self._base.execute("PRAGMA query_only = ON")
            else:
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute(f"PRAGMA synchronous = {'FULL' if lasts else 'OFF'}")
            if create:
                with self.changing():
                    for statement in SCHEMA.split(";\n"):
                        self._base.execute(statement)
                    self._base.execute("INSERT OR IGNORE INTO facts VALUES ('format', ?)", (json.dumps(FORMAT),))
            written = self.facts().get("format")
        except sqlite3.OperationalError as problem:
            raise InputError(f"{path} cannot be opened: {problem}.") from None
        except sqlite3.DatabaseError as problem:
            raise DataError(f"{path} is damaged: {problem}. Restore it from a backup.") from None
        if written != FORMAT:
            raise DataError(
                f"{path} is of format {written}; this version of neardup reads {FORMAT}. Make the store anew."
            )

    def begin(self) -> None:
        """Begin a change, unless one was begun."""
        if not self._base.in_transaction:
            self._base.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make what was changed since `begin` durable."""
        if self._base.in_transaction:
            self._base.execute("COMMIT")

    def roll_back(self) -> None:
        """Undo what was changed since `begin`."""
        if self._base.in_transaction:
            self._base.execute("ROLLBACK")

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

    def facts(self) -> dict[str, Any]:
        """All facts, by name."""
        return {name: json.loads(value) for name, value in self._base.execute("SELECT name, value FROM facts")}

    @property
    def version(self) -> int:
        """A number that changes when another process has changed the record."""
        found: int = self._base.execute("PRAGMA data_version").fetchone()[0]
        return found

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Set some facts."""
        rows = [(name, json.dumps(value, sort_keys=True)) for name, value in facts.items()]
        self._base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    # ------------------------------------------------------------------------------------------------------- documents

    def add_documents(self, rows: Iterable[DocumentRow]) -> None:
        """Add kept documents."""
        self._base.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def add_removed(self, rows: Iterable[RemovedRow]) -> None:
        """Remember distinct texts that were not kept."""
        self._base.executemany("INSERT INTO removed VALUES (?, ?, ?, ?, ?, ?)", rows)

    def documents(self, numbers: Sequence[int]) -> dict[int, DocumentRow]:
        """The kept documents with these numbers."""
        return {row[0]: DocumentRow(*row) for row in self._of("documents", numbers)}

    def removed(self, numbers: Sequence[int]) -> dict[int, RemovedRow]:
        """The texts that were not kept with these numbers."""
        return {row[0]: RemovedRow(*row) for row in self._of("removed", numbers)}

    def _of(self, table: str, numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for first in range(0, len(numbers), AT_ONCE):
            some = numbers[first : first + AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self._base.execute(f"SELECT * FROM {table} WHERE number IN ({marks})", some)

    def documents_from(self, first: int) -> Iterator[DocumentRow]:
        """The kept documents from a number on, in their order."""
        rows = self._base.execute("SELECT * FROM documents WHERE number >= ? ORDER BY number", (first,))
        return (DocumentRow(*row) for row in rows)

    def removed_from(self, first: int) -> Iterator[RemovedRow]:
        """The texts that were not kept from a number on, in their order."""
        rows = self._base.execute("SELECT * FROM removed WHERE number >= ? ORDER BY number", (first,))
        return (RemovedRow(*row) for row in rows)

    def saw(self, numbers: Iterable[int], now: float) -> None:
        """Note that copies or near-duplicates of these kept documents were seen."""
        rows = [(now, number) for number in numbers]
        self._base.executemany("UPDATE documents SET last_seen = ? WHERE number = ?", rows)

    def forget(self, numbers: Sequence[int], marks: Marks) -> None:
        """Remove kept documents, and write the chunks of the marks that have their bits."""
        self._base.executemany("DELETE FROM documents WHERE number = ?", [(number,) for number in numbers])
        for chunk in sorted({number // (8 * CHUNK) for number in numbers}):
            bits = marks.bits[chunk * CHUNK : (chunk + 1) * CHUNK].tobytes()
            self._base.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (chunk, bits))

    def expired(self, now: float) -> Array:
        """int64[n]: the numbers of documents that have expired."""
        return self._numbers("SELECT number FROM documents WHERE expires <= ?", now)

    def seen_before(self, column: Literal["first_seen", "last_seen"], time: float) -> Array:
        """int64[n]: the numbers of documents that were first or last seen before a time."""
        return self._numbers(f"SELECT number FROM documents WHERE {column} < ?", time)

    def all_but_newest(self, newest: int) -> Array:
        """int64[n]: the numbers of all documents but the last ones that were added."""
        return self._numbers("SELECT number FROM documents ORDER BY number DESC LIMIT -1 OFFSET ?", newest)

    def _numbers(self, query: str, value: float) -> Array:
        return np.array([row[0] for row in self._base.execute(query, (value,))], np.int64)

    def renumber(self, numbers: Array) -> None:
        """Give the documents with these numbers (int64[n], ascending) the numbers from 0 on; forget all else, and the marks."""
        self._base.execute("CREATE TEMP TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        self._base.executemany(
            "INSERT INTO renumbered VALUES (?, ?)", ((old, new) for new, old in enumerate(numbers.tolist()))
        )
        moved = [(new, old) for new, old in enumerate(numbers.tolist()) if new != old]
        self._base.executemany("UPDATE documents SET number = ? WHERE number = ?", moved)  # upwards: no number is taken
        self._base.execute("DELETE FROM removed WHERE survivor NOT IN (SELECT old FROM renumbered)")
        self._base.execute("UPDATE removed SET survivor = (SELECT new FROM renumbered WHERE old = survivor)")
        self._base.execute("CREATE TEMP TABLE kept AS SELECT * FROM removed ORDER BY number")
        self._base.execute("DELETE FROM removed")
        columns = "digest, survivor, similarity, distance, last_seen"
        self._base.execute(f"INSERT INTO removed SELECT rowid - 1, {columns} FROM kept")
        for table in ("renumbered", "kept"):
            self._base.execute(f"DROP TABLE temp.{table}")
        self._base.execute("DELETE FROM gone")

    def counts(self) -> tuple[int, int]:
        """The number of rows of kept documents, and of texts that were not kept."""
        tables = ("documents", "removed")
        first, second = (self._base.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)
        return first, second

    def damage(self) -> list[str]:
        """What SQLite finds damaged, in its words."""
        try:
            found = [row[0] for row in self._base.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as problem:
            return [str(problem)]
        return [] if found == ["ok"] else found

    def tidy(self) -> None:
        """Give up room that is not used."""
        self._base.execute("VACUUM")

    def copy_to(self, path: Path) -> None:
        """Write the record as it is now to another file, while it may be written to."""
        with contextlib.closing(sqlite3.connect(path)) as target:
            self._base.backup(target)

    def marks(self) -> Marks:
        """The numbers of documents that were removed."""
        rows = dict(self._base.execute("SELECT chunk, bits FROM gone"))
        bits = np.zeros((max(rows) + 1) * CHUNK if rows else 0, np.uint8)
        for chunk, content in rows.items():
            bits[chunk * CHUNK : (chunk + 1) * CHUNK] = np.frombuffer(content, np.uint8)
        return Marks.of(bits)

    def close(self) -> None:
        """Close the record."""
        self._base.close()
