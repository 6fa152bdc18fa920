"""FINGERPRINTS of the texts of a frame, in tasks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.spark import tasks
from neardup.errors import DataError
from neardup.fingerprints.simhash import fingerprint_array
from neardup.recipe.recipe import Recipe


def with_fingerprints(recipe: Recipe, text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with a column more: the fingerprints of their texts.

    Raises:
        DataError: a text is null, or no UTF-8.
    """
    for batch in batches:
        tasks.demand_utf8(batch, [text])
        texts = pc.cast(batch.column(text), pa.large_string())
        if texts.null_count:
            raise DataError(f"A text in column {text!r} is null. Give each row a text, or leave such rows out.")
        yield batch.append_column(tasks.FINGERPRINT, as_column(fingerprint_array(texts, recipe).values))


def as_column(values: Any) -> pa.Array:
    """Fingerprints (uint64[n, words]) as signed integers with the same bits; wider ones as bytes, the highest first."""
    if values.shape[1] == 1:
        return pa.array(np.ascontiguousarray(values[:, 0]).view(np.int64))
    content = np.ascontiguousarray(values).astype(">u8").tobytes()
    size = 8 * values.shape[1]
    return pa.array([content[at : at + size] for at in range(0, len(content), size)], pa.binary())
