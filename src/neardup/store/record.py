"""The record of a store: SQLite, with write-ahead logging and full synchronisation. What it does not know was not acknowledged.

`documents` has each kept document under its number, in the order of keeping; `removed` has each distinct text that was not kept,
with its survivor, so that a later copy gets the same answer. Both are written in the order of their numbers, and have no other
index: where a digest or an id is, postings tell. `gone` has a bit for each number that was removed later; see `notes.py` for
`notes`, `kept_texts.py` and `judgements.py` for what a store may have besides. Each row has a checksum.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, NeardupError
from neardup.store.judgements import JudgementTable
from neardup.store.kept_texts import KeptTexts
from neardup.store.marks import CHUNK, Marks
from neardup.store.notes import Notes
from neardup.store.record_checks import agrees, document_checksum, fact_checksum, gone_checksum, removed_checksum
from neardup.store.record_tables import FACTS, MOVED, RENUMBERED, SCHEMA, SEEN
from neardup.store.versions import demand_version

FORMAT = 1
AT_ONCE = 500
"""Values in one query; SQLite allows 32,766."""


class DocumentRow(NamedTuple):
    """A row of `documents`: the id as JSON, times in seconds since 1970, the metadata as JSON, how good it is by `keep`."""

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


class Record(Notes, KeptTexts, JudgementTable):
    """The record of a store in a file."""

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False, lasts: bool = True) -> None:
        """Open the record, or create it; without `lasts`, nothing is synced.

        Raises:
            InputError: it cannot be opened.
            DataError: it is damaged, or of another format.
        """
        super().__init__(path)
        for name, function, count in (
            ("document_checksum", document_checksum, 7),
            ("removed_checksum", removed_checksum, 6),
        ):
            self._base.create_function(name, count, function, deterministic=True)
        try:
            with self._told():
                self._open(create=create, readonly=readonly, lasts=lasts)
        except BaseException:
            self._base.close()
            raise

    def _open(self, *, create: bool, readonly: bool, lasts: bool) -> None:
        if readonly:
            self._base.execute("PRAGMA query_only = ON")
        else:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute(f"PRAGMA synchronous = {'FULL' if lasts else 'OFF'}")
        if create:
            with self.changing():
                for statement in SCHEMA.split(";\n"):
                    self._base.execute(statement)
                if not self._base.execute("SELECT 1 FROM facts WHERE name = 'format'").fetchone():
                    self.set_facts({"format": FORMAT})
        found = self._base.execute("SELECT value FROM facts WHERE name = 'format'").fetchone()
        if found is None:
            raise self._damage("the fact `format` is missing")
        demand_version(self.path, json.loads(found[0]), FORMAT)

    def facts(self) -> dict[str, Any]:
        """All facts, by name.

        Raises:
            DataError: one is missing, or is not what was written.
        """
        found = {}
        for name, value, checksum in self._rows("SELECT name, value, checksum FROM facts"):
            if not agrees(fact_checksum, (name, value), checksum):
                raise self._damage(f"the fact `{name}` is not what was written")
            found[name] = json.loads(value)
        if missing := FACTS - found.keys():
            raise self._damage(f"the fact `{min(missing)}` is missing")
        return found

    @property
    def is_complete(self) -> bool:
        """Whether it has more than a crash has left of one that was being made."""
        return bool(list(self._rows("SELECT 1 FROM facts WHERE name = 'recipe'")))

    @property
    def version(self) -> int:
        """A number that changes when another process has changed the record."""
        found: int = next(self._rows("PRAGMA data_version"))[0]
        return found

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Set some facts."""
        values = {name: json.dumps(value, sort_keys=True) for name, value in facts.items()}
        rows = [(name, value, fact_checksum(name, value)) for name, value in values.items()]
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)

    # ------------------------------------------------------------------------------------------------------- documents

    def add_documents(self, rows: Iterable[DocumentRow]) -> None:
        """Add kept documents."""
        sealed = [(*row, document_checksum(*row)) for row in rows]
        self._write("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sealed)

    def add_removed(self, rows: Iterable[RemovedRow]) -> None:
        """Remember distinct texts that were not kept."""
        sealed = [(*row, removed_checksum(*row)) for row in rows]
        self._write("INSERT INTO removed VALUES (?, ?, ?, ?, ?, ?, ?)", sealed)

    def documents(self, numbers: Sequence[int]) -> dict[int, DocumentRow]:
        """The kept documents with these numbers.

        Raises:
            DataError: a row is missing, or is not what was written.
        """
        found = self.documents_there(numbers)
        if len(found) < len(numbers) and (missing := set(numbers) - found.keys()):
            raise self._damage(f"row {min(missing)} of `documents` is missing")
        return found

    def documents_there(self, numbers: Sequence[int]) -> dict[int, DocumentRow]:
        """The kept documents with those of these numbers that there are."""
        return {row[0]: self._document(row) for row in self._of("documents", numbers)}

    def removed(self, numbers: Sequence[int]) -> dict[int, RemovedRow]:
        """The texts that were not kept with these numbers."""
        return {row[0]: self._removed(row) for row in self._of("removed", numbers)}

    def _of(self, table: str, numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for first in range(0, len(numbers), AT_ONCE):
            some = numbers[first : first + AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self._rows(f"SELECT * FROM {table} WHERE number IN ({marks})", some)

    def documents_from(self, first: int) -> Iterator[DocumentRow]:
        """The kept documents from a number on, in their order."""
        return map(self._document, self._rows("SELECT * FROM documents WHERE number >= ? ORDER BY number", (first,)))

    def removed_from(self, first: int) -> Iterator[RemovedRow]:
        """The texts that were not kept from a number on, in their order."""
        return map(self._removed, self._rows("SELECT * FROM removed WHERE number >= ? ORDER BY number", (first,)))

    def removed_before(self, number: int, limit: int) -> list[RemovedRow]:
        """So many of the texts that were not kept with smaller numbers, the latest first."""
        query = "SELECT * FROM removed WHERE number < ? ORDER BY number DESC LIMIT ?"
        return list(map(self._removed, self._rows(query, (number, limit))))

    def least_similar(self, limit: int) -> list[RemovedRow]:
        """So many of the texts that were not kept, those first that are least like their survivors."""
        query = "SELECT * FROM removed ORDER BY similarity, distance DESC, number DESC LIMIT ?"
        return list(map(self._removed, self._rows(query, (limit,))))

    def _document(self, row: tuple[Any, ...]) -> DocumentRow:
        found = DocumentRow(*row[:-1])
        if not agrees(document_checksum, found, row[-1]):
            raise self._damage(f"row {found.number} of `documents` is not what was written")
        return found

    def _removed(self, row: tuple[Any, ...]) -> RemovedRow:
        found = RemovedRow(*row[:-1])
        if not agrees(removed_checksum, found, row[-1]):
            raise self._damage(f"row {found.number} of `removed` is not what was written")
        return found

    def saw(self, numbers: Iterable[int], now: float) -> None:
        """Note that copies or near-duplicates of these kept documents were seen."""
        self._write(f"UPDATE documents SET last_seen = ?1, {SEEN} WHERE number = ?2", [(now, each) for each in numbers])

    def forget(self, numbers: Sequence[int], marks: Marks) -> None:
        """Remove kept documents, and write the chunks of the marks that have their bits."""
        self._write("DELETE FROM documents WHERE number = ?", [(number,) for number in numbers])
        if self.has_texts:
            self._forget_texts(numbers)
        rows = []
        for chunk in sorted({number // (8 * CHUNK) for number in numbers}):
            bits = marks.bits[chunk * CHUNK : (chunk + 1) * CHUNK].tobytes()
            rows.append((chunk, bits, gone_checksum(chunk, bits)))
        self._write("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", rows)

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
        return np.array([row[0] for row in self._rows(query, (value,))], np.int64)

    def renumber(self, numbers: Array) -> None:
        """Give the documents with these numbers (int64[n], ascending) the numbers from 0 on; forget all else, and the marks."""
        with self._told():
            self._base.execute("CREATE TEMP TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
            self._base.executemany(
                "INSERT INTO renumbered VALUES (?, ?)", ((old, new) for new, old in enumerate(numbers.tolist()))
            )
            moved = [(new, old) for new, old in enumerate(numbers.tolist()) if new != old]
            upwards = f"UPDATE documents SET number = ?1, {MOVED} WHERE number = ?2"  # so that no number is taken
            self._base.executemany(upwards, moved)
            self._base.execute(
                "CREATE TEMP TABLE kept AS SELECT removed.*, new FROM removed JOIN renumbered ON old = survivor ORDER BY number"
            )
            self._base.execute("DELETE FROM removed")
            self._base.execute(
                f"INSERT INTO removed SELECT rowid - 1, digest, new, {RENUMBERED} FROM kept ORDER BY rowid"
            )
            self._renumber_texts()
            for table in ("renumbered", "kept"):
                self._base.execute(f"DROP TABLE temp.{table}")
            self._base.execute("DELETE FROM gone")

    def counts(self) -> tuple[int, int]:
        """The number of rows of kept documents, and of texts that were not kept."""
        tables = ("documents", "removed")
        first, second = (next(self._rows(f"SELECT count(*) FROM {table}"))[0] for table in tables)
        return first, second

    def demand_rows(self) -> None:
        """Refuse a record that has not as many rows as its facts and marks say.

        Raises:
            DataError: there are too few.
        """
        facts, (documents, removed) = self.facts(), self.counts()
        for table, count, known in (
            ("documents", documents, facts["documents"] - self.marks().count),
            ("removed", removed, facts["removed"]),
        ):
            if count != known:
                raise self._damage(f"`{table}` has {count:,} rows, of {known:,}")

    def damage(self) -> Iterator[str]:
        """What is damaged: by what SQLite finds, in its words, and by the checksums of rows."""
        try:
            found = [row[0] for row in self._rows("PRAGMA integrity_check")]
            yield from (f"{self.path.name}: {each}" for each in found if each != "ok")
            self.facts()
            self.marks()
            documents, removed = (self._rows(f"SELECT * FROM {table}") for table in ("documents", "removed"))
            for rows, read in (
                (documents, self._document),
                (removed, self._removed),
                (self.all_notes(), self._note),
                (self.all_judgements(), self._judgement),
            ):
                for row in rows:
                    try:
                        read(row)
                    except DataError as problem:
                        yield str(problem)
        except NeardupError as problem:
            yield str(problem)

    def tidy(self) -> None:
        """Give up room that is not used."""
        self._base.execute("VACUUM")

    def copy_to(self, path: Path) -> None:
        """Write the record as it is now to another file, while it may be written to."""
        with contextlib.closing(sqlite3.connect(path)) as target:
            self._base.backup(target)

    def marks(self) -> Marks:
        """The numbers of documents that were removed.

        Raises:
            DataError: some are not what was written.
        """
        rows = {}
        for chunk, bits, checksum in self._rows("SELECT chunk, bits, checksum FROM gone"):
            if not agrees(gone_checksum, (chunk, bits), checksum):
                raise self._damage(f"row {chunk} of `gone` is not what was written")
            rows[chunk] = np.frombuffer(bits, np.uint8)
        bits = np.zeros((max(rows) + 1) * CHUNK if rows else 0, np.uint8)
        for chunk, content in rows.items():
            bits[chunk * CHUNK : (chunk + 1) * CHUNK] = content
        return Marks.of(bits)
