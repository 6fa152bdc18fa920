"""FINGERPRINTS of the texts of a frame, in tasks."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.reading.fingerprint_column import as_column
from neardup.engines.reading.text_columns import demand_utf8
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
        demand_utf8(batch, [text], tasks.DECODE)
        texts = pc.cast(batch.column(text), pa.large_string())
        if texts.null_count:
            raise DataError(f"A text in column {text!r} is null. Give each row a text, or leave such rows out.")
        yield batch.append_column(tasks.FINGERPRINT, as_column(fingerprint_array(texts, recipe).values))
