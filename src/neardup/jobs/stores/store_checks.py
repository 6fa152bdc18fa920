"""Ask a store about documents without adding them."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from neardup.display import ToldLine, counted, reasons_text, share_text
from neardup.errors import InputError
from neardup.io.corpora.file_corpus import by_reason
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import TextReadingDict, reading_of
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs, find_shards, listed_inputs
from neardup.io.storage.places import path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.store_places import folder_of_store, opened_store
from neardup.jobs.stores.store_answers import answer_line
from neardup.jobs.streams.store_rows import corpus_of, documents_of
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.store.answers import StoreAnswer

DOCUMENTS_AT_ONCE = 1 << 6
"""Documents that are asked about before their answers are written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckCounts:
    """The counts of documents that a store was asked about.

    Attributes:
        documents: all of them.
        new: those that match no kept document.
        exact: those whose text equals that of their first match.
        rejected_for: for each reason, the rows that could not be read.
    """

    documents: int
    new: int
    exact: int
    rejected_for: dict[str, int]

    @property
    def rejected(self) -> int:
        """The rows that could not be read."""
        return sum(self.rejected_for.values())


def check_with_store(
    path: str | Path,
    inputs: Inputs = (),
    output: str | Path = "-",
    *,
    texts: Sequence[str] = (),
    on_error: OnError = "stop",
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[TextReadingDict],
) -> CheckCounts:
    """Write for each document whether it would be new, and all kept documents that it matches, best first; nothing is added.

    Args:
        path: the folder of the store.
        inputs: texts as in `deduplicate_files`.
        output: a file that ends in .jsonl (also .gz, .zst, .bz2, .xz or .lz4), or `-` for standard output.
        texts: texts as strings, instead of inputs; their ids are 0, 1, …
        overwrite: replace an output that exists.
        on_error, threads, temp_dir, temp_limit, progress, **reading: as in `add_to_store`.

    Raises:
        InputError, OptionError, DataError: as in `add_to_store`.
    """
    progress, how = progress_of(progress), reading_of(reading, check_with_store)
    given = listed_inputs(inputs)
    if bool(given) == bool(texts):
        raise InputError("Give either `inputs`, or `texts`, to ask about.")
    documents, new, exact, target = 0, 0, 0, answers_place(path_text(output))
    with contextlib.ExitStack() as stack:
        shards: list[Shard] = []
        asked: Iterator[tuple[list[int | str], list[str]]] = iter([(list(range(len(texts))), list(texts))])
        if given:
            resources = Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit)
            spool = stack.enter_context(temporary_folder(resources.files))
            shards = find_shards(given, temporary=spool, reading=how, progress=progress)
            corpus = corpus_of(shards, how, on_error, resources, progress)
            asked = ((found.ids, found.texts) for found in documents_of(corpus))
        sink = stack.enter_context(answers_to(target, ReadFiles(shards, folder_of_store(path)), overwrite=overwrite))
        store = stack.enter_context(opened_store(path, "r"))
        stage = progress.stage("check") if given else contextlib.nullcontext()
        with stage:
            for ids, some in asked:
                for first in range(0, len(some), DOCUMENTS_AT_ONCE):
                    part = slice(first, first + DOCUMENTS_AT_ONCE)
                    answers: list[StoreAnswer] = store.check_many(some[part])
                    lines = (
                        answer_line(id_, each, all_matches=True) for id_, each in zip(ids[part], answers, strict=True)
                    )
                    sink.write(b"".join(lines))
                    documents += len(answers)
                    new += sum(answer.is_new for answer in answers)
                    exact += sum(answer.exact for answer in answers)
                    progress.advance(len(answers))
        rejected_for = by_reason(corpus.rejected) if given else {}
    return CheckCounts(documents=documents, new=new, exact=exact, rejected_for=rejected_for)


def told_of_checked(counts: CheckCounts) -> Iterator[ToldLine]:
    """The counts as lines for a person."""
    yield "read", counted(counts.documents, "document")
    yield "new", counted(counts.new, "document") + share_text(counts.new, counts.documents)
    known = counts.documents - counts.new
    kinds = f": {counts.exact:,} exact, {known - counts.exact:,} near" if known else ""
    yield "known", counted(known, "document") + share_text(known, counts.documents) + kinds
    if counts.rejected:
        yield "skipped", f"{counted(counts.rejected, 'row')} could not be read"
        yield "", reasons_text(counts.rejected_for)
