"""WRITE: rows of shards as decisions say, survivors alone or all with more columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.io.formats.table import FILES, FORMATS, open_sink
from neardup.io.outputs import Outputs
from neardup.io.records import compression_of
from neardup.io.shard import Shard
from neardup.io.storage.places import Place
from neardup.progress import Progress
from neardup.resources.threads import in_order, thread_count
from neardup.survivors.annotations import annotations
from neardup.survivors.decisions import Decisions


def _kept(decisions: Decisions, rows: slice) -> Array:
    """bool: of these rows alone, for there may be many shards."""
    found: Array = decisions.survivor[rows] == np.arange(rows.start, rows.stop)
    return found


def write_rows(
    shards: Sequence[Shard],
    rows: Sequence[slice],
    decisions: Decisions,
    ids: Any,
    valid: Array,
    *,
    paths: Sequence[Place],
    outputs: Outputs,
    annotate: bool,
    threads: int | None,
    progress: Progress,
) -> None:
    """Copy survivors, or annotate all documents; shards with one target share its sink, others are written at the same time.

    Args:
        shards, rows, paths: each shard, which rows of `decisions` are its own, and where it is written.
        decisions, ids, valid: by row; Arrow large_string[rows], each a JSON value; bool[rows], which are documents.
    """
    progress.expect(sum(shard.size for shard in shards))
    numbers: dict[Place, list[int]] = {}
    for number, path in enumerate(paths):
        numbers.setdefault(path, []).append(number)

    def write(task: tuple[Place, list[int]]) -> list[int]:
        path, together = task
        first = together[0]
        if shards[first].format in FILES and not _kept(decisions, rows[first]).any():
            outputs.leave_out(path)  # a document that is removed is a file less
        elif not outputs.is_finished(path):
            with open_sink(outputs.claim(path), shards[first].format, compression_of(path)) as sink:
                for number in together:
                    shard, here = shards[number], rows[number]
                    if annotate:
                        added = annotations(decisions, ids, here)
                        FORMATS[shard.format].annotate(shard, added, sink, keep=valid[here])
                    else:
                        FORMATS[shard.format].copy(shard, _kept(decisions, here), sink)
            outputs.finish(path)
        return together

    for together in in_order(write, numbers.items(), thread_count(threads)):
        for number in together:
            progress.read(shards[number].size)
            progress.advance(rows[number].stop - rows[number].start)
