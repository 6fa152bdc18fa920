"""The sizes of blocks in a store, which tests make small: answers do not depend on them."""

_TEXTS = ("session.reader", "session.writer", "session.prepared", "decisions.add", "reference", "upkeep.build_from_run")
SIZES = {
    "learned": ["candidates.exact.MIN_DOCUMENTS_LEARNED"],
    "growth": ["candidates.exact.GROWTH_FACTOR"],
    "moved": ["candidates.exact.MAX_DOCUMENTS_MOVED"],
    "pairs": ["formats.segments.MANY"],
    "merged": ["formats.segments.SIZE_FACTOR"],
    "chunk": ["formats.appended_file.CHUNK_BYTES"],
    "in_memory": ["formats.derived.MAX_ENTRIES_IN_MEMORY"],
    "texts": [f"{module}.TEXTS_AT_ONCE" for module in _TEXTS],
    "replayed": ["session.lookup.DOCUMENTS_AT_ONCE"],
    "numbers": ["session.writer.MAX_NUMBERS"],
    "attempts": ["session.reader.ATTEMPTS"],
    "rows": ["postgresql.shared_files.ROWS_AT_ONCE"],
    "followed": ["postgresql.catching_up.DOCUMENTS_AT_ONCE"],
    "changes": ["postgresql.log.CHANGES_AT_ONCE"],
    "ahead": ["postgresql.log.ROWS_AHEAD"],
    "bytes": ["postgresql.log.MAX_BYTES"],
    "kept_changes": ["postgresql.upkeep.KEPT_CHANGES"],
    "lock_seconds": ["postgresql.log.LOCK_SECONDS"],
    "patience": ["postgresql.connection.MIN_PATIENCE_SECONDS"],
}


def set_sizes(monkeypatch, **sizes):
    """Let stores have these sizes until the test ends."""
    for name, size in sizes.items():
        for constant in SIZES[name]:
            monkeypatch.setattr(f"neardup.store.{constant}", size)
