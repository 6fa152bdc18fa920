"""Local and remote files: code that opens or names a file takes a `Place`, and asks this module where the two kinds differ."""

import difflib
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from neardup.errors import InputError
from neardup.io.storage.remote import READ_BYTES, RemotePath, RemoteReader, Status

_DIGITS = re.compile(r"[0-9]+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_LIKE_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")
_MAX_NAME_BYTES = 180
"""Bytes of a name up to which it stands whole in the name of the unfinished file; most systems allow 255 in all."""

Place = Path | RemotePath
"""Where a file is, or will be."""


def is_url(given: str) -> bool:
    """Whether a user's file name is a URL, not a local file."""
    return _URL.match(given) is not None and not given.startswith("file://")


def place_of(given: str | Place) -> Place:
    """A `RemotePath` for a URL, otherwise a `Path`. Raises InputError if it is neither a string nor a path."""
    if isinstance(given, str) and is_url(given):
        return RemotePath(given)
    if isinstance(given, RemotePath):
        return given
    named = path_text(given)
    return Path(named.removeprefix("file://")) if isinstance(given, str) else given


def local_path(given: str | Path, what: str) -> Path:
    """The path of a file or folder that cannot lie elsewhere. `what`: the subject of the error.

    Raises:
        InputError: it is a URL.

    >>> local_path("s3://corpora/index", "an index")
    Traceback (most recent call last):
    neardup.errors.InputError: s3://corpora/index: an index lies on this machine. Give a path, not a URL.
    """
    if isinstance(given, str) and is_url(given):
        raise InputError(f"{given}: {what} lies on this machine. Give a path, not a URL.")
    return Path(path_text(given))


@overload
def path_text(given: str | Path) -> str: ...
@overload
def path_text(given: None) -> None: ...
def path_text(given: str | Path | None) -> str | None:
    """A user's name of an output as text; None stays None.

    Raises:
        InputError: it is neither a string nor a path.

    >>> path_text(Path("kept.jsonl"))
    'kept.jsonl'
    """
    if given is None:
        return given
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{given!r:.80} does not name a file. Give a string or a pathlib.Path.")
    named = os.fspath(given)
    try:
        os.fsencode(named)
    except UnicodeEncodeError:
        raise InputError(f"{named!r:.80} cannot be the name of a file: it has half of a surrogate pair.") from None
    if "\0" in named:
        raise InputError(f"{named!r:.80} cannot be the name of a file: it has a zero character.")
    return named


def name_as_text(name: str | Path) -> str:
    r"""The name of a local file as text, for ids and messages; different names become different texts.

    File names may be any bytes. Bytes that are not UTF-8 become `\xff`. In such names, and in names that look like them,
    backslashes are doubled.

    >>> name_as_text(os.fsdecode(b"caf\xc3\xa9")), name_as_text(os.fsdecode(b"caf\xe9"))
    ('café', 'caf\\xe9')
    """
    given = os.fsencode(name)
    try:
        text = given.decode()
        if not _LIKE_ESCAPED.search(text):
            return text
    except UnicodeDecodeError:
        pass
    return given.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def real_name(place: Place) -> str:
    """A name that is equal for equal files, with links followed."""
    return place.key_url if isinstance(place, RemotePath) else os.path.realpath(path_text(place))


def is_inside(name: str, folder: str) -> bool:
    """Whether `name` is `folder` or lies in it; both are results of `real_name`."""
    return name == folder or name.startswith(folder.rstrip("/") + "/")


def identity(place: Place) -> tuple[Any, Any]:
    """A value that is equal for one file under different names; the file must exist."""
    if isinstance(place, RemotePath):
        return "", place.key_url
    status = place.stat()
    return status.st_dev, status.st_ino


def status_of(place: Place) -> Status:
    """The size and the version of a file.

    Raises:
        OSError: it does not exist, or cannot be accessed.
        TransferError: the store fails again and again.
    """
    if isinstance(place, RemotePath):
        return place.status()
    status = place.stat()
    return status.st_size, status.st_mtime_ns


def copy_file(place: Place, local: Path) -> None:
    """Copy a file to `local`."""
    if isinstance(place, Path):
        shutil.copyfile(place, local)
        return
    with place.open() as source, local.open("wb") as target:
        shutil.copyfileobj(source, target, READ_BYTES)


def parquet_source(place: Place) -> Any:
    """A source from which pyarrow reads a file in any order."""
    return RemoteReader(place) if isinstance(place, RemotePath) else _arrow_file(place, "rb")


def arrow_source(place: Place) -> Any:
    """A file of Arrow for random reading: a local one is mapped."""
    import pyarrow as pa

    if isinstance(place, RemotePath):
        return pa.PythonFile(RemoteReader(place), "r")
    try:
        return pa.memory_map(os.fspath(place))
    except UnicodeEncodeError:  # a name that is not UTF-8
        return pa.PythonFile(place.open("rb"), "r")


def parquet_sink(given: Any) -> Any:
    """A sink to which pyarrow writes: a local file, or an open one as it was given."""
    if given == Path("-"):
        return sys.stdout.buffer
    return _arrow_file(given, "wb") if isinstance(given, Path) else given


def _arrow_file(path: Path, mode: str) -> Any:
    """The path; of a name that is not UTF-8, which pyarrow does not take as a path, the open file."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        import pyarrow as pa

        return pa.OSFile(os.fsencode(path), mode)
    return path


def near_folder(path: Path, is_one: Callable[[Path], bool]) -> str:
    """The folder beside this one that may be meant, as a question; `is_one`: whether a folder is of this kind."""
    near = difflib.get_close_matches(path.name, _beside(path, is_one), 1)
    return f" (did you mean {path.with_name(near[0])}?)" if near else ""


def misspelled_folder(path: Path, is_one: Callable[[Path], bool]) -> Path | None:
    """The folder beside this one of which the name is a slip of the keyboard: two characters changed places, or one or two are
    missing or too many. Names that continue one another, or differ in digits, are chosen so.
    """
    for name in _beside(path, is_one):
        short, long = sorted((path.name, name), key=len)
        if len(short) == len(long):
            is_slip = short in (long[:i] + long[i + 1] + long[i] + long[i + 2 :] for i in range(len(long) - 1))
        else:
            rest, stem = iter(long), Path(short).stem
            is_slip = len(long) - len(short) <= 2 and all(each in rest for each in short)
            is_slip = is_slip and not long.startswith(stem) and not Path(long).stem.endswith(stem)
        if is_slip and _DIGITS.sub("", short) != _DIGITS.sub("", long):
            return path.with_name(name)
    return None


def _beside(path: Path, is_one: Callable[[Path], bool]) -> list[str]:
    """The names of the folders beside one that are of a kind."""
    try:
        return sorted(each.name for each in path.parent.iterdir() if is_one(each))
    except OSError:
        return []


def files_below(folder: Place, endings: tuple[str, ...]) -> list[Place]:
    """The files in a folder, and in folders below it, with these endings, sorted by name."""
    if isinstance(folder, RemotePath):
        return [file for file in folder.files() if file.name.endswith(endings)]
    return [*sorted(path for path in folder.rglob("*") if path.name.endswith(endings) and path.is_file())]


def partial_name(final: Path, mark: str) -> Path:
    """The hidden file beside an output's final name, to which the output is written; another for every name."""
    name = os.fsencode(final.name)
    if len(name) > _MAX_NAME_BYTES:  # with the mark, it might be longer than names may be
        name = name[: _MAX_NAME_BYTES // 2] + b"-" + hashlib.sha256(name).hexdigest()[:16].encode()
    return final.with_name(f".{os.fsdecode(name)}.partial-{mark}")
