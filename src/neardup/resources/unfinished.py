"""What an interrupted command removes, even if the thread that made it is still at work and cannot."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock

Removal = Callable[[], str | None]
"""Removes unfinished files, at most once and from any thread; may return what to tell of those that stay."""

_LOCK = RLock()
_REMOVALS: list[Removal] = []


@contextlib.contextmanager
def removed_by(removal: Removal) -> Iterator[None]:
    """While in this block, `remove_unfinished` calls `removal`."""
    with _LOCK:
        _REMOVALS.append(removal)
    try:
        yield
    finally:
        with _LOCK:
            _REMOVALS.remove(removal)


@contextlib.contextmanager
def told_if_interrupted(stays: str) -> Iterator[None]:
    """While in this block, an interrupt tells what stays, and what the same call does with it."""
    with removed_by(lambda: stays):
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(stays) from None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While in this block, `remove_unfinished` waits: files get their final names, or a store is told to forget parts."""
    with _LOCK:
        yield


def remove_unfinished() -> str:
    """Remove all that is unfinished, the latest first; returns what to tell of files that stay."""
    with _LOCK:
        told = [removal() for removal in reversed(_REMOVALS)]
    return "; ".join(filter(None, told))


@contextlib.contextmanager
def temporary_folder(temp_dir: str | Path | None = None) -> Iterator[Path]:
    """A folder in `temp_dir`, by default the system's; it is removed at the end of the block, or by an interrupt."""
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=temp_dir) as name:

        def remove() -> None:
            shutil.rmtree(name, ignore_errors=True)

        with removed_by(remove):
            yield Path(name)
