"""Create and open stores, remove documents, and say what is known of documents."""

import contextlib
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from neardup.errors import InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.storage.places import Place, path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.stores.store_answers import meant_ids
from neardup.options import MatchingOptions
from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike
from neardup.recipe.similarity import recorded_in_words
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.answers import Removal
from neardup.store.back_ends import back_end_of, no_store, shown_place
from neardup.store.record.command_state import RowIds
from neardup.store.store import Store
from neardup.store.upkeep.info import ReportIds, StoreInfo
from neardup.text.scripts import FirstTexts, ScriptCount


def create_store(
    path: str | Path,
    *,
    recipe: RecipeLike | None = None,
    floor: float | None = None,
    keep: str | None = None,
    keep_as: KeepAs | None = None,
    texts: bool | None = None,
    **options: Unpack[MatchingOptions],
) -> StoreInfo:
    """Create a store in a folder that does not exist or is empty; see `Store`.

    Raises:
        InputError: there is a store, or something else.
        OptionError: an option has a value that is not allowed.
    """
    if store_is_there(path):
        raise InputError(
            f"{shown_place(path)} is a store already. Add to it with `neardup store add`, or name another folder."
        )
    rules: dict[str, Any] = {"floor": floor, "keep": keep, "keep_as": keep_as, "texts": texts}
    with Store(path, create=True, recipe=recipe, **rules, **options) as store:
        return store.info()


def opened_store(path: str | Path, mode: Literal["w", "r"] = "w", *, wait: float = 0.0, is_run: bool = False) -> Store:
    """Open a store that is there.

    Args:
        path, mode: see `Store`.
        wait: seconds to wait until another process that writes has ended.
        is_run: whether a run keeps in the store how far it comes; then no other run does, even in a store that several services
            share.

    Raises:
        InputError: there is none, or another process writes to it.
    """
    if not store_is_there(path):
        raise no_store(path, "make it with `neardup store create`")
    store = Store(path, mode=mode, wait=wait)
    return alone(store, wait) if is_run else store


def alone(store: Store, wait: float) -> Store:
    """The same store, to which no other run of a command adds until it is closed.

    Raises:
        InputError: another one does; the store is closed.
    """
    try:
        store._files.claim("run", wait)
    except BaseException:
        store.close()
        raise
    return store


def ids_in(store: Store) -> RowIds:
    """The ids under which a store keeps the rows of a run."""

    def kept(names: Sequence[str]) -> Container[str]:
        with store._files.in_use():
            return store._files.known.of_ids(names)

    return RowIds(store.state, kept)


def first_texts_of(store: Store, progress: Progress) -> FirstTexts:
    """What sees the first texts of a store, and says if they need another recipe; nothing of a store that has documents."""
    count = None if len(store) else ScriptCount.wanted(store.recipe, store.options.compared_by)
    return FirstTexts(count, store.recipe, "store", progress.say)


def store_is_there(path: str | Path) -> bool:
    """Whether there is a store in a folder or in a database.

    Raises:
        InputError: it is another URL, or the database cannot be entered.
        TransferError: the database cannot be reached.
    """
    return back_end_of(path).is_there(path)


def folder_of_store(path: str | Path) -> dict[str, list[Place]]:
    """A store as what a run reads, for `ReadFiles`: its folder, or nothing if it is in a database."""
    folder = back_end_of(path).folder(path)
    return {} if folder is None else {"the store": [folder]}


@contextlib.contextmanager
def ids_file(path: str | Path, output: str | Path | None, *, overwrite: bool) -> Iterator[ReportIds]:
    """What writes the ids of removed documents to a file of JSON lines, which appears at the end; None without a file."""
    if output is None:
        yield None
        return
    place, reads = answers_place(str(path_text(output))), ReadFiles(others=folder_of_store(path))
    with answers_to(place, reads, overwrite=overwrite) as file:
        yield lambda ids: file.write(
            b"".join(json.dumps({"id": each}, ensure_ascii=False).encode() + b"\n" for each in ids)
        )


def remove_from_store(
    path: str | Path,
    ids: Iterable[str],
    *,
    output: str | Path | None = None,
    overwrite: bool = False,
    wait: float = 0.0,
) -> tuple[Removal, list[str]]:
    """Forget documents by their ids, given as text; 17 means the integer and the string. `output`: see `ids_file`.

    Returns:
        The number of removed documents with their orphans, and the ids that no document has.

    Raises:
        InputError: there is no store.
    """
    given = list(dict.fromkeys(ids))
    with opened_store(path, wait=wait) as store, ids_file(path, output, overwrite=overwrite) as report:
        there = [[each for each in meant if store.get(each) is not None] for meant in meant_ids(given)]
        removed = store.remove([each for some in meant_ids(given) for each in some], report_ids=report)
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
                    **({} if document.text is None else {"text": document.text}),
                }
            if not there:
                unknown.append(text)
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise InputError(
            f"{shown_place(path)} keeps {'no document' if len(unknown) == 1 else 'no documents'} of {listed}."
        )


def told_of_options(info: StoreInfo) -> str:
    """How documents match, as a phrase."""
    guarded = "" if info.guard is None else f", `guard={info.guard!r}`"
    if info.min_similarity == 0:
        return f"by distance alone (`method={info.method!r}`{guarded})"
    similarity = recorded_in_words(info.similarity)
    return f"by {similarity} similarity of at least {info.min_similarity} (`method={info.method!r}`{guarded})"
