"""The record of a store: SQLite, with write-ahead logging and full synchronisation. What it does not know was not acknowledged.

`documents` has each kept document under its number, in the order of keeping; `removed` has each distinct text that was not kept,
with its survivor, so that a later copy gets the same answer. Both are written in the order of their numbers, and have no other
index: where a digest or an id is, postings tell. `gone` has a bit for each number that was removed later. See
`documents_table.py` for the first two; `notes_table.py`, `texts_table.py`, `judgements_table.py` and `skipped_table.py` for what a
store may have besides. Each row has a checksum.
"""

import contextlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError, NeardupError
from neardup.store.formats.removal_bits import CHUNK_BYTES, Marks
from neardup.store.formats.versions import demand_version
from neardup.store.record.documents_table import DocumentTables
from neardup.store.record.judgements_table import JudgementTable
from neardup.store.record.notes_table import Notes
from neardup.store.record.schema import (
    FACTS,
    MOVED,
    RENUMBERED,
    SCHEMA,
    agrees,
    document_checksum,
    fact_checksum,
    gone_checksum,
    removed_checksum,
)
from neardup.store.record.skipped_table import NAMES, SkippedTables
from neardup.store.record.texts_table import KeptTexts

FORMAT = 1
PAGES_AT_ONCE = 1 << 10
"""Pages that are copied at a time."""


WRITER = "writer"
"""The fact that says which process has written last; readers and older versions ignore it."""


class Record(DocumentTables, Notes, KeptTexts, JudgementTable, SkippedTables):
    """The record of a store in a file."""

    _own: str | None = None
    _seen: tuple[str | None, tuple[int, int]]
    _has_claimed = False
    _lock: Path
    _locked_by: str
    _changes_before = 0

    def __init__(self, path: Path, *, create: bool = False, readonly: bool = False, lasts: bool = True) -> None:
        """Open the record, or create it; without `lasts`, nothing is synced.

        Raises:
            InputError: it cannot be opened.
            DataError: it is damaged, or of another format.
        """
        self._reads_only, self._connections = readonly, 0
        super().__init__(path)
        try:
            with self._translated_errors():
                self._open(create=create, readonly=readonly, lasts=lasts)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        super()._connect()
        self._connections += 1
        self._base.create_function("document_checksum", 7, document_checksum, deterministic=True)
        self._base.create_function("removed_checksum", 6, removed_checksum, deterministic=True)
        if self._reads_only:
            self._base.execute("PRAGMA query_only = ON")

    def _open(self, *, create: bool, readonly: bool, lasts: bool) -> None:
        if not readonly:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute(f"PRAGMA synchronous = {'FULL' if lasts else 'OFF'}")
        if create:
            with self.changing():
                self._make_tables(SCHEMA)
                if not self._base.execute("SELECT 1 FROM facts WHERE name = 'format'").fetchone():
                    self.set_facts({"format": FORMAT})
        found = self._base.execute("SELECT value FROM facts WHERE name = 'format'").fetchone()
        if found is None:
            raise self._damage("the fact `format` is missing")
        self._was_opened()
        demand_version(self.path, json.loads(found[0]), FORMAT)

    def claim(self, lock: Path) -> None:
        """Be the only writer from now on: a change is refused if another process has written since, which the lock should not let
        happen, but may on a network file system. A change begins, within which the store is read: nobody else writes meanwhile.

        `lock`: a file that says who writes, too. Machines without common memory may not see what others write to the record.
        """
        super().begin()
        self._changes_before = self._base.total_changes
        who = {"host": os.uname().nodename, "process": os.getpid(), "session": secrets.token_hex(8)}
        self._own = json.dumps(who, sort_keys=True)
        self._lock, self._locked_by = lock, lock.read_text(errors="replace")
        self._seen = (self._writer(), self.version)

    def begin(self) -> None:
        """Begin a change, unless one was begun.

        Raises:
            InputError: another process has written since this one has claimed the record.
        """
        if self.is_busy:
            return
        super().begin()
        if self._own is None:
            return
        if self.has_moved:
            self.roll_back()
            raise InputError(
                f"{self.path.parent} is not the folder any more that was opened: it was removed, or another one is in its place. "
                "This change was not made. Open the store again."
            )
        self._changes_before, found = self._base.total_changes, self._writer()
        locked_by = self._lock.read_text(errors="replace")
        is_other = found != self._own if self._has_claimed else (found, self.version) != self._seen
        if is_other or locked_by != self._locked_by:
            self.roll_back()
            raise self.second_writer(found if is_other else locked_by)

    def second_writer(self, who: str | None) -> InputError:
        """The error for a change beside another writer, of which the record or the lock says `who` it is."""
        named = "another process"
        with contextlib.suppress(ValueError, TypeError, KeyError):
            other = json.loads(who or "{}")
            named = f"process {other['process']} on {other['host']}"
        return InputError(
            f"{self.path.parent} has a second writer: {named} has changed the store meanwhile. The lock does not keep the two "
            "apart, as on some network file systems. This change was not made. Let one process write, or use a store in "
            "PostgreSQL."
        )

    def insist(self) -> None:
        """Write who writes, within a change, although nothing else may change: another writer that lives is refused from now on."""
        self.set_facts({WRITER: json.loads(self._own or "null")})

    def commit(self) -> None:
        """Make what was changed since `begin` durable; the first change says who writes."""
        claims = self._own is not None and not self._has_claimed and self._base.total_changes > self._changes_before
        if claims:
            self.set_facts({WRITER: json.loads(self._own or "")})
            self._lock.write_text(self._own or "")
            self._locked_by = self._own or ""
        super().commit()
        self._has_claimed |= claims

    def _writer(self) -> str | None:
        return next((row[0] for row in self._rows("SELECT value FROM facts WHERE name = ?", (WRITER,))), None)

    def facts(self) -> dict[str, Any]:
        """All facts, by name; a DataError if one is missing, or is not what was written."""
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
    def version(self) -> tuple[int, int]:
        """What changes when another process has changed the record."""
        return self._connections, next(self._rows("PRAGMA data_version"))[0]

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Set some facts."""
        values = {name: json.dumps(value, sort_keys=True) for name, value in facts.items()}
        rows = [(name, value, fact_checksum(name, value)) for name, value in values.items()]
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)

    def forget(self, numbers: Sequence[int], marks: Marks) -> None:
        """Remove kept documents, and write the chunks of the marks that have their bits."""
        self._write("DELETE FROM documents WHERE number = ?", [(number,) for number in numbers])
        if self.has_texts:
            self._forget_texts(numbers)
        rows = []
        for chunk in sorted({number // (8 * CHUNK_BYTES) for number in numbers}):
            bits = marks.bits[chunk * CHUNK_BYTES : (chunk + 1) * CHUNK_BYTES].tobytes()
            rows.append((chunk, bits, gone_checksum(chunk, bits)))
        self._write("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", rows)

    def renumber(self, numbers: Array) -> None:
        """Give the documents with these numbers (int64[n], ascending) the numbers from 0 on; forget all else, and the marks."""
        with self._translated_errors():
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
            self._renumber_skipped()
            for table in ("renumbered", "kept"):
                self._base.execute(f"DROP TABLE temp.{table}")
            self._base.execute("DELETE FROM gone")

    def demand_rows(self) -> None:
        """Refuse (DataError) a record that has not as many rows as its facts and marks say."""
        facts = self.facts()
        for table, known in (("documents", facts["documents"] - self.marks().count), ("removed", facts["removed"])):
            count = next(self._rows(f"SELECT count(*) FROM {table}"))[0]
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
                *zip(map(self.all_skipped, NAMES), (self._skipped, self._skipped_content, self._orphan), strict=True),
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
        """Write the record as it is now to another file; an InputError in the middle of a change, for whose end SQLite would wait
        for ever.
        """
        if self.is_busy and not self._reads_only:
            raise InputError(f"{self.path} is being changed. Copy the store when that is done.")
        with contextlib.closing(sqlite3.connect(path)) as target:
            self._base.backup(target, pages=PAGES_AT_ONCE, progress=lambda *_: None)  # in which Python hears signals

    def marks(self) -> Marks:
        """The numbers of documents that were removed; a DataError if some are not what was written."""
        rows = {}
        for chunk, bits, checksum in self._rows("SELECT chunk, bits, checksum FROM gone"):
            self._demand_whole("gone", chunk, gone_checksum, (chunk, bits), checksum)
            rows[chunk] = np.frombuffer(bits, np.uint8)
        bits = np.zeros((max(rows) + 1) * CHUNK_BYTES if rows else 0, np.uint8)
        for chunk, content in rows.items():
            bits[chunk * CHUNK_BYTES : (chunk + 1) * CHUNK_BYTES] = content
        return Marks.of(bits)
