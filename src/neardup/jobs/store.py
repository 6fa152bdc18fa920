"""Create stores, add documents of files to them, remove documents, and say what is known of documents."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack

from neardup.display import counted
from neardup.errors import InputError
from neardup.io.endings import split_ending
from neardup.io.outputs import Outputs
from neardup.io.reading import TextReadingDict, reading_of
from neardup.io.records import compression_of
from neardup.io.shard import Shard
from neardup.io.shards import Inputs, find_shards
from neardup.io.storage.compression import open_for_writing
from neardup.io.storage.places import local_path, path_text, place_of
from neardup.jobs.filter_run import StandardOutput
from neardup.jobs.output_paths import refuse_inputs
from neardup.jobs.store_answers import answer_line, meant_ids
from neardup.jobs.store_rows import corpus_of, documents_of
from neardup.options import MatchingOptions, OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.store.info import StoreInfo
from neardup.store.opening import is_store
from neardup.store.row_ids import RowIds
from neardup.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreCounts:
    """The counts of documents that were added to a store.

    Attributes:
        documents: all of them.
        new: those that are kept.
        duplicates: the others.
        exact: duplicates whose text equals that of their first match.
        rejected: rows that could not be read.
    """

    documents: int
    new: int
    duplicates: int
    exact: int
    rejected: int


def create_store(
    path: str | Path,
    *,
    recipe: RecipeLike | None = None,
    floor: float | None = None,
    policy: str | None = None,
    **options: Unpack[MatchingOptions],
) -> StoreInfo:
    """Create a store in a folder that does not exist or is empty; see `Store`.

    Raises:
        InputError: there is a store, or something else.
        OptionError: an option has a value that is not allowed.
    """
    if is_store(path):
        raise InputError(f"{path} is a store already. Add to it with `neardup store add`, or name another folder.")
    with Store(path, recipe=recipe, floor=floor, policy=policy, **options) as store:
        return store.info()


def opened_store(path: str | Path, mode: Literal["w", "r"] = "w", *, wait: float = 0.0) -> Store:
    """Open a store that is there. `wait`: seconds to wait until another process that writes has ended.

    Raises:
        InputError: there is none, or another process writes to it.
    """
    if not is_store(local_path(path, "a store")):
        raise InputError(f"{path} is no store. Name the folder of one, or make it with `neardup store create`.")
    return Store(path, mode=mode, wait=wait)


def add_to_store(
    path: str | Path,
    inputs: Inputs,
    output: str | Path | None = None,
    *,
    wait: float = 0.0,
    on_error: OnError = "stop",
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    progress: Watcher = None,
    **reading: Unpack[TextReadingDict],
) -> StoreCounts:
    """Decide the documents of files in their order, and keep those that are new.

    Args:
        path: the folder of the store.
        inputs: texts as in `deduplicate_files`.
        output: a file for the answers, .jsonl, .jsonl.gz or .jsonl.zst, or `-` for standard output; by default, none.
        wait: seconds to wait until another process that writes to the store has ended.
        on_error, threads, temp_dir, progress, **reading: as in `build_index`.
        overwrite: replace an output that exists.

    Raises:
        InputError: there is no store, an input is missing, or another process writes to the store.
        OptionError, DataError: as in `deduplicate_files`.
    """
    progress, how = progress_of(progress), reading_of(reading, add_to_store)
    with contextlib.ExitStack() as stack:
        spool = stack.enter_context(temporary_folder(temp_dir))
        shards = find_shards(inputs, temporary=spool, reading=how, progress=progress)
        corpus = corpus_of(shards, how, on_error, Resources(threads, temp_dir=temp_dir), progress)
        sink = stack.enter_context(answers_to(output, shards, overwrite=overwrite))
        store = stack.enter_context(opened_store(path, wait=wait))
        ids, before = RowIds(store.state), store.state or {}
        documents = new = exact = 0
        with progress.stage("add"):
            for found in documents_of(corpus):
                named = ids.of(found.tokens, found.shard, found.rows)
                state = before | ids.state() if ids.state() else None
                answers = store.check_and_add_many(named, found.texts, state=state)
                if sink is not None:
                    sink.write(b"".join(map(answer_line, named, answers)))
                documents += len(answers)
                new += sum(answer.is_new for answer in answers)
                exact += sum(answer.exact for answer in answers)
                progress.advance(len(answers))
    return StoreCounts(
        documents=documents,
        new=new,
        duplicates=documents - new,
        exact=exact,
        rejected=len(corpus.rejected),
    )


@contextlib.contextmanager
def answers_to(output: str | Path | None, shards: Iterable[Shard], *, overwrite: bool) -> Iterator[Any]:
    """A file for answers, which appears when it is complete; None without one.

    Raises:
        InputError: it exists, is an input, or its name does not end as that of JSON lines.
    """
    name = path_text(output)
    if name is None or name == "-":
        yield None if name is None else StandardOutput()
        return
    known = split_ending(Path(name).name)
    if known is None or known[1] != "jsonl":
        raise InputError(
            f"{name}: the answers are JSON lines. Give a name that ends in .jsonl, .jsonl.gz or .jsonl.zst."
        )
    target, shards = place_of(name), list(shards)
    refuse_inputs([target], shards)
    with Outputs([target], inputs=shards, overwrite=overwrite) as outputs:
        with open_for_writing(outputs.claim(target), compression_of(target)) as file:
            yield file
        outputs.commit()


def remove_from_store(path: str | Path, ids: Iterable[str], *, wait: float = 0.0) -> tuple[int, list[str]]:
    """Forget documents by their ids, given as text; 17 means the integer and the string.

    Returns:
        The number of removed documents, and the ids that no document has.

    Raises:
        InputError: there is no store.
    """
    given = list(dict.fromkeys(ids))
    with opened_store(path, wait=wait) as store:
        there = [[each for each in meant if store.get(each) is not None] for meant in meant_ids(given)]
        removed = store.remove([each for some in there for each in some])
    return removed, [text for text, some in zip(given, there, strict=True) if not some]


def documents_in_store(path: str | Path, ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What a store knows of documents, by their ids, given as text.

    Raises:
        InputError: there is no store, or no document has one of the ids; the others come first.
    """
    given, unknown = list(ids), []
    with opened_store(path, "r") as store:
        for text, meant in zip(given, meant_ids(given), strict=True):
            there = [each for each in map(store.get, meant) if each is not None]
            for document in there:
                yield {
                    "id": document.id,
                    "first_seen": document.first_seen,
                    "last_seen": document.last_seen,
                    "tokens": document.tokens,
                    "fingerprint": document.fingerprint.hex(),
                    "expires": document.expires,
                    "metadata": document.metadata,
                }
            if not there:
                unknown.append(text)
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise InputError(f"{path} keeps {'no document' if len(unknown) == 1 else 'no documents'} of {listed}.")


def told_of_added(counts: StoreCounts) -> str:
    """The counts as a sentence."""
    said = f"{counted(counts.documents, 'document')}: {counts.new:,} new, {counts.duplicates:,} duplicates"
    said += f", {counts.exact:,} of them exact" if counts.exact else ""
    return said + (f"; {counted(counts.rejected, 'row')} could not be read" if counts.rejected else "")


def told_of_options(info: StoreInfo) -> str:
    """How documents match, as a phrase."""
    if info.min_similarity == 0:
        return f"by distance alone (`method={info.method!r}`)"
    name = info.similarity if isinstance(info.similarity, str) else json.dumps(info.similarity, ensure_ascii=False)
    return f"by {name} similarity of at least {info.min_similarity} (`method={info.method!r}`)"
