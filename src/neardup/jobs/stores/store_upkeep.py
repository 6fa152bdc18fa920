"""The upkeep of stores: expire documents, compact, verify and repair; list what is similar; copy.

Errors are those of the methods of `Store`; an InputError, too, if there is no store, or the output exists.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.storage.places import path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.store_places import folder_of_store, ids_file, opened_store, store_is_there
from neardup.jobs.stores.store_answers import match_values, meant_ids
from neardup.progress import Watcher
from neardup.recipe.presets import RecipeLike
from neardup.store.answers import Removal, StoreCheck, StoreMatch
from neardup.store.arguments import Duration
from neardup.store.back_ends import back_end_of, shown_place
from neardup.store.formats.versions import OtherVersionError
from neardup.store.store import Store
from neardup.store.upkeep.info import SeenBy, StoreInfo

ORPHANS_AT_ONCE = 1 << 12
"""Orphans that are listed together."""


def expire_in_store(
    path: str | Path,
    *,
    older_than: Duration | None = None,
    newest: int | None = None,
    by: SeenBy = "last_seen",
    output: str | Path | None = None,
    overwrite: bool = False,
    wait: float = 0.0,
) -> Removal:
    """Remove the documents of a store that have expired, and others that are old; returns their number. See `Store.expire`, and for
    `output` `ids_file`.
    """
    with opened_store(path, wait=wait) as store, ids_file(path, output, overwrite=overwrite) as report:
        return store.expire(older_than=older_than, newest=newest, by=by, report_ids=report)


def compact_store(path: str | Path, *, wait: float = 0.0) -> tuple[int, int] | None:
    """Give up the room of what was removed; see `Store.compact`. Returns the bytes of the store before and after; None if nothing
    was to be gained.

    Raises:
        InputError: there is no store, or another process writes to it.
    """
    with opened_store(path, wait=wait) as store:
        before = sum(store.info().bytes.values())
        return (before, sum(store.info().bytes.values())) if store.compact() else None


def verify_store(path: str | Path) -> StoreCheck:
    """Read every byte of a store; see `Store.verify`. A store that cannot be opened since it is damaged is not sound.

    Raises:
        InputError: there is no store.
        DataError: it is of another version.
    """
    try:
        with opened_store(path, "r") as store:
            return store.verify()
    except OtherVersionError:
        raise
    except DataError as problem:
        return StoreCheck(0, (), (str(problem),))


def repair_store(path: str | Path, *, wait: float = 0.0) -> tuple[StoreCheck, StoreCheck]:
    """Repair a store; see `Store.repair`. Returns what was wrong, and what is wrong afterwards."""
    found = Store.repair(path, wait=wait)
    return found, verify_store(path)


def told_of_check(check: StoreCheck) -> Iterator[str]:
    """What is wrong with a store, as lines."""
    yield from check.problems
    for name in check.damaged:
        yield f"The document {json.dumps(name, ensure_ascii=False)} is damaged."


# -------------------------------------------------------------------------------------------------------- what is similar


def neighbors_in_store(
    path: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    min_similarity: float | None = None,
) -> list[StoreMatch]:
    """The kept documents that are similar to a text, or to a kept document; see `Store.neighbors`.

    The id is given as text: 17 means the string, or if there is none, the integer.

    Raises:
        InputError: there is no store.
        OptionError: neither or both are given, there is no such document, or the similarity is below the floor.
    """
    if (text is None) == (id is None):
        raise OptionError("Give either `text`, or the `id` of a kept document.")
    with opened_store(path, "r") as store:
        if id is None:
            return store.neighbors(text, min_similarity=min_similarity)
        found = [each for each in meant_ids([id])[0] if store.get(each) is not None]
        if not found:
            raise InputError(f"{shown_place(path)} keeps no document of {id!r}.")
        return store.neighbors(id=found[0], min_similarity=min_similarity)


def pairs_of_store(
    path: str | Path, output: str | Path = "-", *, min_similarity: float | None = None, overwrite: bool = False
) -> int:
    """Write all pairs of kept documents that are so similar; see `Store.pairs`. Returns their number."""
    return _write(
        path, output, lambda store: map(asdict, store.pairs(min_similarity=min_similarity)), overwrite=overwrite
    )


def clusters_of_store(
    path: str | Path, output: str | Path = "-", *, min_similarity: float | None = None, overwrite: bool = False
) -> int:
    """Write the clusters of kept documents that pairs connect; see `Store.clusters`. Returns their number."""
    return _write(
        path,
        output,
        lambda store: ({"ids": ids} for ids in store.clusters(min_similarity=min_similarity)),
        overwrite=overwrite,
    )


def orphans_of_store(path: str | Path, output: str | Path = "-", *, overwrite: bool = False) -> int:
    """Write the skipped documents that no kept document matched when their own went; see `Store.orphans`. Returns their number."""

    def pages(store: Store) -> Iterator[dict[str, Any]]:
        after = 0
        while page := store.orphans(limit=ORPHANS_AT_ONCE, after=after):
            yield from ({"id": each.id, "compared": each.compared, "orphaned": each.orphaned} for each in page)
            after = page[-1].number

    return _write(path, output, pages, overwrite=overwrite)


def match_line(match: StoreMatch) -> str:
    """A match as JSON."""
    return json.dumps(match_values(match), ensure_ascii=False)


def _write(
    path: str | Path, output: str | Path, lines: Callable[[Store], Iterable[dict[str, Any]]], *, overwrite: bool
) -> int:
    count = 0
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(opened_store(path, "r"))
        reads = ReadFiles(others=folder_of_store(path))
        sink = stack.enter_context(answers_to(answers_place(path_text(output)), reads, overwrite=overwrite))
        for line in lines(store):
            sink.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


# ----------------------------------------------------------------------------------------------------------------- copies


def export_store(path: str | Path, target: str | Path) -> int:
    """Write a store as Parquet and JSON; see `Store.export`. Returns the number of documents."""
    with opened_store(path, "r") as store:
        store.export(target)
        return len(store)


def import_store(path: str | Path, source: str | Path, *, threads: int | None = None) -> int:
    """Make a store of an export; see `Store.from_export`. Returns the number of documents."""
    _demand_no_store(path)
    with Store.from_export(path, source, threads=threads) as store:
        return len(store)


def _demand_no_store(path: str | Path) -> None:
    if store_is_there(path):
        raise InputError(f"{shown_place(path)} is a store already. Name a folder that is empty, or not there.")


def build_store(
    path: str | Path,
    run: str | Path,
    *,
    recipe: RecipeLike | None = None,
    texts: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
) -> StoreInfo:
    """Make a store of a finished run of `dedup`; see `Store.build`."""
    _demand_no_store(path)
    with Store.build(path, run, recipe=recipe, texts=texts, threads=threads, progress=progress) as store:
        return store.info()


def backup_store(path: str | Path, target: str | Path) -> int:
    """Copy a store as it is; see `Store.backup`. Returns the number of documents."""
    with opened_store(path, "r") as store:
        store.backup(target)
        return len(store)


def upgrade_tables(path: str | Path) -> tuple[int, int]:
    """Make of the tables of stores in a database those of this version; see `upgrade`. Returns the versions before and after.

    Raises:
        InputError: the place is a folder, or has no tables.
        OtherVersionError: the tables are newer.
    """
    return back_end_of(path).upgrade(path)
