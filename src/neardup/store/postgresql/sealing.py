"""SEAL rows of documents and of texts that were not kept: checksums of what stays when a compaction gives other numbers."""

from zlib import crc32

from neardup.store.postgresql.log_rows import StoredRemoved, StoredRow
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.record_checks import document_checksum, removed_checksum


def sealed(row: DocumentRow, content: bytes) -> StoredRow:
    """A document with the checksum of all but its number and the time when it was seen last."""
    return StoredRow(row, content, crc32(content, document_checksum(*row._replace(number=0, last_seen=0.0))))


def sealed_removed(row: RemovedRow) -> StoredRemoved:
    """A text that was not kept, with the checksum of all but its number and its survivor's."""
    return StoredRemoved(row, removed_checksum(*row._replace(number=0, survivor=0)))
