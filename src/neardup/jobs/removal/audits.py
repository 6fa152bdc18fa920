"""WRITE: the audit, as one file or as one file for each shard."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FILES
from neardup.io.outputs.outputs import Outputs
from neardup.io.outputs.records import write_lines
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.survivors.records.audit import AuditChunk


def write_audits(
    chunks: Iterable[AuditChunk], targets: OutputPaths, shards: Sequence[Shard], rows: Sequence[slice], outputs: Outputs
) -> None:
    """Write each line of the audit to the audit file of its shard.

    A text file from which nothing is removed gets no audit file of its own.

    Args:
        chunks: the lines, in the order of the rows.
        targets: the output paths, which include those of the audits.
        shards, rows: each shard, and the slice of rows that belongs to it.
    """
    lines = ((row, line) for found, texts in chunks for row, line in zip(found.tolist(), texts, strict=True))
    ahead = next(lines, None)

    def until(end: int) -> Iterator[str]:
        nonlocal ahead
        while ahead is not None and ahead[0] < end:
            yield ahead[1]
            ahead = next(lines, None)

    numbers = sorted(range(len(shards)), key=lambda number: int(rows[number].start))
    for path, together in itertools.groupby(numbers, targets.audits.__getitem__):
        last = list(together)[-1]
        end = int(rows[last].stop)
        if targets.audit_folder and shards[last].format in FILES and (ahead is None or ahead[0] >= end):
            outputs.leave_out(path)  # as many audits as removed files, not as many as documents
        else:
            write_lines(path, outputs.claim(path), until(end))
