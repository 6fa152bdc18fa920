"""INPUT FILES: what Ray does to make a dataset, if that is to read files and nothing else; and these files, one after another.

Ray's own optimizer puts into the step that reads what it can: which columns, and which rows. All other steps, and those that we do
not know, are never trusted to give the same rows in the same order again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

Blocks = Callable[[], Iterable[Any]]
"""What gives the blocks of a file, in order, in any task."""
PART_BYTES = 1 << 27
"""Of a file of Parquet, of which a part is read; a larger group of rows is one part."""
FOOTERS_AT_ONCE = 16
"""Footers of files that are read at a time."""


@dataclass(frozen=True)
class File:
    """A file, or a part of one.

    Attributes:
        path: of the file; piece: which part of it.
        size: in bytes.
        read: what reads it.
    """

    path: str
    piece: int
    size: int
    read: Blocks


class Step(Protocol):
    """A step that reads files."""

    @property
    def filters(self) -> str:
        """Which rows are read, in Ray's words."""
        ...

    def states(self) -> list[tuple[str, int, str]]:
        """The files by path, each with its size, and when it changed; 0 and "" if that is not known."""
        ...

    def files(self, columns: Sequence[str] | None) -> list[File]:
        """The files, by path, and their parts. `columns`: those that are read, where the format can choose; None for all."""
        ...


def step_of(dataset: Any) -> Step | None:
    """What reads the files of a dataset, if that is all that is done to make it; else None."""
    from ray.data._internal.logical.operators import ListFiles, Read, ReadFiles
    from ray.data._internal.logical.optimizers import LogicalOptimizer

    root = LogicalOptimizer().optimize(dataset._logical_plan).dag
    if type(root) is Read and root.per_block_limit is None:
        return _of_datasource(root.datasource)
    if type(root) is ReadFiles and type(root.input_dependencies[0]) is ListFiles and root.block_udf is None:
        listed = root.input_dependencies[0]
        whole = root.scanner.limit is None and listed.limit is None and listed.shuffle_config_factory() is None
        return Manifests(root.scanner, listed) if whole and listed.filesystem is not None else None
    return None


def _of_datasource(found: Any) -> "Datasources | None":
    from ray.data._internal.datasource.parquet_datasource import ParquetDatasource
    from ray.data.datasource import FileBasedDatasource

    is_known = isinstance(found, ParquetDatasource | FileBasedDatasource)
    return Datasources(found) if is_known and getattr(found, "_shuffle", None) is None else None


class Datasources:
    """A step that reads files by a datasource of Ray's: JSON, CSV and others, and Parquet if Ray is told so."""

    def __init__(self, datasource: Any) -> None:
        self._datasource = datasource

    @property
    def filters(self) -> str:
        found = self._datasource
        rows = found.get_current_predicate() if found.supports_predicate_pushdown() else None
        return "" if rows is None else str(rows)

    def states(self) -> list[tuple[str, int, str]]:
        found = self._datasource
        paths = found._pq_paths if hasattr(found, "_pq_paths") else found._paths()
        return _states(found._filesystem, [str(path) for path in paths])

    def files(self, columns: Sequence[str] | None) -> list[File]:
        found, sizes = self._datasource, {path: size for path, size, _ in self.states()}
        if columns is not None and found.supports_projection_pushdown():
            found = found.apply_projection({name: name for name in columns})
        files = []
        for task in found.get_read_tasks(max(1, len(sizes))):  # so one for each file
            (path,) = task.metadata.input_files
            files.append(File(str(path), 0, sizes[str(path)], task))
        return sorted(files, key=lambda file: file.path)


class Manifests:
    """A step that lists files of Parquet, and reads these."""

    def __init__(self, scanner: Any, listed: Any) -> None:
        self._scanner, self._listed = scanner, listed

    @property
    def filters(self) -> str:
        found = (self._scanner.pushed_predicate(), self._scanner.pushed_partition_predicate())
        return ", ".join(str(rows) for rows in found if rows is not None)

    def _paths(self) -> list[str]:
        import pyarrow as pa
        from ray.data._internal.datasource_v2.common.listing_utils import _build_pruners

        listed = self._listed
        pruners = _build_pruners(listed.file_extensions, listed.partition_filter, listed.partition_pruner)
        infos = listed.file_indexer.list_file_infos(
            pa.array(listed.paths, pa.string()), filesystem=listed.filesystem, pruners=pruners, preserve_order=True
        )
        return sorted({info.path for info in infos})

    def states(self) -> list[tuple[str, int, str]]:
        return _states(self._listed.filesystem, self._paths())

    def files(self, columns: Sequence[str] | None) -> list[File]:
        scanner = self._scanner if columns is None else self._scanner.prune_columns(list(columns))
        states = self.states()
        with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
            pieces = pool.map(partial(_pieces, self._listed.filesystem), states)
            return [
                File(path, number, size, partial(_read, scanner, path, whole, rows))
                for (path, whole, _), some in zip(states, pieces, strict=True)
                for number, (size, rows) in enumerate(some)
            ]


def _pieces(filesystem: Any, state: tuple[str, int, str]) -> list[tuple[int, dict[str, Any] | None]]:
    """The bytes of the parts of a file, and which groups of rows are in them; None for all."""
    import pyarrow.parquet as pq

    path, whole, _ = state
    if whole <= PART_BYTES:
        return [(whole, None)]
    with filesystem.open_input_file(path) as file:
        footer = pq.ParquetFile(file).metadata
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    stored = [sum(each.column(at).total_compressed_size for at in range(each.num_columns)) for each in groups]
    found: list[tuple[int, dict[str, Any] | None]] = []
    first, size = 0, 0
    for at, bytes_ in enumerate([*stored, PART_BYTES]):
        if at > first and (size + bytes_ > PART_BYTES or at == len(groups)):
            numbers = list(range(first, at))
            rows = [groups[number].num_rows for number in numbers]
            sizes = [groups[number].total_byte_size for number in numbers]
            found.append((size, {
                "row_group_ids": numbers, "num_rows": sum(rows), "uncompressed_size": sum(sizes), "fully_matched": True,
                "rg_sizes": sizes, "rg_rows": rows,
            }))  # fmt: skip
            first, size = at, 0
        size += bytes_
    return found or [(whole, None)]


def _read(scanner: Any, path: str, size: int, rows: dict[str, Any] | None) -> Iterator[Any]:
    """The blocks of a file, or of some groups of its rows."""
    from ray.data._internal.datasource_v2.interfaces.file_manifest import FileManifest

    manifest = FileManifest.construct_manifest(paths=[path], sizes=[size], chunk_metadatas=[rows])
    manifest = scanner.prune_input_split(manifest)
    if len(manifest):
        yield from scanner.create_reader().read(manifest)


def _states(filesystem: Any, paths: Sequence[str]) -> list[tuple[str, int, str]]:
    """Files by path, with sizes and times of change."""
    try:
        infos = {info.path: info for info in filesystem.get_file_info(list(paths))}
    except Exception:  # of a file system that cannot tell, such as HTTP
        return [(path, 0, "") for path in sorted(paths)]
    return [
        (path, infos[path].size or 0, str(infos[path].mtime_ns or "")) if path in infos else (path, 0, "")
        for path in sorted(paths)
    ]
