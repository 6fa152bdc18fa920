"""DATASETS: what a run on Ray gives, as lazy Datasets: rows that stay, and packed rows of results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from ray.data import Datasource, ReadTask, read_datasource
from ray.data.block import BlockMetadata

from neardup.engines.job.bucket_files import Segments, contents
from neardup.engines.job.folder import Folder
from neardup.engines.job.folder_engine import Given, Held
from neardup.engines.packing import unsorted
from neardup.engines.ray.engine import RayEngine, grouped
from neardup.engines.ray.tasks import DECODE, bounded, tables_of
from neardup.engines.reading.documents import numbered
from neardup.engines.reading.row_selection import Marks, flags_of
from neardup.engines.reading.text_columns import texts_in
from neardup.engines.reading.unchanged_input import Content, Watched
from neardup.engines.schemas import rows_of
from neardup.engines.stages import Output


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


def survivors_of(engine: RayEngine, removed: Marks) -> Any:
    """The rows of the documents that stay, with all their columns; a file whose texts have changed is refused when it is read."""
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
            some.append((part, source.columns, file.path, removed.only(parts), seen.get(own, Content(0, 0))))
        functions.append((partial(_staying, some), sum(file.size for _, file in group)))
    return dataset_of("neardup: survivors", source.schema, functions)


def whole(read: Any) -> Iterator[pa.RecordBatch]:
    """Batches of all columns of a file."""
    for table in tables_of(read):
        yield from bounded(table)


def _staying(files: Sequence[tuple[Given, Mapping[str, str | None], str, Marks, Content]]) -> Iterator[pa.Table]:
    """The rows of some files that stay.

    Raises:
        DataError: the texts of a file have changed.
    """
    for given, columns, path, removed, seen in files:
        part = given.part
        bits = {number: removed.bits(number) for number in [part.number, *(number for _, number in part.runs)]}
        batches: list[pa.RecordBatch] = []
        watched = Watched(replace(part, batches=_noted(part.batches, columns, path, batches)))
        for _, docs in numbered(watched.part):
            stays = ~flags_of(bits, *rows_of(docs))
            rows = pa.Table.from_batches([batches.pop()])
            if stays.any():
                yield rows if stays.all() else rows.filter(stays)
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
