"""Finished files sent to their stores: all of them are there afterwards, or none that was not there before."""

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

from neardup.errors import InputError, NeardupError
from neardup.io.storage.remote import RemotePath
from neardup.resources.threads import in_order

_TOGETHER = 8


def upload_all(files: Mapping[RemotePath, Path], *, replaced: Collection[RemotePath]) -> None:
    """Send each local file, and remove it here; should one fail, those that were sent and are new there are removed again.

    Args:
        files: where each goes. The first is there before any other is sent.
        replaced: what was there before.

    Raises:
        InputError: a store denies one.
        TransferError: a store fails again and again.
    """
    begun: list[RemotePath] = []

    def send(task: tuple[RemotePath, Path]) -> None:
        path, local = task
        begun.append(path)  # before it is there: the answer may be lost
        path.upload(local)
        local.unlink()

    tasks = list(files.items())
    try:
        # The audit first: no removal may be without its line in it. In threads, for an interrupt waits for these to end.
        for some in (tasks[:1], tasks[1:]):
            for _ in in_order(send, some, _TOGETHER):
                pass
    except BaseException as problem:
        for path in begun:
            if path not in replaced:
                with contextlib.suppress(OSError, NeardupError):  # what failed first is told
                    path.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise InputError(f"{problem.filename} cannot be written: {problem.strerror}.") from None
        raise
