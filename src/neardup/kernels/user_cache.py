"""The user's cache folder, for what takes long to make and nobody else may have put there: machine code, dictionaries."""

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path


def say(line: str) -> None:
    """Tell the user something, on standard error."""
    print(f"neardup: {line}", file=sys.stderr, flush=True)


def candidate_folders() -> list[Path]:
    """The user's cache folder, or none: `NEARDUP_CACHE_DIR` if that is set, else the system's place for such folders."""
    chosen = os.environ.get("NEARDUP_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    with contextlib.suppress(RuntimeError):  # no home at all
        home = Path.home()
        default = home / ("Library/Caches" if sys.platform == "darwin" else ".cache")
        return [Path(os.environ.get("XDG_CACHE_HOME") or default) / "neardup"]
    return []


def is_private(folder: Path) -> bool:
    """Whether nobody else can have written what lies in a folder, or can put another in its place: cached code is executed."""
    with contextlib.suppress(OSError):  # it is not there yet
        found = folder.lstat()
        if found.st_uid != os.getuid() or found.st_mode & 0o022:
            return False
    with contextlib.suppress(OSError):
        found = folder.parent.stat()
        if found.st_uid not in (os.getuid(), 0) or (found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX):
            return False
    return True


def writable(folder: Path) -> bool:
    """Whether files can be put into a folder, which is made if need be."""
    try:
        folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for each in (folder.parent, folder):
            each.mkdir(mode=0o755, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def private_temporary_folder() -> Path:
    """A folder under the temporary directory that only this user can have written: cached code is executed."""
    folder = Path(tempfile.gettempdir()) / f"neardup-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if (
            stat.S_ISDIR(found.st_mode)
            and found.st_uid == os.getuid()
            and not found.st_mode & 0o022
            and writable(folder)
        ):
            return folder
    return Path(tempfile.mkdtemp(prefix="neardup-"))
