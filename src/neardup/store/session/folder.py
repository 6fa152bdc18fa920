"""The FOLDER of a store, and its lock."""

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.store.record.transactions import location

RECORD, LOCK = "record.sqlite", "lock"
REPLICA = "replica"
"""The fact of a store that follows one in a database: which, and how far."""
REPLICA_MARK = f"{RECORD}.replica"
"""A file that says which store a folder follows, so that a damaged record is known to be a replica's."""
LOCK_PAUSE_SECONDS = 0.05
"""Seconds between two attempts to lock a store."""


class BusyError(InputError):
    """Another process writes to a store."""


def is_store(path: str | Path) -> bool:
    """Whether a folder holds a store, and not one that was killed while it was made."""
    file = Path(path) / RECORD
    if not file.is_file():
        return False
    # Not `mode=ro`: it cannot read what a killed process has left in the write-ahead log.
    with contextlib.closing(sqlite3.connect(location(file), uri=True)) as base:
        try:
            return bool(base.execute("SELECT 1 FROM facts WHERE name = 'recipe'").fetchone())
        except sqlite3.OperationalError as problem:
            return "no such table" not in str(problem)
        except (
            sqlite3.DatabaseError,
            ValueError,
        ):  # damaged, maybe with a message that is no UTF-8: told when it is opened
            return True


def demand_own(path: Path, facts: Mapping[str, Any], replica: Mapping[str, Any] | None) -> None:
    """Refuse (InputError) to write to a store that only follows another one; or if it should follow one, to any other."""
    has = facts.get(REPLICA)
    if replica is None and has is not None:
        raise InputError(
            f"{path} is a replica: it follows the store at {has['place']}, and would differ from it. Open that store; or open the "
            'replica with `mode="r"`.'
        )
    if replica is not None and has is None:
        raise InputError(f"{path} is a store, and no replica. Name a folder that is empty, or not there.")
    if replica is not None and has is not None and has["store"] != replica["store"]:
        raise InputError(
            f"{path} is a replica of another store, which was at {has['place']}. Name another folder, or remove this one."
        )


def make_folder(path: Path) -> None:
    """Make the folder of a new store; an InputError if it is a file, or holds other files."""
    is_free = not path.exists() or (path.is_dir() and all(_is_ours(each) for each in path.iterdir()))
    if not is_free and not is_store(path):  # which another process may have made meanwhile
        raise InputError(f"{path} is there, and is no store. Name a folder that is empty, or not there.")
    _make(path)


def demand_empty(path: Path) -> None:
    """Refuse (InputError) a folder to write to that has files, or is one."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path} is there. Name a folder that is empty, or not there.")


def free_folder(path: Path) -> None:
    """Make a folder to write to; an InputError if it is there, and is not empty, or cannot be made."""
    demand_empty(path)
    _make(path)


def _make(path: Path) -> None:
    """Make a folder, and those that it lies in."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{path} cannot be made: {problem.strerror}. Name another folder.") from None


def _is_ours(file: Path) -> bool:
    """Whether a store that was begun has left the file."""
    return file.name == LOCK or file.name.startswith((RECORD, "words-", "frequencies-"))


_TO_READ = 'It can be read: by commands that only read, such as `neardup store check`, and with `mode="r"` in Python.'


@contextlib.contextmanager
def writing(path: Path, wait: float) -> Iterator[None]:
    """Lock the store for writing, after up to `wait` seconds; an InputError if another process writes, or the folder cannot be
    written to.
    """
    ends = time.monotonic() + wait
    try:
        lock = (path / LOCK).open("a")
    except OSError as problem:
        raise InputError(f"{path} cannot be written to: {problem.strerror}. {_TO_READ}") from None
    with lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= ends:
                    raise BusyError(
                        f"Another process writes to the store at {path}. Wait until it has ended (most changes do with `wait=60`). "
                        f"{_TO_READ}"
                    ) from None
            time.sleep(LOCK_PAUSE_SECONDS)
        process = os.getpid()
        try:
            yield
        finally:
            if os.getpid() == process:  # a fork that lives on has the same lock, which closing alone would leave it
                fcntl.flock(lock, fcntl.LOCK_UN)
