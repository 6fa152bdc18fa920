"""Add documents of files to a store."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from neardup.display import ToldLine, counted, reasons_text, share_text
from neardup.errors import InputError
from neardup.io.corpora.file_corpus import FileCorpus, by_reason
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import TextReadingDict, reading_of
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs, find_shards, listed_inputs
from neardup.io.formats.table import FILES
from neardup.io.outputs.output_names import listed
from neardup.io.storage.places import name_as_text, path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.results import advice_on_digits, told_of_digits
from neardup.jobs.store_places import first_texts_of, folder_of_store, ids_in, opened_store
from neardup.jobs.stores.store_add_run import AddCounts, AddRun, why_not_continued
from neardup.jobs.stores.store_answers import answer_line, told_of_orphans, told_of_updates, told_of_values
from neardup.jobs.streams.store_rows import MetadataColumns, column_names, corpus_of, documents_of, metadata_columns
from neardup.options import OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder, told_if_interrupted
from neardup.store.answers import StoreAnswer
from neardup.store.arguments import Duration, seconds_of
from neardup.store.record.command_state import CommandState, state_for_commands
from neardup.store.store import Store

CONTINUES = "the same command goes on where it stopped"
BEGINS_ANEW = "the same command begins anew, and what was added before is a copy of itself then, because"
"""What is told of a run that is interrupted; and of every run, to those who ask how it is done."""


@dataclass(kw_only=True)
class StoreCounts(AddCounts):
    """The counts of documents that were added to a store.

    Attributes:
        held: how many documents the store has afterwards.
        rejected_for: for each reason, the rows that could not be read.
        compared_as: how the store compares values by its `keep`: numbers, dates or text; None if it compares none.
    """

    held: int
    rejected_for: dict[str, int]
    compared_as: str | None = None

    @property
    def rejected(self) -> int:
        """The rows that could not be read."""
        return sum(self.rejected_for.values())


def add_to_store(
    path: str | Path,
    inputs: Inputs,
    output: str | Path | None = None,
    *,
    metadata: str | Sequence[str] = (),
    ttl: Duration | None = None,
    wait: float = 0.0,
    on_error: OnError = "stop",
    give_up: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[TextReadingDict],
) -> StoreCounts:
    """Decide the documents of files in their order, and keep those that are new.

    If a run from files to a plain file of answers, or without answers, is interrupted, even by a power failure, the same call goes
    on where it stopped: no document is lost or answered twice.

    Args:
        path: the folder of the store.
        inputs: texts as in `deduplicate_files`.
        output: a file for the answers, .jsonl (also .gz, .zst, .bz2, .xz or .lz4), or `-` for standard output; by default, none.
        metadata: columns whose values are kept with the documents; needed by `keep="max:KEY"` and `min:KEY`.
        ttl: let each document that is kept expire after this time; see `Store.expire`.
        wait: seconds to wait until another process that writes to the store has ended.
        give_up: if the same call was interrupted, begin anew, and forget the answers so far.
        on_error, threads, temp_dir, temp_limit, progress, **reading: as in `build_index`.
        overwrite: replace an output that exists.

    Raises:
        InputError: there is no store, an input is missing or has changed since an interruption, the output exists, or another
            process writes to the store.
        OptionError, DataError: as in `deduplicate_files`; also if the `keep` of the store needs metadata.
    """
    progress, how = progress_of(progress), reading_of(reading, add_to_store)
    life = None if ttl is None else seconds_of("ttl", ttl)
    text = path_text(output)
    target = None if text is None else answers_place(text)
    why_not = why_not_continued(list(map(str, listed_inputs(inputs))), target)
    if why_not and give_up:
        raise InputError(f"`give_up=True`: nothing is known of a run before this one, because {why_not}. Leave it out.")
    with contextlib.ExitStack() as stack:
        resources = Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit)
        spool = stack.enter_context(temporary_folder(resources.files))
        shards = find_shards(inputs, temporary=spool, reading=how, progress=progress)
        _refuse_repeated_names(shards)
        names = column_names(metadata)
        corpus = corpus_of(shards, how, on_error, resources, progress, values=names)
        if why_not:
            reads = ReadFiles(shards, folder_of_store(path))
            sink = None if target is None else stack.enter_context(answers_to(target, reads, overwrite=overwrite))
            store = stack.enter_context(opened_store(path, wait=wait, is_run=True))
            columns = metadata_columns(store, metadata, skips=on_error == "skip")
            with told_if_interrupted(f"{BEGINS_ANEW} {why_not}"):  # before it is promised
                progress.note(f"if this is interrupted, {BEGINS_ANEW} {why_not}")
                counts = _add(store, corpus, columns, life, sink, None, progress)
        else:
            store = stack.enter_context(opened_store(path, wait=wait, is_run=True))
            columns = metadata_columns(store, metadata, skips=on_error == "skip")
            run = AddRun(store, shards, target, how, names)  # type: ignore[arg-type]  # a path, or it could not continue
            run.begin(overwrite=overwrite, give_up=give_up, reads=ReadFiles(shards, folder_of_store(path)))
            counts = _continued(store, corpus, columns, life, run, progress)
        held = len(store)
    return StoreCounts(
        **vars(counts), held=held, rejected_for=by_reason(corpus.rejected), compared_as=columns.compared_as
    )


def _refuse_repeated_names(shards: Sequence[Shard]) -> None:
    """Refuse text files with the same path below different inputs, which is their id."""
    owner: dict[str, Shard] = {}
    problems = [
        f"{first.name} and {shard.name} would both have the id {name_as_text(shard.relative)}, and a store keeps one text of "
        "each id. Give the folder above them as input."
        for shard in shards
        if shard.format in FILES and (first := owner.setdefault(shard.relative, shard)) is not shard
    ]
    if problems:
        raise InputError(listed(problems))


def _continued(
    store: Store, corpus: FileCorpus, columns: MetadataColumns, ttl: float | None, run: AddRun, progress: Progress
) -> AddCounts:
    """Do what is left of a run."""
    if run.ended:
        progress.say("nothing is left to do: these inputs were added already")
    else:
        with told_if_interrupted(CONTINUES):  # before it is promised
            if done := run.counts.documents:
                progress.say(f"going on after {counted(done, 'document')} that were added before an interruption")
            else:
                progress.note(f"if this is interrupted, {CONTINUES}")
            with run.opened():
                _add(store, corpus, columns, ttl, None, run, progress)
                run.end()
    run.publish()
    return run.counts


def _add(
    store: Store,
    corpus: FileCorpus,
    columns: MetadataColumns,
    ttl: float | None,
    sink: Any,
    run: AddRun | None,
    progress: Progress,
) -> AddCounts:
    """Add the documents; those of a `run`, from where it is."""
    counts = AddCounts() if run is None else run.counts
    ids, files_replaced = ids_in(store), False
    first_texts = first_texts_of(store, progress)
    writes = sink is not None or (run is not None and run.has_output)
    with progress.stage("add"):
        for found in documents_of(corpus, counts.documents):
            named = ids.of(found.tokens, found.shard, found.rows)
            kept, unfit = columns.of(found.values, found.shard, found.rows)

            def state(answers: list[StoreAnswer], named: list[int | str] = named, unfit: int = unfit) -> dict[str, Any]:
                lines = b"".join(map(answer_line, named, answers)) if writes else b""
                if sink is not None:
                    sink.write(lines)
                counts.count(answers, keep=store.keep)
                counts.unfit_values += unfit
                of_run = {} if run is None else run.state_after(lines)
                return CommandState({**state_for_commands(store.state), **ids.state(), **of_run})

            answers = store.check_and_add_many(named, found.texts, metadata=kept, ttl=ttl, state=state)
            files_replaced |= found.shard.format in FILES and any(answer.is_update for answer in answers)
            progress.advance(len(found))
            first_texts.look(found.texts)
    first_texts.end()
    if files_replaced:
        progress.say(
            "text files took the place of others of the same name: the id of a text file is its path below the input. If they are "
            "other files, name the folder above them as the input"
        )
    return counts


def told_of_added(counts: StoreCounts) -> Iterator[ToldLine]:
    """The counts as lines for a person."""
    yield "read", counted(counts.documents, "document")
    yield "kept", counted(counts.new, "new document") + share_text(counts.new, counts.documents)
    if counts.matched:
        yield "matched", f"{counted(counts.matched, 'document')} of them; the store keeps every document"
    if counts.unchanged:
        yield (
            "same",
            f"{counted(counts.unchanged, 'document')} unchanged" + share_text(counts.unchanged, counts.documents),
        )
    removed, exact = counts.duplicates - counts.unchanged, counts.exact - counts.unchanged
    said = counted(removed, "duplicate") + share_text(removed, counts.documents)
    said += f": {exact:,} exact, {removed - exact:,} near" if removed else ""
    yield "removed", said + told_of_digits(counts.only_digits)
    yield from advice_on_digits(counts.only_digits)
    yield from advice_on_digits(counts.only_digits, None)
    if counts.replaced:
        yield "replaced", f"{counted(counts.replaced, 'document')} by better ones"
    yield from told_of_updates(counts.updated, counts.dropped, counts.repeated_ids)
    yield from told_of_orphans(counts.orphans)
    if counts.replaced or counts.dropped:
        yield "holds", f"{counted(counts.held, 'document')} now"
    yield from told_of_values(counts.compared_as, counts.unfit_values)
    if counts.rejected:
        yield "skipped", f"{counted(counts.rejected, 'row')} could not be read"
        yield "", reasons_text(counts.rejected_for)
