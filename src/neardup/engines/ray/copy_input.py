"""COPIED datasets: those that may not be the same whenever Ray makes them are written to the folder of the job, and read there."""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.folder import Folder
from neardup.engines.ray.failures import told
from neardup.engines.ray.sources import Input, Source
from neardup.engines.ray.tasks import checked
from neardup.engines.reading.unchanged_input import digests_in
from neardup.engines.setting import Setting
from neardup.errors import RecipeMismatch
from neardup.kernels.store.postings import MIX

INPUT, REFERENCE = "input", "reference"
EMPTY = "empty.parquet"
"""The only file of a copy without rows."""
_log = logging.getLogger("neardup")


def copied_first(given: Input) -> tuple[str, ...]:
    """The names of the datasets that a job copies."""
    sources = zip((INPUT, REFERENCE), given.sources, strict=False)
    return tuple(name for name, each in sources if each.step is None)


def steady(given: Input, kept: Kept, folder: Folder, setting: Setting) -> Input:
    """The input, with datasets that have the same rows in the same places whenever they are read.

    Raises:
        RecipeMismatch: the job was begun with other rows.
    """
    reference = given.reference and _steady(given.reference, kept, folder, setting, REFERENCE)
    return Input(_steady(given.documents, kept, folder, setting, INPUT), reference)


def _steady(given: Source, kept: Kept, folder: Folder, setting: Setting, name: str) -> Source:
    if given.step is not None:
        return given
    known = kept.copies.get(name)
    if known is None:
        _log.info("copying the %s to %s first: Ray may make its rows in another order each time", name, kept.folder)
        kept.open()
        path = kept.path(0, name)
        below = path[len(kept.folder) + 1 :]
        folder.make(below)
        found = _run(given.dataset, _Copy(folder, below, setting))
        if not any(each["rows"] for each in found):
            found = _row(EMPTY, given.schema.empty_table()).to_pylist()
            with folder.writing(f"{below}/{EMPTY}") as file:
                pq.write_table(given.schema.empty_table(), file)
        kept.copied(
            name,
            path,
            _sums(found) | {"files": [each["file"] for each in found if each["rows"] or each["file"] == EMPTY]},
        )
        known = kept.copies[name]
    elif (now := _sums(_run(given.dataset, _Sum(setting)))) and any(
        known[each] != value for each, value in now.items()
    ):
        raise RecipeMismatch(
            f"{kept.folder} has the work of a job on other rows: the {name} had {known['rows']:,} rows with the sum "
            f"{known['sum']}, and has {now['rows']:,} with {now['sum']}. Give another folder as `work=`. A dataset whose rows "
            "differ whenever Ray makes them, as after `random_sample`, is to be written to files first: then a job goes on."
        )
    return replace(given, dataset=_read(folder, known["rows_in"].lstrip("/"), known["files"]))


def _run(dataset: Any, work: Any) -> list[dict[str, Any]]:
    """Run something on each block of a dataset, and what it returns."""
    with told():
        return list(
            dataset.map_batches(work, batch_format="pyarrow", batch_size=None, zero_copy_batch=True).iter_rows()
        )


def _read(folder: Folder, below: str, files: Sequence[str]) -> Any:
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
        found: pa.Table = checked(self._setting, self._told, block)
        return found

    def _told(self, block: pa.Table) -> pa.Table:
        return _row("", block)


class _Copy(_Sum):
    """Writes a block to a file of its own."""

    def __init__(self, folder: Folder, path: str, setting: Setting) -> None:
        super().__init__(setting)
        self._folder, self._path = folder, path

    def _told(self, block: pa.Table) -> pa.Table:
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
