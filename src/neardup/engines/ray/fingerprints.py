"""FINGERPRINTS of the texts of a dataset, in tasks."""

import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.ray.tasks import DECODE
from neardup.engines.reading.fingerprint_column import as_column
from neardup.engines.reading.text_columns import demand_utf8
from neardup.engines.setting import Setting
from neardup.errors import DataError
from neardup.fingerprints.simhash import fingerprint_array
from neardup.recipe.recipe import Recipe

FINGERPRINT = "fingerprint"
"""The column that `neardup.ray.fingerprint` adds."""


def with_fingerprints(setting: Setting, recipe: Recipe, text: str, block: pa.Table) -> pa.Table:
    """Rows with a column more: the fingerprints of their texts.

    Raises:
        DataError: a text is null, or no UTF-8.
    """
    setting.check()
    column = pc.cast(block.column(text), pa.large_string()).combine_chunks()
    demand_utf8(pa.record_batch([column], names=[text]), [text], DECODE)
    if column.null_count:
        raise DataError(f"A text in column {text!r} is null. Give each row a text, or leave such rows out.")
    return block.append_column(FINGERPRINT, as_column(fingerprint_array(column, recipe).values))
