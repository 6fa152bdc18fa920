"""TABLES of a record, and how the checksums of rows that change follow.

SQLite checks how its pages are built, and not what cells hold, so each row has a checksum: the CRC-32 of its values.
"""

import struct
from collections.abc import Callable, Sequence
from math import nan
from typing import Any
from zlib import crc32

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    first_seen REAL NOT NULL,
    last_seen REAL NOT NULL,
    expires REAL,
    metadata TEXT,
    rank REAL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS removed (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    survivor INTEGER NOT NULL,
    similarity REAL,
    distance INTEGER NOT NULL,
    last_seen REAL NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS gone (chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
"""
NOTES = """
CREATE TABLE IF NOT EXISTS notes (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    until REAL NOT NULL,
    checksum INTEGER NOT NULL
) STRICT
"""
"""The table that a record gets with its first note."""
FACTS = {
    "format", "store", "recipe", "max_distance", "rules", "plan", "documents", "removed", "ends", "generation", "derived", "state",
}  # fmt: skip
"""What a record has that is complete."""
SEEN = "checksum = checksum + CAST(?1 * 1e6 AS INTEGER) - CAST(last_seen * 1e6 AS INTEGER)"
MOVED = """checksum = checksum
    + document_checksum(?1, id, first_seen, last_seen, expires, metadata, rank)
    - document_checksum(number, id, first_seen, last_seen, expires, metadata, rank)"""
RENUMBERED = """similarity, distance, last_seen, checksum
    + removed_checksum(rowid - 1, digest, new, similarity, distance, last_seen)
    - removed_checksum(number, digest, survivor, similarity, distance, last_seen)"""
"""Checksums of rows that change: the differences keep a wrong one wrong."""


_DOCUMENT = struct.Struct("<qddd").pack
_REMOVED = struct.Struct("<q16sqdqd").pack
_JUDGEMENT = struct.Struct("<16s16sqqdd").pack
_ORPHAN = struct.Struct("<qqd").pack
_NUMBER = struct.Struct("<q").pack
_REAL = struct.Struct("<d").pack


def _real(value: float | None) -> float:
    """A value as SQLite gives it back: NaN is null to it, and -0.0 is 0.0."""
    return nan if value is None or value != value else value + 0.0


def document_checksum(
    number: int,
    id: str,  # noqa: A002
    first_seen: float,
    last_seen: float,
    expires: float | None,
    metadata: str | None,
    rank: float | None,
) -> int:
    """The checksum of a row of `documents`: that of all but `last_seen`, plus this in microseconds, so that SQL can add to it."""
    numbers = _DOCUMENT(number, first_seen, _real(expires), _real(rank))
    texts = id if metadata is None else f"{id}\0{metadata}"
    return crc32(texts.encode(), crc32(numbers)) + int(last_seen * 1e6)


def removed_checksum(
    number: int, digest: bytes, survivor: int, similarity: float | None, distance: int, last_seen: float
) -> int:
    """The checksum of a row of `removed`."""
    return crc32(_REMOVED(number, digest, survivor, _real(similarity), distance, last_seen))


def fact_checksum(name: str, value: str) -> int:
    """The checksum of a row of `facts`."""
    return crc32(f"{name}\0{value}".encode())


def gone_checksum(chunk: int, bits: bytes) -> int:
    """The checksum of a row of `gone`."""
    return crc32(bits, crc32(_NUMBER(chunk)))


def note_checksum(key: str, value: str, until: float) -> int:
    """The checksum of a row of `notes`."""
    return crc32(f"{key}\0{value}".encode(), crc32(_REAL(until)))


def judgement_checksum(
    left: bytes,
    right: bytes,
    kind: str,
    left_id: str | None,
    right_id: str,
    same: bool,
    similarity: float | None,
    distance: int,
    judged: float,
    left_text: bytes | None,
    right_text: bytes | None,
) -> int:
    """The checksum of a row of `judgements`."""
    numbers = _JUDGEMENT(left, right, same, distance, _real(similarity), _real(judged))
    names = f"{kind}\0{left_id or ''}\0{right_id}\0".encode()
    return crc32(right_text or b"", crc32(left_text or b"", crc32(names, crc32(numbers))))


def skipped_checksum(id: str, survivor: int, digest: bytes | None) -> int:  # noqa: A002
    """The checksum of a row of `skipped`: that of all but `survivor`, plus this, so that SQL can add to it."""
    return crc32(id.encode(), crc32(digest or b"")) + survivor


def skipped_content_checksum(survivor: int, digest: bytes, content: bytes) -> int:
    """The checksum of a row of `skipped_contents`, made in the same way."""
    return crc32(content, crc32(digest)) + survivor


def orphan_checksum(number: int, id: str, compared: bool, orphaned: float) -> int:  # noqa: A002
    """The checksum of a row of `orphans`."""
    return crc32(id.encode(), crc32(_ORPHAN(number, compared, orphaned)))


def agrees(checksum_of: Callable[..., int], values: Sequence[Any], checksum: Any) -> bool:
    """Whether the checksum of values is the one that was written. Damage may have given them other types."""
    try:
        return bool(checksum_of(*values) == checksum)
    except (struct.error, TypeError, ValueError, AttributeError, OverflowError):
        return False
