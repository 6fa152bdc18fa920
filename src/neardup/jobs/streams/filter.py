"""Pass on new documents and remember them in an index, by the distance of fingerprints; record what the others duplicate."""

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, NeardupError
from neardup.fingerprints.silent_texts import count_silent_tokens
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.hamming.index.files.folder import demand_free, home_of, is_index
from neardup.hamming.index.files.labels import labels_of
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import check_on_error
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import Reading, TextReadingDict, reading_of
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs
from neardup.io.formats.text_sink import StandardOutput
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import near_folder, path_text
from neardup.jobs.streams.filter_run import STATE, FilterRun, demand_ended, files_of, filter_paths, filter_shards
from neardup.jobs.streams.line_walk import Block, FilterCounts, LineWalk, Sinks, write_rejects
from neardup.options import OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.recipe.safe_distances import SAFE_DISTANCES, measured_as
from neardup.recipe.short_rule import SHORT_RULE
from neardup.resources.threads import thread_count
from neardup.resources.unfinished import told_if_interrupted
from neardup.survivors.distance_stream import DistanceStream
from neardup.survivors.outcomes import FilterOutcomes
from neardup.survivors.records.audit import filter_lines
from neardup.text.columns import in_chunks
from neardup.text.scripts import FirstTexts, ScriptCount

GOES_ON = "the same command goes on where it stopped"
AT_LEAST_ONCE = (
    "the same command on the whole input loses no line; since the output is a pipe, a few may be passed on twice"
)
"""What is told of runs that are interrupted: of one to a file, and of one to a pipe."""
COMMIT_ROWS = 1 << 17
COMMIT_SECONDS = 10.0
"""Maximum work, in documents and in seconds, that is repeated after a crash."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilterResult:
    """The counts of a run of `filter_files`.

    Attributes:
        rows: rows of the inputs, rejected ones included.
        passed: documents that match no other, and were passed on.
        duplicates: documents that were duplicates.
        rejected: rows that could not be read and were set aside.
        updated: documents that were passed on, and came in the place of another text of their id; by a store, as the next three.
        dropped: duplicates of whose id the store kept another text until then: now, it keeps none.
        repeated_ids: those of both kinds whose earlier text came in the same inputs. It was passed on before.
        orphans: documents that were skipped, now or before, and that no kept document matches any more; see `Store.orphans`.
        only_digits, digits_unknown: duplicates that differ in digits only, and those of which that is not known: by an index, and
            by a store without texts.
        compared_as: how a store compares values by its `keep`: numbers, dates or text; None if it compares none.
        unfit_values: values that it could not compare, and that counted as missing.
        created: whether the store or the index was made.
    """

    rows: int
    passed: int
    duplicates: int
    rejected: int
    updated: int = 0
    dropped: int = 0
    repeated_ids: int = 0
    orphans: int = 0
    only_digits: int = 0
    digits_unknown: int = 0
    compared_as: str | None = None
    unfit_values: int = 0
    created: bool = False


def filter_files(
    path: str | Path,
    inputs: Inputs = "-",
    output: str | Path = "-",
    *,
    audit: str | Path | None = None,
    recipe: RecipeLike | None = None,
    max_distance: int | None = None,
    integer_ids: bool = False,
    create: bool = False,
    on_error: OnError = "stop",
    give_up: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
    **reading: Unpack[TextReadingDict],
) -> FilterResult:
    """Pass on, byte for byte and in order, the documents that are near no document of an index; remember them in the index.

    If a run from files to a file is interrupted, even by a power failure, the same call continues it. No line is lost or passed on
    twice. If the input or the output is a pipe, documents are remembered only after they were passed on. After a crash some may
    then be passed on twice, but none is lost.

    Args:
        path: the folder of the index.
        inputs: JSON lines, or text files with `lines`, as in `deduplicate_files`; `-` is read as a stream.
        output: a file without compression, or `-` for standard output.
        audit: a file for the duplicates: JSON lines with id, row (over all inputs, from 0), matched_id and distance. By default
            it is the output without its ending + .duplicates.jsonl; none for standard output.
        recipe: the recipe of a new index: a recipe, its name or its path; `Recipe()` by default. An existing index has its own.
        max_distance: the distance up to which a document is a duplicate, at most that of the index. The default is the index's.
            For a new index it is that of a recipe of your own; for named recipes, whose distance is for candidates that are then
            verified, it is the safe one: see `neardup.recipe.safe_distances`.
        integer_ids: whether the ids of a new index are integers; see `build_index`.
        create: make the index if there is none; without this, that is an error.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file beside the audit.
        give_up: if a run of another call was interrupted, end it first: its outputs appear with the lines they have so far.
        overwrite, threads, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.corpora.reading.Reading` (text, id …).

    Raises:
        RecipeMismatch: the index has another recipe.
        InputError: there is no index and none is to be made, an input is missing, an output exists, or a run of another call was
            interrupted.
        OptionError, DataError: as in `deduplicate_files`.
    """
    output = path_text(output)
    audit = path_text(audit)
    progress, how = progress_of(progress), reading_of(reading, filter_files)
    check_on_error(on_error)
    home = home_of(path)
    shards = filter_shards(inputs, how, progress)
    from_pipe = not files_of(shards)
    paths = filter_paths(output, audit, with_rejects=on_error == "skip")
    reads = ReadFiles(files_of(shards), {"the index": [home]})
    reads.refuse(paths.files)
    stream = DistanceStream(home, recipe=recipe, max_distance=max_distance)
    created = stream.is_new
    if created:
        demand_free(home)
        if not create:
            raise InputError(
                f"{home} is no index{near_folder(home, is_index)}. Name the folder of one, or pass `create=True` to make it."
            )
    if stream.is_new or integer_ids:
        stream.index.has_strings = not integer_ids
    progress.say(told_distance(stream))
    walk = FilterWalk(stream, shards, how, on_error, thread_count(1 if from_pipe else threads), progress)
    index = stream.index
    new_home = home if stream.is_new else None
    with index.reserved(new_home):
        if from_pipe or output == "-":
            demand_ended(IndexMemory(stream), give_up=give_up)
            _through_pipe(walk, paths, reads, overwrite=overwrite)
        else:
            run = FilterRun(IndexMemory(stream), shards, paths, how, on_error, reads)
            _resumable(walk, run, overwrite=overwrite, give_up=give_up)
    return FilterResult(**vars(walk.counts), digits_unknown=walk.counts.duplicates, created=created)


def told_distance(stream: DistanceStream) -> str:
    """Which distance decides, and what is known of it."""
    distance, name = stream.max_distance, measured_as(stream.recipe)
    told = f"duplicates are within distance {distance} of {stream.recipe.bits} bits"
    if name is None:
        return f"{told}; for this recipe, nobody has measured how many of them are unlike texts"
    safe = SAFE_DISTANCES[name]
    if safe is None:
        return f"{told}; where this was measured, more than 1 of 100 was no similar text, even at distance 0"
    if distance > safe:
        return f"{told}; where this was measured, 99 of 100 were similar texts up to distance {safe}, and fewer beyond"
    return f"{told}; where this was measured, 99 of 100 were similar texts"


class IndexMemory:
    """An index, as a run sees it; see `neardup.jobs.streams.filter_run.Memory`."""

    noun = "index"
    listed_inputs: int | None = None

    def __init__(self, stream: DistanceStream) -> None:
        self._stream = stream
        self.deciding = {"max_distance": stream.max_distance}

    @property
    def run(self) -> dict[str, Any] | None:
        """The record of the last run."""
        found: dict[str, Any] | None = (self._stream.index.state or {}).get(STATE)
        return found

    def save(self, run: dict[str, Any]) -> None:
        """Save the index with the record of the run."""
        self._stream.index.state = {**(self._stream.index.state or {}), STATE: run}
        self._stream.save()


class FilterWalk(LineWalk[Fingerprints]):
    """Decides by the fingerprints in an index. It is `is_inside`, too, while the index is half saved."""

    def __init__(
        self,
        stream: DistanceStream,
        shards: Sequence[Shard],
        how: Reading,
        on_error: str,
        threads: int,
        progress: Progress,
    ) -> None:
        super().__init__(shards, how, on_error, threads, progress)
        self.stream = stream
        self._since, self._rows = time.monotonic(), 0
        if stream.is_new:
            count = ScriptCount.wanted(stream.recipe, "jaccard")
            self.first_texts = FirstTexts(count, stream.recipe, "index", progress.say)

    @property
    def is_time(self) -> bool:
        """Whether it is time to commit."""
        return (
            self.counts.rows - self._rows >= COMMIT_ROWS or time.monotonic() - self._since >= COMMIT_SECONDS
        ) and self.counts.rows > self._rows

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Around the work that saves everything up to here; stays `is_inside` if it fails."""
        self.is_inside = True
        yield
        self._since, self._rows = time.monotonic(), self.counts.rows
        self.is_inside = False

    def prepare(self, batch: Batch, present: Any) -> Fingerprints:
        """Fingerprint the texts."""
        texts = batch.texts.filter(present)
        found = fingerprint_chunks(in_chunks(texts), self.stream.recipe)
        if self.stream.index.short_rule < SHORT_RULE:
            count_silent_tokens(found, texts.to_pylist(), self.stream.recipe)
        return found

    def decide(self, block: Block[Fingerprints], sinks: Sinks) -> None:
        strings = self.stream.index.has_strings is not False
        tokens = block.batch.ids.take(pa.array(block.rows))
        found = self.stream.add_fingerprints(labels_of(tokens, strings=strings), block.made)
        new = found.distances < 0
        self.pass_on(block, block.rows[new], sinks.out)
        if sinks.audit is not None:
            places = np.flatnonzero(~new)
            outcomes = FilterOutcomes(
                ids=tokens.take(pa.array(places)),
                rows=self.counts.rows + block.rows[places],
                matched=[found.matched[place] for place in places.tolist()],
                distances=found.distances[places],
            )
            sinks.audit.write("".join(filter_lines(outcomes)).encode())
        write_rejects(block.shard, block.rejections, sinks.rejects)
        self.counts.rows += len(block.lines)
        self.counts.passed += int(new.sum())
        self.counts.duplicates += int((~new).sum())
        self.counts.rejected += len(block.rejections)
        self.progress.advance(len(block.lines))


def _resumable(walk: FilterWalk, run: FilterRun, *, overwrite: bool, give_up: bool) -> None:
    walk.begin_after(FilterCounts(**run.begin(overwrite=overwrite, give_up=give_up)), missing=run.missing)
    if run.ended:
        run.publish()
        walk.progress.say("nothing is left to do: these inputs were filtered already")
        return
    with told_if_interrupted(GOES_ON), run.opened() as sinks, walk.progress.stage("filter"):
        for _ in walk.blocks(sinks):
            if walk.is_time:
                with walk.saving():
                    run.commit(vars(walk.counts), walk.missing, ended=False)
        run.commit(vars(walk.counts), walk.missing, ended=True)
    run.publish()


def _through_pipe(walk: FilterWalk, paths: Any, reads: ReadFiles, *, overwrite: bool) -> None:
    to_pipe = paths.output == STANDARD_OUTPUT

    def save() -> None:
        with walk.saving():
            sys.stdout.buffer.flush()
            walk.stream.save()

    with (
        told_if_interrupted(AT_LEAST_ONCE) if to_pipe else contextlib.nullcontext(),
        Outputs(paths.files, reads=reads, overwrite=overwrite) as outputs,
    ):
        files = [None if each is None else outputs.claim(each).open("wb") for each in (paths.audit, paths.rejects)]
        out: Any = StandardOutput() if to_pipe else outputs.claim(paths.output).open("wb")
        try:
            with walk.progress.stage("filter"):
                for _ in walk.blocks(Sinks(out, *files)):
                    if to_pipe:
                        sys.stdout.buffer.flush()
                    if to_pipe and walk.is_time:
                        save()
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
