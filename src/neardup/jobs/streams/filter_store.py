"""Pass on new documents and remember them in a store, by similarity; record what the others duplicate."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from neardup.errors import InputError, OptionError
from neardup.io.corpora.file_corpus import FileCorpus, check_on_error
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import READING, Reading, TextReadingDict
from neardup.io.corpora.shards import Inputs
from neardup.io.formats.text_sink import StandardOutput
from neardup.io.outputs.growing_file import GrowingFile, partial_of
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import name_as_text, path_text
from neardup.jobs.store_places import alone, folder_of_store, store_is_there, told_of_options
from neardup.jobs.streams.filter import AT_LEAST_ONCE, FilterResult
from neardup.jobs.streams.filter_run import (
    STANDARD_INPUT,
    FilterPaths,
    FilterRun,
    demand_ended,
    files_of,
    filter_paths,
    filter_shards,
)
from neardup.jobs.streams.filter_store_walk import FilterStoreWalk, StoreFilterCounts
from neardup.jobs.streams.line_walk import Sinks
from neardup.jobs.streams.store_rows import column_names, metadata_columns
from neardup.options import MatchingOptions, OnError, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.recipe.tables.keeps import KeepAs
from neardup.resources.threads import thread_count
from neardup.resources.unfinished import told_if_interrupted
from neardup.store.arguments import Duration, seconds_of
from neardup.store.back_ends import back_end_of, no_store
from neardup.store.record.command_state import FILTERING, CommandState, state_for_commands
from neardup.store.store import Store

ONCE = "the same command goes on where it stopped, and no line is lost or passed on twice"
ONCE_FROM_A_PIPE = "the same command goes on if the whole stream is sent again: no line is lost or passed on twice"
"""What is told of a run to a file that is interrupted; and beforehand, to those who ask how it is done."""


class StoreFilterOptions(TextReadingDict, MatchingOptions, total=False):
    """The options of `filter_with_store`: how texts are read, and how documents of a new store match."""


def filter_with_store(
    path: str | Path,
    inputs: Inputs = "-",
    output: str | Path = "-",
    *,
    audit: str | Path | None = None,
    recipe: RecipeLike | None = None,
    floor: float | None = None,
    keep: str | None = None,
    keep_as: KeepAs | None = None,
    texts: bool | None = None,
    metadata: str | Sequence[str] = (),
    ttl: Duration | None = None,
    window: Duration | None = None,
    wait: float = 0.0,
    create: bool = False,
    on_error: OnError = "stop",
    give_up: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
    **options: Unpack[StoreFilterOptions],
) -> FilterResult:
    """Pass on, byte for byte and in order, the documents that match no document of a store; remember them in the store.

    The decisions are those of `deduplicate_files` on all that the store was ever given, with `cluster="star"` and `keep="first"`.
    Lines are written before their documents are remembered. So if the output is a file, an interrupted run goes on, and no line is
    lost or passed on twice; if it is a pipe, none is lost.

    Args:
        path: the folder of the store.
        inputs: JSON lines, or text files with `lines`, as in `deduplicate_files`; `-` is read as a stream.
        output: a file without compression, or `-` for standard output.
        audit: a file for the duplicates: JSON lines with id, row (over all inputs, from 0), survivor_id, similarity, distance and
            exact. By default it is the output without its ending + .duplicates.jsonl; none for standard output.
        recipe: the recipe of a new store, `Recipe()` by default; it must be that of a store that is there.
        floor, keep, keep_as, texts: of a new store; see `Store`. A document that replaces others is passed on, although these were
            passed on before: the audit then has a line with its id and its row, the id of the replaced document as replaced_id,
            similarity and distance, for each of them. So it has for an earlier text of the same id.
        metadata: columns whose values are kept with the documents; needed by `keep="max:KEY"` and `min:KEY`.
        ttl: let each document that is kept expire after this time; see `Store.expire`.
        window: remove the documents that were not seen for so long, before the run and while it goes on, at most a hundredth of
            the window later: seconds, a `timedelta`, or a text such as `30d`.
        wait: seconds to wait until another process that writes to the store has ended.
        create: make the store if there is none; without this, that is an error.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file beside the audit.
        give_up: if a run of another call was interrupted, end it first: its outputs appear with the lines they have so far.
        overwrite, threads, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …); and method, similarity, min_similarity and
            max_distance of a new store, which must be those of a store that is there.

    Raises:
        RecipeMismatch: the store has another recipe.
        InputError: there is no store and none is to be made, an input is missing, an output exists, a run of another call was
            interrupted, or the store is being written.
        OptionError: an option has a value that is not allowed, or differs from that of the store.
        DataError: as in `deduplicate_files`.
    """
    refuse_unknown(options, filter_with_store)
    given: Any = options
    how = Reading(**{name: value for name, value in given.items() if name in READING})
    matching: Any = {name: value for name, value in given.items() if name not in READING}
    progress = progress_of(progress)
    check_on_error(on_error)
    home = back_end_of(path).folder(path) or path
    age = None if window is None else seconds_of("window", window)
    life = None if ttl is None else seconds_of("ttl", ttl)
    if age == 0:
        raise OptionError(f"`window={window!r}`: give a time above 0, such as 30d.")
    shards = filter_shards(inputs, how, progress)
    paths = filter_paths(str(path_text(output)), path_text(audit), with_rejects=on_error == "skip")
    reads = ReadFiles(files_of(shards), folder_of_store(home))
    reads.refuse(paths.files)
    _refuse_names(paths.files)
    created = not store_is_there(home)
    if created:
        if not create:
            raise no_store(home, "pass `create=True` to make it")
        Outputs(paths.files, reads=reads, overwrite=overwrite).check_files()  # before the store is made
    names = column_names(metadata, "first" if keep is None else keep)  # refuses them before a store is made
    to_check = [shard for shard in shards if shard.format == "lines" or shard.path != STANDARD_INPUT]
    if names:
        FileCorpus(to_check, how.columns(names, asked_by=dict.fromkeys(names, "metadata="))).check()
    own: Any = {"floor": floor, "keep": keep, "keep_as": keep_as, "texts": texts}
    with alone(Store(home, create=True, wait=wait, recipe=recipe, **own, **matching), wait) as store:
        columns = metadata_columns(store, metadata, skips=on_error == "skip")
        memory = StoreMemory(store, names)
        _publish_the_last(memory)
        run = None
        if paths.output == STANDARD_OUTPUT:
            demand_ended(memory, give_up=give_up)
        else:
            run = FilterRun(memory, shards, paths, how, on_error, reads)
            counts = StoreFilterCounts(**run.begin(overwrite=overwrite, give_up=give_up))
            if run.ended:
                run.publish()
                progress.say("nothing is left to do: these inputs were filtered already")
                return counts.result(created=created)

        def written() -> dict[str, Any]:
            if run is None:
                StandardOutput().flush()
                return {}
            return {FILTERING: run.record(vars(walk.counts), walk.missing, ended=False)}

        walk = FilterStoreWalk(
            store,
            shards,
            how,
            on_error,
            written=written,
            window=age,
            metadata=columns,
            ttl=life,
            threads=thread_count(threads if files_of(shards) else 1),
            progress=progress,
        )
        progress.say(f"duplicates are found {told_of_options(store.info())}")
        goes_on = AT_LEAST_ONCE if run is None else ONCE if files_of(shards) else ONCE_FROM_A_PIPE
        with told_if_interrupted(goes_on):  # before it is promised
            progress.note(f"if this is interrupted, {goes_on}")
            if run is None:
                _through_pipe(walk, paths, reads, overwrite=overwrite)
            else:
                walk.begin_after(counts, missing=run.missing)
                _to_files(walk, run, memory)
    for name in names:
        if name in walk.empty_columns and walk.counts.rows:
            progress.say(f"no row had a value in the column {name!r}")
    return walk.counts.result(created=created, compared_as=columns.compared_as)


def _refuse_names(outputs: Sequence[Path]) -> None:
    """Refuse outputs whose names the record of a run in the store cannot have."""
    for path in outputs:
        name = os.path.realpath(path)
        if os.fsencode(name) != name.encode("utf-8", "replace"):
            raise InputError(
                f"{name_as_text(name)}: the name of an output must be UTF-8. Choose another name or folder."
            )


class StoreMemory:
    """A store, as a run sees it; see `neardup.jobs.streams.filter_run.Memory`. Its options are its own for good."""

    noun = "store"
    listed_inputs: int | None = 16  # it is written with every commit

    def __init__(self, store: Store, metadata: Sequence[str]) -> None:
        self._store = store
        self.deciding: dict[str, Any] = {"metadata": list(metadata)} if metadata else {}

    @property
    def run(self) -> dict[str, Any] | None:
        """The record of the last run."""
        found: dict[str, Any] | None = state_for_commands(self._store.state).get(FILTERING)
        return found

    def save(self, run: dict[str, Any]) -> None:
        """Save the record of the run."""
        before = state_for_commands(self._store.state)
        self._store.check_and_add_many([], [], state=CommandState({**before, FILTERING: run}))


def _to_files(walk: FilterStoreWalk, run: FilterRun, memory: StoreMemory) -> None:
    with run.opened() as sinks, walk.progress.stage("filter"):
        for _ in walk.blocks(sinks):
            pass
        walk.finish(sinks)
        record = run.record(vars(walk.counts), walk.missing, ended=True)
        memory.save(record | {"published": False})
    run.publish()
    memory.save(record | {"published": True})


def _publish_the_last(memory: StoreMemory) -> None:
    """If the last run was killed between its last line and the renaming of its outputs, rename them now."""
    record = memory.run
    if record is None or record.get("published", True):
        return
    for name, length in zip(("output", "audit", "rejects"), record["lengths"], strict=True):
        if record["of"][name] is not None and partial_of(Path(record["of"][name])).exists():
            with GrowingFile(Path(record["of"][name]), length) as file:
                file.publish()
    memory.save(record | {"published": True})


def _through_pipe(walk: FilterStoreWalk, paths: FilterPaths, reads: ReadFiles, *, overwrite: bool) -> None:
    with contextlib.ExitStack() as stack:
        outputs = stack.enter_context(Outputs(paths.files, reads=reads, overwrite=overwrite))
        with contextlib.ExitStack() as files:
            audit, rejects = (
                None if path is None else files.enter_context(outputs.claim(path).open("wb"))
                for path in (paths.audit, paths.rejects)
            )
            with walk.progress.stage("filter"):
                sinks = Sinks(StandardOutput(), audit, rejects)
                for _ in walk.blocks(sinks):
                    pass
                walk.finish(sinks)
        outputs.commit()
