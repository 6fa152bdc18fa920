"""TASKS: what the tasks on workers read: the rows of files, in batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.job.plan import BYTES_PER_BATCH, TEXTS_PER_BATCH
from neardup.engines.reading.text_columns import as_column, demand_texts, demand_utf8, texts_in
from neardup.engines.stages import Setting
from neardup.fingerprints.simhash import fingerprint_array
from neardup.recipe.recipe import Recipe

PLACE = "A worker"
"""What runs a task, in messages."""
DECODE = "Decode the input by its encoding before it is read, or leave such rows out."
"""What to do about strings that are no UTF-8."""


Batches = Callable[[], Iterator[pa.RecordBatch]]
"""What gives the rows of a file."""


def checked(setting: Setting, work: Callable[..., Any], *arguments: Any) -> Any:
    """Run something in a task, which looks at the version first."""
    setting.check()
    return work(*arguments)


def tables_of(read: Callable[[], Iterable[Any]]) -> Iterator[pa.Table]:
    """The blocks of a file as tables."""
    from ray.data.block import BlockAccessor

    for block in read():
        yield BlockAccessor.for_block(block).to_arrow()


def texts_of(
    read: Callable[[], Iterable[Any]], columns: Mapping[str, str | None], path: str
) -> Iterator[pa.RecordBatch]:
    """Batches of text, id, within and value of a file, of bounded size.

    Raises:
        InputError: the file has not got one of the columns.
    """
    for table in tables_of(read):
        for batch in bounded(table.select([name for name in columns.values() if name in table.column_names])):
            yield texts_in(pa.Table.from_batches([batch]), columns, path, DECODE)


def bounded(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Batches of a table, none of them empty, of few rows, and of few bytes if rows are small."""
    for begin in range(0, len(table), TEXTS_PER_BATCH):
        yield from _halves(table.slice(begin, TEXTS_PER_BATCH))


def _halves(table: pa.Table) -> Iterator[pa.RecordBatch]:
    if len(table) > 1 and table.nbytes > BYTES_PER_BATCH:
        middle = len(table) // 2
        yield from _halves(table.slice(0, middle))
        yield from _halves(table.slice(middle))
    else:
        yield from table.combine_chunks().to_batches()[:1]


FINGERPRINT = "fingerprint"
"""The column that `neardup.ray.fingerprint` adds."""


def with_fingerprints(setting: Setting, recipe: Recipe, text: str, block: pa.Table) -> pa.Table:
    """Rows with a column more: the fingerprints of their texts.

    Raises:
        DataError: a text is null, or no UTF-8.
    """
    setting.check()
    column = pc.cast(block.column(text), pa.large_string()).combine_chunks()
    demand_utf8(column, "text", DECODE)
    demand_texts(column, text)
    return block.append_column(FINGERPRINT, as_column(fingerprint_array(column, recipe).values))
