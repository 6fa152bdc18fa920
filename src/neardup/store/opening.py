"""OPEN: the folder of a store, its lock, and the options that must be those of the store."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.errors import InputError, OptionError
from neardup.options import DedupOptions, MatchingOptions
from neardup.recipe.similarity import similarity_of, similarity_to_store, stored_similarity
from neardup.store.candidates.table import CANDIDATES

RECORD, LOCK = "record.sqlite", "lock"
DECIDING = ("method", "min_similarity", "similarity", "max_distance")
"""The options of a store."""
PATIENCE = 0.05
"""Seconds between two attempts to lock a store."""


def is_store(path: Path) -> bool:
    """Whether a folder holds a store."""
    return (path / RECORD).is_file()


def options_of(given: MatchingOptions) -> DedupOptions:
    """The options of a new store; the method is exact unless another is given.

    Raises:
        OptionError: one has a value that is not allowed.
    """
    wanted = DedupOptions(**(MatchingOptions(method="exact") | given))
    if wanted.method not in CANDIDATES:
        raise OptionError(f"`method={wanted.method!r}`: a store has one of {', '.join(CANDIDATES)}.")
    return wanted


def to_store(options: DedupOptions) -> dict[str, Any]:
    """Options as the record has them."""
    values = {name: getattr(options, name) for name in DECIDING}
    return values | {"similarity": similarity_to_store(options.compared_by)}


def stored_options(stored: dict[str, Any]) -> DedupOptions:
    """What `to_store` was given."""
    return DedupOptions(**stored | {"similarity": stored_similarity(stored["similarity"])})


def demand_same(path: Path, options: DedupOptions, given: MatchingOptions) -> None:
    """Refuse given options that are not those of the store."""
    values = {name: value for name, value in given.items() if value is not None}
    if "similarity" in values:
        values["similarity"] = similarity_of(given["similarity"])
    if differing := [name for name, value in values.items() if getattr(options, name) != value]:
        shown = ", ".join(f"`{name}={getattr(options, name)!r}`" for name in differing)
        raise OptionError(f"{path} was made with {shown}. Leave it out, or make another store.")


def make_folder(path: Path) -> None:
    """Make the folder of a new store.

    Raises:
        InputError: it is a file, or holds other files.
    """
    if path.exists() and not (path.is_dir() and all(_is_ours(each) for each in path.iterdir())):
        raise InputError(f"{path} is there, and is no store. Name a folder that is empty, or not there.")
    path.mkdir(parents=True, exist_ok=True)


def _is_ours(file: Path) -> bool:
    """Whether a store that was begun has left the file."""
    return file.name == LOCK or file.name.startswith(RECORD)


@contextlib.contextmanager
def writing(path: Path, wait: float) -> Iterator[None]:
    """Lock the store, so that no other process writes to it; `wait`: for so many seconds, until another one has ended.

    Raises:
        InputError: another process writes to it, or the folder cannot be written to.
    """
    ends = time.monotonic() + wait
    try:
        lock = (path / LOCK).open("a")
    except OSError as problem:
        raise InputError(f'{path} cannot be written to: {problem.strerror}. To read it, give `mode="r"`.') from None
    with lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= ends:
                    raise InputError(
                        f'Another process writes to the store at {path}. Wait until it has ended, or read it: `mode="r"`.'
                    ) from None
            time.sleep(PATIENCE)
        yield


def sync_folder(path: Path) -> None:
    """Make the names of new files durable."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
