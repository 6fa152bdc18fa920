"""CALLS of a store: one thread at a time, in the process that opened it, and each reads one state of the store."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from neardup.errors import InputError, NeardupError

P = ParamSpec("P")
R = TypeVar("R")


class _HasFiles(Protocol):
    _files: Any


S = TypeVar("S", bound=_HasFiles)


def one_call(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A public method of a store; see `neardup.store.session.reader.OpenFiles.in_use`."""
    return _called(method, changes=False)


def changing_call(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A public method of a store that changes it."""
    return _called(method, changes=True)


def _called(method: Callable[Concatenate[S, P], R], *, changes: bool) -> Callable[Concatenate[S, P], R]:
    @functools.wraps(method)
    def called(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        with contextlib.nullcontext() if changes else disk_errors(self._files.shown):
            found: R = self._files.call(lambda: method(self, *args, **kwargs), changes=changes)
        return found

    return called  # type: ignore[return-value]  # mypy takes `self` for a name


@contextlib.contextmanager
def disk_errors(shown: str) -> Iterator[None]:
    """Errors of the disk in our words, of what is done with a store (in messages) where no function of a caller runs, whose errors
    are its own.

    Raises:
        InputError: a file cannot be read or written.
    """
    try:
        yield
    except OSError as problem:
        if isinstance(problem, NeardupError):
            raise
        where = f": {problem.filename}" if isinstance(problem.filename, str) else ""
        raise InputError(
            f"{shown}: {problem.strerror or problem}{where}. What was acknowledged before is kept. Mend the cause, and try again."
        ) from problem


def demand_process(what: str, opened_in: int) -> None:
    """Refuse (InputError) what another process has opened: SQLite and the lock of a store do not go through a fork."""
    if os.getpid() != opened_in:
        raise InputError(
            f"{what} was opened in process {opened_in}, and this is process {os.getpid()}. Open it anew in this process."
        )
