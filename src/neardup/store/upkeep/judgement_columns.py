"""JUDGEMENTS in columns, as an export has them: texts as they were given."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.sealed_texts import Original, sealed, text_of

OF_JUDGEMENTS = pa.schema(
    {
        "left": pa.binary(16),
        "right": pa.binary(16),
        "kind": pa.string(),
        "left_id": pa.string(),
        "right_id": pa.string(),
        "same": pa.bool_(),
        "similarity": pa.float64(),
        "distance": pa.int32(),
        "judged": pa.float64(),
        "left_text": pa.large_string(),
        "right_text": pa.large_string(),
    }
)
"""One column for each field of `JudgementRow`."""


def judged_texts(row: JudgementRow, shown: str) -> tuple[str | None, str | None]:
    """The two texts of a judgement; None if the store kept none. `shown`: the store in messages.

    Raises:
        DataError: one is not what was written.
    """
    where = f"{shown} is damaged: a text that was judged"
    left = text_of(row.left, Original(row.left_id or "null", row.left_text), where)
    return left, text_of(row.right, Original(row.right_id, row.right_text), where)


def judgement_columns(rows: Sequence[JudgementRow], shown: str) -> list[Any]:
    """Judgements as the columns of `OF_JUDGEMENTS`."""
    texts = [judged_texts(row, shown) for row in rows]
    values = [[*row[:-2], *both] for row, both in zip(rows, texts, strict=True)]
    return [
        pa.array(column, field.type) for column, field in zip(zip(*values, strict=True), OF_JUDGEMENTS, strict=True)
    ]


def judgement_rows(batch: Any) -> Iterator[JudgementRow]:
    """What `judgement_columns` was given."""
    for values in batch.to_pylist():
        row = JudgementRow(**values)
        yield row._replace(
            left_text=_sealed(row.left, row.left_id or "null", values["left_text"]),
            right_text=_sealed(row.right, row.right_id, values["right_text"]),
        )


def _sealed(digest: bytes, name: str, text: str | None) -> bytes | None:
    return None if text is None else sealed(digest, name, text)
