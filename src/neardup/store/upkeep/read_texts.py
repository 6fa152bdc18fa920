"""READ TEXTS that a store keeps: of documents and of remembered duplicates."""

from collections.abc import Sequence

from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.sealed_texts import Original, text_of
from neardup.store.session.backend import Backend


def texts_of_documents(files: Backend, rows: Sequence[DocumentRow], digests: Sequence[bytes]) -> list[str | None]:
    """The texts of kept documents with these digests; None where there is none.

    Raises:
        DataError: one is not what was written.
    """
    if not files.has_texts:
        return [None] * len(rows)
    found = files.originals({row.number: row.id for row in rows})
    return [
        text_of(digest, found.get(row.number), f"{files.texts_shown} is damaged: the text of the document {row.id}")
        for row, digest in zip(rows, digests, strict=True)
    ]


def texts_of_removed(files: Backend, rows: Sequence[RemovedRow]) -> tuple[list[str | None], list[str | None]]:
    """The ids (JSON) of the documents that came, and the texts, of remembered duplicates; None where there is none.

    Raises:
        DataError: a text is not what was written.
    """
    originals = originals_of_removed(files, rows)
    texts = [
        text_of(row.digest, each, f"{files.texts_shown} is damaged: the text of remembered duplicate {row.number:,}")
        for row, each in zip(rows, originals, strict=True)
    ]
    return [None if each is None else each.name for each in originals], texts


def originals_of_removed(files: Backend, rows: Sequence[RemovedRow]) -> list[Original | None]:
    """The texts of remembered duplicates as they are kept; None where there is none."""
    if not files.has_texts:
        return [None] * len(rows)
    found = files.removed_originals([row.number for row in rows])
    return [found.get(row.number) for row in rows]
