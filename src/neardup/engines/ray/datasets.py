"""DATASETS: what a run on Ray gives, as lazy Datasets: rows that stay, and packed rows of results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ray.data import Datasource, ReadTask, read_datasource
from ray.data.block import BlockMetadata

from neardup.arrays import Array
from neardup.engines.columns import looked_up
from neardup.engines.job.bucket_files import Segments, contents
from neardup.engines.job.folder import Folder
from neardup.engines.job.folder_engine import Given, Held, Sent
from neardup.engines.packing import buckets_of, unsorted
from neardup.engines.ray.engine import RayEngine, grouped
from neardup.engines.ray.tasks import DECODE, bounded, tables_of
from neardup.engines.reading.documents import numbered
from neardup.engines.reading.row_selection import Marks, flags_of
from neardup.engines.reading.text_columns import texts_in
from neardup.engines.reading.unchanged_input import Content, Watched
from neardup.engines.schemas import rows_of
from neardup.engines.stages import Output
from neardup.text.columns import decoded, decoded_type


class Tables(Datasource):  # type: ignore[misc]
    """Tables that functions give, in any task."""

    def __init__(self, name: str, schema: pa.Schema, functions: Sequence[tuple[Any, int]]) -> None:
        """`functions`: each with the bytes that it gives, about."""
        super().__init__()
        self._name, self._schema, self._functions = name, schema, functions

    def get_name(self) -> str:
        """Shown by Ray."""
        return self._name

    def estimate_inmemory_data_size(self) -> int | None:
        """Of all tables together."""
        return sum(size for _, size in self._functions)

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:  # noqa: ARG002
        """A task for each function."""
        return [
            ReadTask(
                function, BlockMetadata(num_rows=None, size_bytes=size, input_files=None, exec_stats=None), self._schema
            )
            for function, size in self._functions
        ]


def dataset_of(name: str, schema: pa.Schema, functions: Sequence[tuple[Any, int]]) -> Any:
    """Tables as a Dataset."""
    if not functions:
        import ray

        return ray.data.from_arrow(schema.empty_table())
    return read_datasource(Tables(name, schema, functions), override_num_blocks=len(functions))


Change = Callable[[Array, pa.Table], pa.Table]
"""What makes of rows of the input those of the output. Documents: int64[rows]."""


def survivors_of(engine: RayEngine, removed: Marks) -> Any:
    """The rows of the documents that stay, with all their columns."""
    schema = engine.input.documents.schema
    return _changed(engine, "neardup: survivors", schema, lambda parts: partial(_staying, removed.only(parts), parts))


def _staying(removed: Marks, parts: Sequence[int]) -> Change:
    bits = {number: removed.bits(number) for number in parts}

    def only(docs: Array, rows: pa.Table) -> pa.Table:
        stays = ~flags_of(bits, *rows_of(docs))
        return rows if stays.all() else rows.filter(stays)

    return only


def edited_of(engine: RayEngine, edits: Held) -> Any:
    """The rows of the documents that stay, with all their columns, and the texts that they have now. `edits`: rows of EDITS.

    Texts that were in dictionaries are strings then, as there may be more of them than the dictionary's type can number.
    """
    source = engine.input.documents
    number, kind = source.schema.get_field_index(source.text), decoded_type(source.schema.field(source.text).type)
    schema = source.schema.set(number, source.schema.field(number).with_type(kind))

    def of(parts: list[int]) -> Callable[[], Change]:
        numbers = pa.table({"part": pa.array(parts, pa.int64())})
        buckets = np.unique(buckets_of(numbers, edits.output.key, engine.buckets)).tolist()
        sent = [(bucket, edits.sent(bucket, bucket + 1)) for bucket in buckets]
        return partial(_edited, engine.folder, sent, parts, schema.field(number))

    return _changed(engine, "neardup: passages cut", schema, of)


def _edited(folder: Folder, sent: Sequence[tuple[int, Sent]], parts: Sequence[int], text: pa.Field) -> Change:
    tables = [unsorted(each.rows(folder, bucket), each.output) for bucket, each in sent]
    some = pa.concat_tables(tables).filter(pc.field("part").isin(parts)).sort_by("doc").combine_chunks()
    doc, is_removed = (some.column(name).to_numpy() for name in ("doc", "is_removed"))
    edits = some.column("text").cast(text.type)

    def edit(docs: Array, rows: pa.Table) -> pa.Table:
        number, texts = rows.schema.get_field_index(text.name), decoded(rows.column(text.name))
        known, at = looked_up(doc, docs)
        if not known.any():
            return rows.set_column(number, text, texts)
        both = pa.chunked_array([*texts.chunks, *edits.chunks])
        texts = both.take(np.where(known, at + len(rows), np.arange(len(rows))))
        return rows.set_column(number, text, texts).filter(~(known & is_removed[at]))

    return edit


def _changed(
    engine: RayEngine, name: str, schema: pa.Schema, change: Callable[[list[int]], Callable[[], Change]]
) -> Any:
    """The rows of the input, changed; a file whose texts are others than they were is refused when it is read.

    `name`: shown by Ray; `schema`: of the rows then; `change`: makes for some parts what makes, in a task, what changes their rows.
    """
    source = engine.input.documents
    whole_files = source.files()
    files = [(file.size, file) for file in whole_files]
    given = engine.numbered([(size, partial(whole, file.read)) for size, file in files], 0)
    seen = engine.seen or {}
    functions = []
    for group in grouped(list(zip((size for size, _ in files), zip(given, whole_files, strict=True), strict=True))):
        some = []
        for part, file in group:
            own, runs = part.number_of_part
            parts = [own, *(number for _, number in runs)]
            some.append((part, source.columns, file.path, change(parts), seen.get(own, Content(0, 0))))
        functions.append((partial(_read, some), sum(file.size for _, file in group)))
    return dataset_of(name, schema, functions)


def whole(read: Any) -> Iterator[pa.RecordBatch]:
    """Batches of all columns of a file."""
    for table in tables_of(read):
        yield from bounded(table)


def _read(
    files: Sequence[tuple[Given, Mapping[str, str | None], str, Callable[[], Change], Content]],
) -> Iterator[pa.Table]:
    """The rows of some files, changed.

    Raises:
        DataError: the texts of a file have changed.
    """
    for given, columns, path, make, seen in files:
        part, change = given.part, make()
        batches: list[pa.RecordBatch] = []
        watched = Watched(replace(part, batches=_noted(part.batches, columns, path, batches)))
        for _, docs in numbered(watched.part):
            rows = change(docs, pa.Table.from_batches([batches.pop()]))
            if len(rows):
                yield rows
        watched.check({part.number: seen})


def _noted(
    batches: Iterator[pa.RecordBatch], columns: Mapping[str, str | None], path: str, noted: list[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Batches of what was read first, each after the whole batch is noted."""
    for batch in batches:
        noted.append(batch)
        yield texts_in(pa.Table.from_batches([batch]), columns, path, DECODE)


def rows_in(engine: RayEngine, held: Held, name: str, columns: Mapping[str, str], kind: pa.DataType) -> Any:
    """Packed rows as a Dataset.

    Args:
        engine: that holds them.
        held: the rows.
        name: shown by Ray.
        columns: by their names in the Dataset, those of the rows.
        kind: of the ids.
    """
    types = {each: kind if each.endswith("id") else held.output.schema.field(of).type for each, of in columns.items()}
    schema = pa.schema(types)
    give = partial(_unpacked, engine.folder, held.output, dict(columns), schema)
    functions = [(partial(give, [(file, each)], ()), int(each["size"].sum())) for file, each in held.segments]
    if held.local:
        functions.append((partial(give, (), [content for _, content in held.local]), held.size))
    return dataset_of(name, schema, functions)


def _unpacked(
    folder: Folder,
    output: Output,
    columns: Mapping[str, str],
    schema: pa.Schema,
    segments: Segments,
    local: Sequence[bytes],
) -> Iterator[pa.Table]:
    for file, each in segments:
        for at in range(len(each)):
            yield _as(unsorted(contents(folder, [(file, each[at : at + 1])]), output), columns, schema)
    for content in local:
        yield _as(unsorted([content], output), columns, schema)


def _as(rows: pa.Table, columns: Mapping[str, str], schema: pa.Schema) -> pa.Table:
    """Rows with other names of columns, and null where a number is none."""
    found = []
    for field in schema:
        column = rows.column(columns[field.name])
        if pa.types.is_floating(field.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, field.type), column)
        found.append(column.cast(field.type))
    return pa.table(found, schema)
