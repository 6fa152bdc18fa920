"""Give several finished files their final names, here and in stores: all of them, or none."""

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from neardup.errors import InputError, NeardupError
from neardup.io.storage.places import partial_name
from neardup.io.storage.remote import RemotePath
from neardup.resources.threads import in_order

_UPLOADS_AT_ONCE = 8


def rename_all(renames: Sequence[tuple[Path, Path]], *, removed: Iterable[Path] = ()) -> None:
    """Rename files in order, replacing what has the new names. If one cannot be renamed, all are as they were before.

    If the machine stops meanwhile, every file is either the old or the new one, and some old ones may have a hidden name, too.

    Args:
        renames: the present and the new name of each, in one folder.
        removed: files to remove, if they are there.

    Raises:
        InputError: a file cannot be renamed or removed.
    """
    done: list[tuple[Path | None, Path]] = []
    aside: dict[Path, Path] = {}
    try:
        for present, final in [*renames, *((None, path) for path in removed)]:
            last = final
            if os.path.lexists(final):
                aside[final] = partial_name(final, f"{os.getpid()}-{os.urandom(6).hex()}")
                _keep(final, aside[final])
            done.append((present, final))
            if present is None:
                final.unlink(missing_ok=True)
            else:
                os.replace(present, final)
    except OSError as problem:
        stays = "".join(_put_back(present, final, aside) for present, final in reversed(done))
        raise InputError(
            f"{last} cannot be written: {problem.strerror}. {stays or 'All outputs are as they were before. '}Name other outputs, "
            "or see to it that this one can be replaced."
        ) from None
    finally:
        for kept in aside.values():
            with contextlib.suppress(OSError):
                kept.unlink()


def _put_back(present: Path | None, final: Path, aside: dict[Path, Path]) -> str:
    """Undo one renaming; says what could not be undone."""
    try:
        if present is not None and not present.exists():
            os.replace(final, present)
        if final in aside:
            os.replace(aside[final], final)
    except OSError as problem:
        kept = aside.pop(final, None)
        before = f", and what it held before is in {kept}" if kept is not None and kept.exists() else ""
        return f"{final} cannot be put back ({problem.strerror}){before}. "
    return ""


def _keep(file: Path, aside: Path) -> None:
    """Give a file a second name; where a file can have only one, another name."""
    try:
        os.link(file, aside)
    except OSError:
        os.rename(file, aside)


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
