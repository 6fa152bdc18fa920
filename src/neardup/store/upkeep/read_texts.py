"""READ TEXTS that a store keeps: of documents, of remembered duplicates and of judgements."""

from collections.abc import Sequence

from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.sealed_texts import Original, text_of
from neardup.store.session.backend import Backend


def texts_of_documents(files: Backend, rows: Sequence[DocumentRow], digests: Sequence[bytes]) -> list[str | None]:
    """The texts of kept documents with these digests; None where there is none. A DataError if one is not what was written."""
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


def judged_texts(row: JudgementRow, shown: str) -> tuple[str | None, str | None]:
    """The two texts of a judgement; None if the store kept none. `shown`: the store in messages. A DataError if one is damaged."""
    where = f"{shown} is damaged: a text that was judged"
    left = text_of(row.left, Original(row.left_id or "null", row.left_text), where)
    return left, text_of(row.right, Original(row.right_id, row.right_text), where)
