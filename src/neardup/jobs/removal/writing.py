"""WRITE: the rows of shards after the decisions: survivors only, or all rows with further columns; and the audit."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.endings import split_ending
from neardup.io.formats.table import FILES, FORMATS, ROWS, Cuttable, Rewritable, Rewrite, Sink, open_sink
from neardup.io.outputs.output_names import STANDARD_OUTPUT, output_folder
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place, place_of
from neardup.io.storage.refusals import mixed_formats
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.progress import Progress
from neardup.resources.memory_use import give_back
from neardup.resources.threads import in_order, thread_count
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.records.audit_schema import Column
from neardup.survivors.records.parquet_log import LogValues, write_parquet_log


class ShardWriter(Protocol):
    """Writes the rows of shards, which are identified by number."""

    @property
    def shards(self) -> Sequence[Shard]:
        """All shards, by number."""

    @property
    def rows(self) -> Sequence[slice]:
        """The slice of rows that belongs to each shard."""

    def keeps_any(self, number: int) -> bool:
        """Whether the shard keeps any row."""

    def write(self, number: int, sink: Sink) -> None:
        """Write the remaining rows of the shard. Any thread may call this, but only one for each sink."""


def write_shards(
    writer: ShardWriter, paths: Sequence[Place], outputs: Outputs, *, threads: int | None, progress: Progress
) -> None:
    """Write each shard to its path; shards with the same path share a sink, and different paths are written in parallel."""
    give_back()  # what the records took
    shards, rows = writer.shards, writer.rows
    progress.expect(sum(shard.size for shard in shards))
    numbers: dict[Place, list[int]] = {}
    for number, path in enumerate(paths):
        numbers.setdefault(path, []).append(number)

    def write(task: tuple[Place, list[int]]) -> list[int]:
        path, together = task
        kind, target = shards[together[0]].format, _format_of(path, [shards[number] for number in together])
        if kind in FILES and kind == target and not writer.keeps_any(together[0]):
            outputs.leave_out(path)  # the file is the document: a removed document has no output file
        elif not outputs.is_finished(path):
            all_of_it = [shards[number] for number in together]
            how = outputs.claim(path), target, compression_of_name(path.name)
            if all(shard.format == target for shard in all_of_it):
                with open_sink(*how, all_of_it) as sink:
                    for number in together:
                        writer.write(number, sink)
            else:
                assert isinstance(writer, DecidedRows)  # others are refused, see demand_rewritable
                writer.convert(together, *how, progress)
            outputs.finish(path)
        return together

    for together in in_order(write, numbers.items(), thread_count(threads)):
        for number in together:
            progress.read(shards[number].size)
            progress.advance(rows[number].stop - rows[number].start)


def _format_of(path: Place, shards: Sequence[Shard]) -> str:
    """The format of an output for the rows of some shards: its ending says so, unless theirs takes any."""
    kinds = {shard.format for shard in shards}
    known = None if path == STANDARD_OUTPUT or kinds == {"lines"} else split_ending(path.name)
    return shards[0].format if known is None else known[1]


@dataclass(frozen=True, slots=True)
class DecidedRows:
    """Writes rows unchanged; see `ShardWriter`.

    Attributes:
        shards, rows: each shard, and the slice of rows that belongs to it.
        kept: says of each row of a slice whether it survives, bool[n]; not asked for all shards at once, because there may be many.
        valid: bool[rows], whether each row is a document.
        added: the columns that are added to the rows of a slice, as an Arrow table: then all documents are written; None: only
            survivors are.
        html: how pages become text, of files with one document each and of WARC, if rows are written in another format.
    """

    shards: Sequence[Shard]
    rows: Sequence[slice]
    kept: Callable[[slice], Array]
    valid: Array
    added: Callable[[slice], Any] | None
    html: str | None = None

    def keeps_any(self, number: int) -> bool:
        return bool(self.kept(self.rows[number]).any())

    def write(self, number: int, sink: Sink) -> None:
        shard, rows = self.shards[number], self.rows[number]
        if self.added is not None:
            FORMATS[shard.format].annotate(shard, self.added(rows), sink, keep=self.valid[rows])
        else:
            FORMATS[shard.format].copy(shard, self.kept(rows), sink)

    def convert(self, numbers: Sequence[int], path: Path, target: str, compression: str, progress: Progress) -> None:
        """Write the remaining rows of some shards to one file of another format; says what was changed."""
        from neardup.io.formats.conversion.converter import Converter, Rows

        rows = []
        for number in numbers:
            of_shard = self.rows[number]
            keep = self.kept(of_shard) if self.added is None else self.valid[of_shard]
            added = None if self.added is None else self.added(of_shard)
            rows.append(Rows(self.shards[number], keep, self.valid[of_shard], added))
        with Converter(path, target, compression, rows, html=self.html) as converter:
            converter.write()
        for note in converter.notes:
            progress.say(note)


@dataclass(frozen=True, slots=True)
class RewrittenRows:
    """Writes rows with other texts; see `ShardWriter`.

    Attributes:
        shards, rows: each shard, and the slice of rows that belongs to it.
        keep: bool[rows], documents that are written.
        changed: bool[rows], documents whose texts `rewrite` makes: it takes a row and the texts of its text columns.
        rewrite: see `changed`.
        columns: these columns.
        spans: int64[n, 5], if `rewrite` removes these parts of texts and does nothing else: row, number of the text column, first
            character and end, and whether a space is put there; ascending.
    """

    shards: Sequence[Shard]
    rows: Sequence[slice]
    keep: Array
    changed: Array
    rewrite: Rewrite
    columns: Columns
    spans: Array | None = None

    def keeps_any(self, number: int) -> bool:
        return bool(self.keep[self.rows[number]].any())

    def write(self, number: int, sink: Sink) -> None:
        shard, rows = self.shards[number], self.rows[number]
        form: Any = FORMATS[shard.format]

        def rewrite(row: int, texts: list[str]) -> list[str]:
            return self.rewrite(rows.start + row, texts)

        masks = {"keep": self.keep[rows], "changed": self.changed[rows]}
        if self.spans is None or not isinstance(form, Cuttable):
            form.replace(shard, self.columns, rewrite, sink, **masks)
            return
        spans = self.spans[slice(*np.searchsorted(self.spans[:, 0], [rows.start, rows.stop]))]
        spans = spans - np.array([rows.start, 0, 0, 0, 0])
        form.cut(shard, self.columns, spans, rewrite, sink, **masks)


def demand_rewritable(shards: Sequence[Shard], asked_by: str, output: str | None = None) -> None:
    """Raise InputError if a shard is of a format whose texts cannot be replaced; `asked_by`: what asks for that.

    With `output`, also if that has another format: rows are rewritten or converted, not both.
    """
    for shard in shards:
        if not isinstance(FORMATS[shard.format], Rewritable):
            able = [row.name for row in ROWS if isinstance(FORMATS[row.name], Rewritable)]
            raise InputError(
                f"{shard.name} is {shard.format}: {asked_by} can rewrite {', '.join(able)}. Convert it first."
            )
    if output and output != str(STANDARD_OUTPUT) and output_folder(output) is None:
        target = _format_of(place_of(output), shards)
        for shard in shards:
            if shard.format != target:
                raise mixed_formats(shard.name, shard.format, target)


class ParquetForm(NamedTuple):
    """The columns of an audit in Parquet, and what `keep` compares, or None."""

    columns: Sequence[Column[Any]]
    values: LogValues | None


def write_audits(
    chunks: Iterable[AuditChunk],
    targets: OutputPaths,
    shards: Sequence[Shard],
    rows: Sequence[slice],
    outputs: Outputs,
    form: ParquetForm | None = None,
) -> None:
    """Write each line of the audit to the audit file of its shard.

    A text file from which nothing is removed gets no audit file of its own.

    Args:
        chunks: the lines, in the order of the rows.
        targets: the output paths, which include those of the audits.
        shards, rows: each shard, and the slice of rows that belongs to it.
        form: of an audit in Parquet; None for JSON lines.
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
        elif form is not None:
            write_parquet_log(outputs.claim(path), until(end), *form)
        else:
            outputs.write_lines(path, until(end))
