"""The record of a store: SQLite, with write-ahead logging and full synchronisation. What it does not know was not acknowledged.

`texts` has each unique text once: the kept ones with their ids, and the removed ones with their survivors, so that a later copy
of a removed text gets the survivor that it had. Numbers grow in the order of arrival and are never used again.
"""

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError
from neardup.store.run_file import Run

FORMAT = 1
TOGETHER = 500
"""Values in one query; SQLite allows 32,766."""

SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    id TEXT UNIQUE,
    survivor INTEGER,
    similarity REAL,
    distance INTEGER,
    tokens INTEGER NOT NULL,
    fingerprint BLOB NOT NULL,
    elements_at INTEGER,
    elements_size INTEGER,
    elements_checksum INTEGER,
    sketch_at INTEGER,
    sketch_size INTEGER,
    sketch_checksum INTEGER,
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL
) STRICT;
CREATE INDEX by_survivor ON texts (survivor) WHERE survivor IS NOT NULL;
"""


COLUMNS = re.findall(r"^    (\w+) ", SCHEMA.partition("texts")[2], re.MULTILINE)
"""The columns of `texts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A unique text.

    Attributes:
        number: in the order of arrival.
        digest: 16 bytes, equal for equal normalized texts.
        id: JSON; None for a removed text.
        survivor: the number of its survivor; None for a kept text.
        similarity, distance: to the survivor.
        tokens: their number.
        fingerprint: big-endian bytes.
        elements, sketch: where these are in their files; None for a removed text.
        first_seen, last_seen: seconds since 1970.
    """

    number: int
    digest: bytes
    id: str | None
    survivor: int | None = None
    similarity: float | None = None
    distance: int | None = None
    tokens: int
    fingerprint: bytes
    elements: Run | None
    sketch: Run | None
    first_seen: float
    last_seen: float

    def row(self) -> tuple[Any, ...]:
        """The values of COLUMNS."""
        where = [*_of_run(self.elements), *_of_run(self.sketch)]
        to_survivor = (self.survivor, self.similarity, self.distance)
        seen = (self.first_seen, self.last_seen)
        return (self.number, self.digest, self.id, *to_survivor, self.tokens, self.fingerprint, *where, *seen)

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> "Text":
        """Restore what `row` returned."""
        number, digest, name, survivor, similarity, distance, tokens, fingerprint, *runs, first_seen, last_seen = row
        return cls(
            number=number,
            digest=digest,
            id=name,
            survivor=survivor,
            similarity=similarity,
            distance=distance,
            tokens=tokens,
            fingerprint=fingerprint,
            elements=None if runs[0] is None else Run(*runs[:3]),
            sketch=None if runs[3] is None else Run(*runs[3:]),
            first_seen=first_seen,
            last_seen=last_seen,
        )


def _of_run(run: Run | None) -> tuple[int | None, ...]:
    return (None, None, None) if run is None else (run.at, run.size, run.checksum)


class Record:
    """The record of a store in a file."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the record, or create it.

        Raises:
            InputError: it cannot be opened.
            DataError: it is damaged, or of another format.
        """
        self.path = path
        self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._open(create=create)
        except BaseException:
            self._base.close()
            raise

    def _open(self, *, create: bool) -> None:
        path = self.path
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            if create:
                with self.changing():
                    for statement in SCHEMA.split(";\n"):
                        self._base.execute(statement)
                    self.set_facts({"format": FORMAT})
            written = self.facts().get("format")
        except sqlite3.OperationalError as problem:
            raise InputError(f"{path} cannot be opened: {problem}.") from None
        except sqlite3.DatabaseError as problem:
            raise DataError(f"{path} is damaged: {problem}. Restore it from a backup.") from None
        if written != FORMAT:
            raise DataError(f"{path} is of format {written}; this version of neardup reads {FORMAT}.")

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """One change: durable when the block ends, or nothing of it."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def facts(self) -> dict[str, Any]:
        """The facts about the store."""
        return {name: json.loads(value) for name, value in self._base.execute("SELECT name, value FROM facts")}

    def set_facts(self, facts: dict[str, Any]) -> None:
        """Set some facts."""
        rows = [(name, json.dumps(value, sort_keys=True)) for name, value in facts.items()]
        self._base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def add(self, texts: Iterable[Text]) -> None:
        """Add unique texts."""
        rows = [text.row() for text in texts]
        self._base.executemany(f"INSERT INTO texts VALUES ({', '.join('?' * len(COLUMNS))})", rows)

    def saw(self, numbers: Iterable[int], now: float) -> None:
        """Note that copies of these texts were seen."""
        self._base.executemany("UPDATE texts SET last_seen = ? WHERE number = ?", [(now, number) for number in numbers])

    def of_digests(self, digests: Sequence[bytes]) -> dict[bytes, Text]:
        """The texts with these digests."""
        return {text.digest: text for text in self._where("digest", digests)}

    def of_numbers(self, numbers: Sequence[int]) -> dict[int, Text]:
        """The texts with these numbers."""
        return {text.number: text for text in self._where("number", numbers)}

    def of_ids(self, ids: Sequence[str]) -> dict[str, Text]:
        """The kept texts with these ids."""
        return {text.id: text for text in self._where("id", ids) if text.id is not None}

    def _where(self, column: str, values: Sequence[Any]) -> Iterator[Text]:
        for first in range(0, len(values), TOGETHER):
            some = values[first : first + TOGETHER]
            marks = ", ".join("?" * len(some))
            query = f"SELECT {', '.join(COLUMNS)} FROM texts WHERE {column} IN ({marks})"
            for row in self._base.execute(query, some):
                yield Text.of_row(row)

    def kept(self) -> Iterator[Text]:
        """All kept texts, in the order of arrival."""
        query = f"SELECT {', '.join(COLUMNS)} FROM texts WHERE survivor IS NULL ORDER BY number"
        return (Text.of_row(row) for row in self._base.execute(query))

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget kept texts, and the removed texts whose survivors they are."""
        for number in numbers:
            self._base.execute("DELETE FROM texts WHERE number = ? OR survivor = ?", (number, number))

    def counts(self) -> tuple[int, int]:
        """The number of kept texts, and of removed ones."""
        row = self._base.execute("SELECT count(*), count(survivor) FROM texts").fetchone()
        return row[0] - row[1], row[1]

    def close(self) -> None:
        """Close the record."""
        self._base.close()
