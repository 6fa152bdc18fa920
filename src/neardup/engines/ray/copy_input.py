"""COPY INPUT: datasets that may not be the same whenever Ray makes them are written to the folder of the job, and read there."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.engines.job.folder import Folder
from neardup.engines.ray.failures import translated_errors
from neardup.engines.ray.sources import Source
from neardup.engines.ray.tasks import checked
from neardup.engines.reading.unchanged_input import digests_in
from neardup.engines.stages import Setting
from neardup.kernels.store.postings import MIX

EMPTY = "empty.parquet"
"""The only file of a copy without rows."""


def written(given: Source, folder: Folder, below: str, setting: Setting) -> dict[str, Any]:
    """Write a dataset to a folder. Returns its `content`, and the `files`."""
    folder.make(below)
    found = _run(given.rows, _Copy(folder, below, setting))
    if not any(each["rows"] for each in found):
        found = _row(EMPTY, given.schema.empty_table()).to_pylist()
        with folder.writing(f"{below}/{EMPTY}") as file:
            pq.write_table(given.schema.empty_table(), file)
    return _sums(found) | {"files": [each["file"] for each in found if each["rows"] or each["file"] == EMPTY]}


def content(given: Source, setting: Setting) -> dict[str, Any]:
    """How many rows a dataset has, and a sum over them."""
    return _sums(_run(given.rows, _Sum(setting)))


def _run(dataset: Any, work: Any) -> list[dict[str, Any]]:
    """Run something on each block of a dataset, and what it returns."""
    with translated_errors():
        return list(
            dataset.map_batches(work, batch_format="pyarrow", batch_size=None, zero_copy_batch=True).iter_rows()
        )


def read(folder: Folder, below: str, files: Sequence[str]) -> Any:
    """The copy, as a dataset."""
    import ray

    return ray.data.read_parquet([str(folder.place(f"{below}/{name}")) for name in sorted(files)])


def _sums(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rows = sum(each["rows"] for each in found)
    return {"rows": rows, "sum": f"{sum(int(each['sum']) for each in found) % (1 << 64):016x}"}


class _Sum:
    """What a block holds: how many rows, and a sum over them that is the same in any order."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def __call__(self, block: pa.Table) -> pa.Table:
        found: pa.Table = checked(self._setting, self._content, block)
        return found

    def _content(self, block: pa.Table) -> pa.Table:
        return _row("", block)


class _Copy(_Sum):
    """Writes a block to a file of its own."""

    def __init__(self, folder: Folder, path: str, setting: Setting) -> None:
        super().__init__(setting)
        self._folder, self._path = folder, path

    def _content(self, block: pa.Table) -> pa.Table:
        name = f"{secrets.token_hex(8)}.parquet"
        if len(block):
            with self._folder.writing(f"{self._path}/{name}") as file:
                pq.write_table(block, file, compression="zstd")
        return _row(name, block)


def _row(name: str, block: pa.Table) -> pa.Table:
    return pa.table({"file": [name], "rows": [len(block)], "sum": [str(_sum(block))]})


def _sum(block: pa.Table) -> int:
    """A sum of the digests of the rows of a block; of columns that Arrow writes as text."""
    mixed = np.zeros(len(block), np.uint64)
    for name in sorted(block.column_names):
        try:
            column = pc.cast(block.column(name), pa.large_string()).combine_chunks()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue
        mixed = mixed * MIX + (digests_in(column) if len(block) else mixed)
    return int(mixed.sum(dtype=np.uint64))
