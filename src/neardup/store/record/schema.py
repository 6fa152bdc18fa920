"""TABLES of a record, and how the checksums of rows that change follow.

SQLite does not check what cells hold, so each row has a checksum; see `record_checks`.
"""

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
