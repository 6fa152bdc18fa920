"""Upload finished files to their stores: afterwards all of them exist, or none that did not exist before."""

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

from neardup.errors import InputError, NeardupError
from neardup.io.storage.remote import RemotePath
from neardup.resources.threads import in_order

_UPLOADS_AT_ONCE = 8


def upload_all(files: Mapping[RemotePath, Path], *, replaced: Collection[RemotePath]) -> None:
    """Upload each local file and remove it here. If an upload fails, the new files already uploaded are removed again.

    Args:
        files: the target of each file. The first is complete before any other is uploaded.
        replaced: files that existed before.

    Raises:
        InputError: a store denies one.
        TransferError: a store fails again and again.
    """
    begun: list[RemotePath] = []

    def send(task: tuple[RemotePath, Path]) -> None:
        path, local = task
        begun.append(path)  # recorded first: the store's answer may be lost
        path.upload(local)
        local.unlink()

    tasks = list(files.items())
    try:
        # The audit comes first: no removal may lack its line. Threads are used because an interrupt waits for them to end.
        for some in (tasks[:1], tasks[1:]):
            for _ in in_order(send, some, _UPLOADS_AT_ONCE):
                pass
    except BaseException as problem:
        for path in begun:
            if path not in replaced:
                with contextlib.suppress(OSError, NeardupError):  # the first failure is the one raised
                    path.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise InputError(f"{problem.filename} cannot be written: {problem.strerror}.") from None
        raise
