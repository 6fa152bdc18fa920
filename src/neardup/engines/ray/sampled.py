"""SAMPLED on Ray: the rows of files are counted, and texts taken of some."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.engines.job.inputs import Input
from neardup.engines.job.plan import TEXTS_PER_BATCH
from neardup.engines.job.sample import SAMPLED_BYTES, SAMPLED_DOCUMENTS, Sample, first_texts, most_of_each, spread_over
from neardup.engines.ray.calls import Calls
from neardup.engines.ray.sources import Source
from neardup.engines.ray.tasks import DECODE, checked, tables_of, texts_of
from neardup.engines.reading.text_columns import texts_in
from neardup.engines.stages import Setting


def sample_of(given: Input[Source], calls: Calls) -> Sample:
    """Count the rows of all files, and take texts of some, spread over them."""
    counted, parts = [], []
    for source in given.sources:
        if source.step is None:
            parts.append(_first_of_any(source, calls.setting))
            counted.append([source.rows.count()])
            continue
        files = source.texts
        counts = calls.run("rows counted", rows_of, ((number, file.read) for number, file in enumerate(source.ids)))
        rows = [count for _, count in sorted(counts)]
        taken = spread_over([number for number, count in enumerate(rows) if count])
        most, size = most_of_each(len(taken))
        some = ((number, files[number].read, source.columns, files[number].path) for number in taken)
        found = sorted(calls.run("sample", first_of, some, most, size), key=lambda each: each[0])
        parts.append([batch for _, batches in found for batch in batches])
        counted.append([count for count in rows if count])
    return Sample(tuple(parts), tuple(count for some in counted for count in some), sum(map(sum, counted[1:])))


def _first_of_any(source: Source, setting: Setting) -> list[pa.RecordBatch]:
    """Texts of a dataset that is not read from files."""
    names = sorted({name for name in source.columns.values() if name is not None and name in source.schema.names})
    work = partial(_as_texts, setting, source.columns)
    some = (
        source.rows.select_columns(names)
        .limit(SAMPLED_DOCUMENTS)
        .map_batches(work, batch_format="pyarrow", batch_size=TEXTS_PER_BATCH)
    )
    tables = (batch for batch in some.iter_batches(batch_format="pyarrow", batch_size=None))
    return [first_texts(SAMPLED_BYTES, batch) for table in tables for batch in table.combine_chunks().to_batches()]


def _as_texts(setting: Setting, columns: Mapping[str, str | None], block: pa.Table) -> pa.Table:
    return pa.Table.from_batches([checked(setting, texts_in, block, columns, "The dataset", DECODE)])


def rows_of(number: int, read: Callable[[], Iterable[Any]]) -> tuple[int, int]:
    """The number of a file, and of its rows."""
    return number, sum(len(table) for table in tables_of(read))


def first_of(
    most: int, size: int, number: int, read: Callable[[], Iterable[Any]], columns: Mapping[str, str | None], path: str
) -> tuple[int, list[pa.RecordBatch]]:
    """The number of a file, and its first texts: of its first batch, so many rows and bytes at most."""
    batch = next(texts_of(read, columns, path))
    return number, [first_texts(size, batch.slice(0, most))]
