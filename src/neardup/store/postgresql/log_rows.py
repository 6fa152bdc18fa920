"""ROWS of the log of a store in PostgreSQL, as values; and their checksums, of what stays when a compaction gives other numbers."""

from typing import Any, NamedTuple
from zlib import crc32

from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NoteRow
from neardup.store.record.schema import document_checksum, removed_checksum
from neardup.store.record.skipped_table import SkippedContent, SkippedRow

NO_REQUEST = ""
"""The request of a store that nothing has changed yet."""


class Head(NamedTuple):
    """How far a store has come.

    Attributes:
        id: which store it is, 16 hexadecimal digits, given when it was made.
        rows: the key of its rows in other tables; another one after each compaction.
        position: the number of the last change, from 1 on; 0 before the first.
        request: what the service that made that change has called it: no two changes have the same.
        documents, removed: how many numbers were given.
        base: the change up to which rows have what changes have seen and forgotten, since a compaction.
        state: the plain values of programs, as JSON; None before the first.
    """

    id: str
    rows: int
    position: int
    request: str
    documents: int
    removed: int
    base: int
    state: str | None


class StoredRow(NamedTuple):
    """A row of `documents`; without content if it was forgotten. `text`: to be written; see `neardup.store.record.sealed_texts`."""

    row: DocumentRow
    content: bytes | None
    checksum: int
    text: bytes | None = None


class StoredRemoved(NamedTuple):
    """A row of `removed`; without digest if it was forgotten. `id`, `text`: to be written, if the store keeps texts."""

    row: RemovedRow
    checksum: int
    id: str | None = None
    text: bytes | None = None


class Change(NamedTuple):
    """A row of `changes`.

    Attributes:
        at: when it was made, in seconds since 1970.
        seen: the numbers of kept documents that others have matched.
        forgot: the numbers of documents that were forgotten.
    """

    at: float
    seen: list[int]
    forgot: list[int]


class Pending:
    """What a call has changed so far, and is not written yet."""

    def __init__(self) -> None:
        self.at, self.bytes = 0.0, 0
        self.documents: list[StoredRow] = []
        self.removed: list[StoredRemoved] = []
        self.seen, self.forgot, self.is_anything = set[int](), list[int](), False
        self.notes: list[NoteRow] = []
        self.judgements: list[JudgementRow] = []
        self.unjudged: list[bytes] = []
        self.skipped: dict[str, SkippedRow | None] = {}
        self.skipped_contents: list[SkippedContent] = []


class Known(NamedTuple):
    """What a replica has: see `Head`."""

    rows: int
    position: int
    documents: int
    removed: int


class Ahead(NamedTuple):
    """What the tables have after what is known, up to `ROWS_AHEAD` rows of each; the request of the change that is known; the notes
    that were asked for; and the time by the clock of the database.
    """

    known: Known
    request: str | None
    documents: list[StoredRow]
    removed: list[StoredRemoved]
    changes: list[Change]
    notes: dict[str, NoteRow]
    clock: float


def documents_of(found: Any) -> list[StoredRow]:
    """The rows that a query of documents has found."""
    return [StoredRow(DocumentRow(*row[:7]), row[7], row[8]) for row in found.fetchall()]


def removed_of(found: Any) -> list[StoredRemoved]:
    """The rows that a query of texts that were not kept has found."""
    return [StoredRemoved(RemovedRow(*row[:6]), row[6]) for row in found.fetchall()]


def changes_of(found: Any) -> list[Change]:
    """The rows that a query of changes has found."""
    return [Change(at, seen or [], forgot or []) for at, seen, forgot in found.fetchall()]


def sealed(row: DocumentRow, content: bytes) -> StoredRow:
    """A document with the checksum of all but its number and the time when it was seen last."""
    return StoredRow(row, content, crc32(content, document_checksum(*row._replace(number=0, last_seen=0.0))))


def sealed_removed(row: RemovedRow) -> StoredRemoved:
    """A text that was not kept, with the checksum of all but its number and its survivor's."""
    return StoredRemoved(row, removed_checksum(*row._replace(number=0, survivor=0)))


def without_nan(row: DocumentRow) -> DocumentRow:
    """A row as the record gives it back: NaN is null to SQLite."""
    return row._replace(rank=None) if row.rank is not None and row.rank != row.rank else row
