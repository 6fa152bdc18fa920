"""Pass on new documents and remember them in an index; record the documents that the others duplicate."""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, NeardupError, RowError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.hamming.index.index import Index
from neardup.hamming.index.labels import labels_of
from neardup.hamming.index.store import demand_free
from neardup.io.batch import BATCH_BYTES, Batch, Rejections
from neardup.io.corpus import check_on_error
from neardup.io.formats.lines import Lines
from neardup.io.line_rows import after_rows, block_reader, demand_lines, line_rows, pipe_shard
from neardup.io.outputs import STANDARD_OUTPUT, Outputs
from neardup.io.reading import Reading, ReadingDict, reading_of
from neardup.io.shard import Shard
from neardup.io.shards import find_shards, listed_inputs
from neardup.io.storage.encodings import Encoding
from neardup.io.storage.places import path_text
from neardup.jobs.filter_run import FilterRun, demand_ended, filter_paths
from neardup.jobs.output_paths import refuse_inputs
from neardup.options import OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.resources.threads import in_order, thread_count
from neardup.survivors.audit import filter_lines
from neardup.survivors.outcomes import FilterOutcomes
from neardup.survivors.stream import Stream
from neardup.text.columns import in_chunks

COMMIT_ROWS = 1 << 17
COMMIT_SECONDS = 10.0
"""Maximum work, in documents and in seconds, that is repeated after a crash."""
BLOCK_BYTES = BATCH_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class FilterResult:
    """The counts of a run of `filter_files`.

    Attributes:
        rows: rows of the inputs, rejected ones included.
        passed: documents that were new and were passed on.
        duplicates: documents that were duplicates.
        rejected: rows that could not be read and were set aside.
    """

    rows: int
    passed: int
    duplicates: int
    rejected: int


@dataclass(kw_only=True)
class _Counts:
    """The counts of `FilterResult` so far."""

    rows: int = 0
    passed: int = 0
    duplicates: int = 0
    rejected: int = 0


def filter_files(
    path: str | Path,
    inputs: str | Path | Sequence[str | Path] = "-",
    output: str | Path = "-",
    *,
    audit: str | Path | None = None,
    recipe: RecipeLike | None = None,
    max_distance: int | None = None,
    integer_ids: bool = False,
    on_error: OnError = "stop",
    give_up: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> FilterResult:
    """Pass on, byte for byte and in order, the documents that are near no document of an index; remember them in the index.

    If a run from files to a file is interrupted, even by a power failure, the same call continues it. No line is lost or passed on
    twice. If the input or the output is a pipe, documents are remembered only after they were passed on. After a crash some may
    then be passed on twice, but none is lost.

    Args:
        path: the folder of the index; it is created if it does not exist.
        inputs: JSON lines, or text files with `lines`, as in `deduplicate_files`; `-` is read as a stream.
        output: a file without compression, or `-` for standard output.
        audit: a file for the duplicates: JSON lines with id, row (over all inputs, from 0), matched_id and distance. By default
            it is the output without its ending + .duplicates.jsonl; none for standard output.
        recipe: the recipe of a new index: a recipe, its name or its path; `Recipe()` by default. An existing index has its own.
        max_distance: the distance up to which a document is a duplicate, at most that of the index. The default is the index's,
            and for a new index the recipe's.
        integer_ids: whether the ids of a new index are integers; see `build_index`.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file beside the audit.
        give_up: if a run of another call was interrupted, end it first: its outputs appear with the lines they have so far.
        overwrite, threads, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.reading.Reading` (text, id …).

    Raises:
        RecipeMismatch: the index has another recipe.
        InputError: an input is missing, an output exists, or a run of another call was interrupted.
        OptionError, DataError: as in `deduplicate_files`.
    """
    output = path_text(output)
    audit = path_text(audit)
    progress, how = progress_of(progress), reading_of(reading, filter_files)
    check_on_error(on_error)
    given = listed_inputs(inputs)
    from_pipe = [str(each) for each in given] == ["-"]
    if "-" in map(str, given) and not from_pipe:
        raise InputError("Standard input (-) goes alone. Give either files, or -.")
    home = Path(path)
    with tempfile.TemporaryDirectory(prefix="neardup-") as spool:
        shards = (
            [pipe_shard(how)]
            if from_pipe
            else find_shards(given, temporary=Path(spool), reading=how, progress=progress)
        )
    demand_lines(shards)
    paths = filter_paths(output, audit, with_rejects=on_error == "skip")
    refuse_inputs(paths.files, [] if from_pipe else shards)
    stream = Stream(home, recipe=recipe, max_distance=max_distance)
    if stream.is_new:
        demand_free(home)
    if stream.is_new or integer_ids:
        stream.index.has_strings = not integer_ids
    walk = _Walk(stream, shards, how, on_error, thread_count(1 if from_pipe else threads), progress)
    index = stream.index
    with index.reserved() if isinstance(index, Index) and not stream.is_new else contextlib.nullcontext():
        if from_pipe or output == "-":
            demand_ended(stream, give_up=give_up)
            _through_pipe(walk, paths, shards if not from_pipe else [], overwrite=overwrite)
        else:
            _resumable(walk, FilterRun(stream, shards, paths, how, on_error), overwrite=overwrite, give_up=give_up)
    return FilterResult(**vars(walk.counts))


def _resumable(walk: "_Walk", run: FilterRun, *, overwrite: bool, give_up: bool) -> None:
    walk.counts = _Counts(**run.begin(overwrite=overwrite, give_up=give_up))
    if run.ended:
        run.publish()
        walk.progress.say("nothing is left to do: these inputs were filtered already")
        return
    try:
        walk.missing = run.missing
        with run.opened() as sinks, walk.progress.stage("filter"):
            for _ in walk.blocks(walk.counts.rows, *sinks):
                if walk.is_time:
                    run.commit(vars(walk.counts), walk.missing, ended=False)
                    walk.committed()
            run.commit(vars(walk.counts), walk.missing, ended=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on where it stopped") from None
    run.publish()


def _through_pipe(walk: "_Walk", paths: Any, shards: Sequence[Shard], *, overwrite: bool) -> None:
    to_pipe = paths.output == STANDARD_OUTPUT

    def save() -> None:
        sys.stdout.buffer.flush()
        walk.stream.save()
        walk.committed()

    with Outputs(paths.files, inputs=shards, overwrite=overwrite) as outputs:
        files = [None if each is None else outputs.claim(each).open("wb") for each in (paths.audit, paths.rejects)]
        out: Any = _Standard() if to_pipe else outputs.claim(paths.output).open("wb")
        try:
            with walk.progress.stage("filter"):
                for _ in walk.blocks(0, out, *files):
                    if to_pipe:
                        sys.stdout.buffer.flush()
                    if to_pipe and walk.is_time:
                        walk.is_inside = True
                        save()
                        walk.is_inside = False
        except (KeyboardInterrupt, NeardupError):
            if to_pipe and not walk.is_inside:  # the index must know what was passed on
                save()
            raise
        finally:
            for file in (*files, None if to_pipe else out):
                if file is not None:
                    file.close()
        if to_pipe:
            sys.stdout.buffer.flush()
        outputs.commit()
        walk.stream.save()


class _Standard:
    """Standard output that shows each block as soon as it is decided."""

    def write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:  # an unbuffered stream may write only a part of the data
            rest = rest[sys.stdout.buffer.write(rest) :]


@dataclass(frozen=True)
class _Block:
    """Rows of a shard, with their texts, rejections and fingerprints."""

    shard: Shard
    lines: Lines
    batch: Batch
    rejections: Rejections
    rows: Any
    prints: Fingerprints


class _Walk:
    """Reads documents in order, decides each one, and writes it to the output or the audit."""

    def __init__(
        self, stream: Stream, shards: Sequence[Shard], how: Reading, on_error: str, threads: int, progress: Progress
    ) -> None:
        self.stream, self.progress, self.counts = stream, progress, _Counts()
        self.is_inside = False
        self._shards, self._on_error, self._threads = shards, on_error, threads
        self._read = block_reader(how.columns())
        self._since, self._rows = time.monotonic(), 0
        self.missing = b""
        self._encoding: tuple[str, Encoding] | None = None

    @property
    def is_time(self) -> bool:
        """Whether it is time to commit."""
        return (
            self.counts.rows - self._rows >= COMMIT_ROWS or time.monotonic() - self._since >= COMMIT_SECONDS
        ) and self.counts.rows > self._rows

    def committed(self) -> None:
        """Note that everything up to here is saved."""
        self._since, self._rows = time.monotonic(), self.counts.rows

    def _fingerprinted(self, found: tuple[Shard, Lines]) -> _Block:
        shard, lines = found
        batch, rejections = self._read(shard, lines)
        present = batch.texts.is_valid()
        prints = fingerprint_chunks(in_chunks(batch.texts.filter(present)), self.stream.recipe)
        return _Block(shard, lines, batch, rejections, np.flatnonzero(present.to_numpy(zero_copy_only=False)), prints)

    def _lines(self, done: int) -> Iterator[tuple[Shard, Lines]]:
        """All blocks after the first `done` rows."""
        self.progress.expect(sum(shard.size for shard in self._shards))
        before = 0
        for shard in self._shards:
            last = 0
            for lines in line_rows(shard, BLOCK_BYTES):
                last = lines.row + len(lines)
                left = done - before - lines.row
                if left < len(lines):
                    yield shard, after_rows(lines, max(0, left))
            before += last

    def blocks(self, done: int, out: Any, audit: Any, rejects: Any) -> Iterator[None]:
        """Decide and write the rows after the first `done`, block by block; yields after each block."""
        last, position = None, 0
        for block in in_order(self._fingerprinted, self._lines(done), self._threads):
            self.is_inside = True
            if last is not block.shard:
                last, position = block.shard, 0
                self._begin(out, block.lines.encoding, block.shard)
            if block.rejections and self._on_error == "stop":
                row, reason = block.rejections[0]
                self.is_inside = False
                raise RowError(block.shard.name, row, reason)
            self._decide(block, out, audit, rejects)
            self.progress.read(max(0, block.lines.position - position))
            position = max(position, block.lines.position)
            self.is_inside = False
            yield

    def _begin(self, out: Any, encoding: Encoding, shard: Shard) -> None:
        if self._encoding is None:
            self._encoding = shard.name, encoding
            if len(encoding.newline) > 1 and not self.counts.rows:
                out.write(encoding.mark)
        elif self._encoding[1].name != encoding.name:
            raise InputError(
                f"{self._encoding[0]} is {self._encoding[1].name}, {shard.name} {encoding.name}: they cannot be passed on as one. "
                "Convert one of them."
            )

    def _decide(self, block: _Block, out: Any, audit: Any, rejects: Any) -> None:
        strings = self.stream.index.has_strings is not False
        tokens = block.batch.ids.take(pa.array(block.rows))
        found = self.stream.add_fingerprints(labels_of(tokens, strings=strings), block.prints)
        new = np.array([match is None for match in found], np.bool_)
        for run in block.lines.runs(block.rows[new]):
            self._pass(out, run, block.lines.encoding.newline)
        if audit is not None:
            places = np.flatnonzero(~new)
            matches = [match for match in found if match is not None]
            outcomes = FilterOutcomes(
                ids=tokens.take(pa.array(places)),
                rows=self.counts.rows + block.rows[places],
                matched=[match.id for match in matches],
                distances=np.array([match.distance for match in matches], np.int64),
            )
            audit.write("".join(filter_lines(outcomes)).encode())
        for row, reason in block.rejections:
            line = {"file": block.shard.name, "row": row, "reason": reason}
            rejects.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.counts.rows += len(block.lines)
        self.counts.passed += int(new.sum())
        self.counts.duplicates += int((~new).sum())
        self.counts.rejected += len(block.rejections)
        self.progress.advance(len(block.lines))

    def _pass(self, out: Any, run: memoryview, newline: bytes) -> None:
        if self.missing:
            out.write(self.missing)
        out.write(run)
        self.missing = newline if bytes(run[-len(newline) :]) != newline else b""
