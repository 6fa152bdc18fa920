"""Files in object stores and on other hosts, through fsspec: what a `Path` is for files here, a `RemotePath` is for URLs.

Reading asks for ranges of bytes, writing uploads a finished local file; what fails on the way is tried again. Files that are
not there, or not allowed, are told as OSError with a `strerror`, as the system tells it of local ones.
"""

import contextlib
import errno
import io
import os
import posixpath
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from neardup.errors import DataError, InputError, MissingExtra, TransferError

Result = TypeVar("Result")

WAITS = (1.0, 4.0, 15.0)
"""Seconds before each further attempt of a transfer that failed."""

READ_BYTES = 8 << 20
"""Fetched at once, in the end, of a file that is read from its beginning to its end."""

FIRST_READ_BYTES = 320 << 10
"""Fetched at first, enough to look at the columns; then four times as much with each request."""

_UPLOAD_BYTES, _MOST_PARTS = 16 << 20, 9_000
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_MAGIC = re.compile(r"[*?\[]")
_OF_EXTRA = {"s3", "s3a", "gs", "gcs", "hf"}
_SURE = ("ETag", "etag", "generation", "blob_id", "oid")
_VERSIONS = (*_SURE, "mtime", "LastModified", "last_modified", "updated", "created")
"""What stores call the version of a file's content, the surest first; only the sure ones are alike in listings."""

_FINAL = (
    FileNotFoundError,
    PermissionError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    NotImplementedError,
    TypeError,
    ValueError,
    ImportError,
)
"""Errors that another attempt would only repeat."""

Status = tuple[int, int | str]
"""Bytes, and what differs when the content does: the time of the last change in nanoseconds, or a store's version."""


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A URL such as `s3://bucket/folder/name`, with as much of `pathlib.Path` as files need.

    Attributes:
        url: as given.
        known: of the file, as it was when it was found.
    """

    url: str
    known: Status | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, relative: str) -> "RemotePath":
        return RemotePath(f"{self.url.rstrip('/')}/{relative}")

    @property
    def scheme(self) -> str:
        return self.url.partition("://")[0].lower()

    @property
    def key_url(self) -> str:
        """The URL without slashes that make no difference."""
        return f"{self.scheme}://{self.url.partition('://')[2].strip('/')}"

    @property
    def name(self) -> str:
        return posixpath.basename(self.url.rstrip("/"))

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.name)[1]

    @property
    def stem(self) -> str:
        return posixpath.splitext(self.name)[0]

    @property
    def parent(self) -> "RemotePath":
        return RemotePath(self.url.rstrip("/")[: -len(self.name)])

    def with_name(self, name: str) -> "RemotePath":
        return RemotePath(self.parent.url + name)

    @property
    def _store(self) -> tuple[Any, str]:
        store = _store(self.scheme)
        return store, store._strip_protocol(self.url)

    def status(self) -> Status:
        """The size and the version as they are now; see `status_of`."""
        found = self._info()
        if found["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self.url)
        return _status(found)

    def _info(self) -> dict[str, Any]:
        store, key = self._store

        def ask() -> Any:
            store.invalidate_cache()
            return store.info(key)

        return _attempted(self.url, "looking at it", ask)

    def is_dir(self) -> bool:
        """Whether it is a folder, and no file; False if it is not there."""
        try:
            return bool(self._info()["type"] == "directory")
        except FileNotFoundError:
            return False

    def is_file(self) -> bool:
        """Whether it is there, and no folder."""
        try:
            return bool(self._info()["type"] == "file")
        except FileNotFoundError:
            return False

    def files(self) -> list["RemotePath"]:
        """All files below this folder, but hidden ones, by name."""
        store, key = self._store

        def find() -> Any:
            store.invalidate_cache()
            return store.find(key, detail=True)

        return self._below(key, _attempted(self.url, "listing it", find), hidden=False)

    def matches(self) -> tuple["RemotePath", list["RemotePath"]]:
        """The folder before the first wildcard of a glob, and the files and folders that match; folders end in a slash."""
        store, pattern = self._store
        first = _MAGIC.search(self.url)
        assert first is not None
        fixed = RemotePath(self.url[: self.url.rindex("/", 0, first.start()) + 1])
        base = store._strip_protocol(fixed.url)

        def match() -> Any:
            store.invalidate_cache()
            return store.glob(pattern, detail=True)

        found = _attempted(self.url, "listing it", match)
        if "**" in pattern:  # which matches every folder beside the files in it
            found = {key: each for key, each in found.items() if each["type"] == "file"}
        return fixed, fixed._below(base, found, hidden="/." in self.url[len(fixed.url) - 1 :])

    def _below(self, base: str, found: dict[str, Any], *, hidden: bool) -> list["RemotePath"]:
        places = []
        for key in sorted(found):
            relative = key[len(base) :].lstrip("/")
            folder = found[key]["type"] != "file"
            if not relative or key.endswith("/") or (not hidden and "/." in f"/{relative}"):
                continue
            below = self / relative
            known = _status(found[key]) if any(found[key].get(name) for name in _SURE) else None
            places.append(RemotePath(f"{below.url}/") if folder else RemotePath(below.url, known))
        return places

    def _read_range(self, start: int, end: int) -> bytes:
        store, key = self._store

        def fetch() -> bytes:
            data: bytes = store.cat_file(key, start=start, end=end)
            if len(data) != end - start:
                raise OSError(errno.EIO, f"{len(data):,} bytes came, not {end - start:,}")
            return data

        return _attempted(self.url, f"reading bytes {start:,} to {end:,}", fetch)

    def open(self, mode: str = "rb", buffering: int = READ_BYTES) -> io.BufferedReader:
        """Open for reading bytes, from the beginning to the end or anywhere."""
        if mode != "rb":
            raise ValueError(f"mode={mode!r}: a remote file is read here; upload() writes one")
        reader = RemoteReader(self, step=FIRST_READ_BYTES)
        return io.BufferedReader(reader, max(io.DEFAULT_BUFFER_SIZE, min(buffering, reader.size())))

    def read_bytes(self) -> bytes:
        with self.open() as file:
            return file.read()

    def read_text(self, encoding: str) -> str:
        return self.read_bytes().decode(encoding)

    def upload(self, local: Path) -> None:
        """Let this be a copy of a local file; until all of it is there, this is what it was.

        Raises:
            OSError: the store denies it, or has no such bucket.
            TransferError: it fails again and again; what had been sent is removed.
        """
        _attempted(self.url, "writing it", lambda: self._upload(local))

    def _upload(self, local: Path) -> None:
        store, key = self._store
        size = local.stat().st_size
        if size <= _UPLOAD_BYTES:
            store.pipe_file(key, local.read_bytes())
            return
        target = store.open(key, "wb", autocommit=False, block_size=max(_UPLOAD_BYTES, size // _MOST_PARTS + 1))
        try:
            with local.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
            target.close()
            target.commit()
        except BaseException:
            with contextlib.suppress(AttributeError):  # a store in memory
                target.closed = True  # else it would be finished when it is collected
            target.discard()
            raise

    def check_writable(self) -> None:
        """Begin to write the file and give up, where the store can: what is denied is told before any work.

        Raises:
            OSError, TransferError: as of `upload`.
        """
        store, key = self._store
        if self.scheme not in ("s3", "s3a"):
            return

        def begin() -> None:
            target = store.open(key, "wb", autocommit=False)
            target.closed = True
            target._initiate_upload()
            target.discard()

        _attempted(self.url, "beginning to write it", begin)

    def unlink(self, missing_ok: bool = False) -> None:
        store, key = self._store
        try:
            _attempted(self.url, "removing it", lambda: store.rm_file(key))
        except FileNotFoundError:
            if not missing_ok:
                raise


class RemoteReader(io.RawIOBase):
    """The bytes of a remote file; each read is one request, tried again if it fails.

    Args:
        step: bytes that the first read gives at most, each further one four times as many; all that is asked for if not given.

    Raises, from reading:
        InputError: the store denies it.
        DataError: the file changed, or is gone.
        TransferError: the store fails again and again.
    """

    def __init__(self, place: RemotePath, *, step: int | None = None) -> None:
        self._place, self._at, self._step = place, 0, step
        self._status = place.known or place.status()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._status[0]}[whence])
        return self._at

    def size(self) -> int:
        return self._status[0]

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._status[0])
        if end <= self._at:
            return 0
        if self._step is not None:
            end, self._step = min(end, self._at + self._step), min(4 * self._step, READ_BYTES)
        data = self._fetch(self._at, end)
        buffer[: len(data)] = data
        self._at = end
        return len(data)

    def readall(self) -> bytes:
        parts = []
        while self._at < self._status[0]:
            end = min(self._at + READ_BYTES, self._status[0])
            parts.append(self._fetch(self._at, end))
            self._at = end
        return b"".join(parts)

    def _fetch(self, start: int, end: int) -> bytes:
        place = self._place
        try:
            return place._read_range(start, end)
        except PermissionError as problem:
            raise InputError(f"{place} cannot be read: {problem.strerror}.") from None
        except (TransferError, FileNotFoundError, ValueError) as problem:  # a range past the end may be a ValueError
            self._check_unchanged()
            if isinstance(problem, OSError):
                raise DataError(f"{place} cannot be read any more: {problem.strerror}. Run again.") from None
            raise

    def _check_unchanged(self) -> None:
        place = self._place
        try:
            unchanged = place.status() == self._status
        except OSError as problem:
            raise DataError(f"{place} cannot be read any more: {problem.strerror}. Run again.") from None
        if not unchanged:
            raise DataError(f"{place} changed while it was in use. Run again when no other program writes to it.")


Place = Path | RemotePath
"""Where a file is, or will be."""


def is_url(given: str) -> bool:
    """Whether a name given by a person is a URL, and none of a local file."""
    return _URL.match(given) is not None and not given.startswith("file://")


def place_of(given: str | Place) -> Place:
    """A `RemotePath` for a URL, a `Path` for all else."""
    if isinstance(given, str) and is_url(given):
        return RemotePath(given)
    return Path(given.removeprefix("file://")) if isinstance(given, str) else given


def real_name(place: Place) -> str:
    """A name that is equal for equal files, links followed."""
    return place.key_url if isinstance(place, RemotePath) else os.path.realpath(place)


def identity(place: Place) -> tuple[Any, Any]:
    """Equal for the same file under different names; it must be there."""
    if isinstance(place, RemotePath):
        return "", place.key_url
    status = place.stat()
    return status.st_dev, status.st_ino


def status_of(place: Place) -> Status:
    """The size and the version of a file.

    Raises:
        OSError: it is not there, or cannot be looked at.
        TransferError: the store fails again and again.
    """
    if isinstance(place, RemotePath):
        return place.status()
    status = place.stat()
    return status.st_size, status.st_mtime_ns


def copy_file(place: Place, local: Path) -> None:
    """Let `local` have the bytes of a file."""
    if isinstance(place, Path):
        shutil.copyfile(place, local)
        return
    with place.open() as source, local.open("wb") as target:
        shutil.copyfileobj(source, target, READ_BYTES)


def parquet_source(place: Place) -> Any:
    """What pyarrow reads a file from, in any order."""
    return RemoteReader(place) if isinstance(place, RemotePath) else place


@cache
def _store(scheme: str) -> Any:
    """The file system of a scheme; it remembers no listings, for files may change."""
    try:
        import fsspec
    except ImportError:
        raise _missing(scheme) from None
    try:
        kind = fsspec.get_filesystem_class(scheme)
    except ValueError:
        raise InputError(
            f"{scheme}:// is no kind of URL that fsspec knows. Allowed: s3://, gs://, hf:// and those of other fsspec packages."
        ) from None
    except ImportError as problem:
        raise _missing(scheme, str(problem)) from None
    try:
        return kind(use_listings_cache=False)
    except ImportError as problem:
        raise _missing(scheme, str(problem)) from None


def _missing(scheme: str, reason: str = "") -> MissingExtra:
    if scheme in _OF_EXTRA or not reason:
        return MissingExtra(f"{scheme}:// needs a package that is not installed. Run: pip install 'neardup[remote]'")
    return MissingExtra(f"{scheme}:// needs a package that is not installed: {reason.rstrip('.')}.")


def _status(info: dict[str, Any]) -> Status:
    version = next((str(info[name]) for name in _VERSIONS if info.get(name) is not None), "")
    return int(info["size"] or 0), version


def _attempted(url: str, what: str, attempt: Callable[[], Result]) -> Result:
    """What `attempt` gives, tried again where that may help.

    Raises:
        OSError: with a `strerror`: not there, or not allowed.
        TransferError: it failed as often as it is tried.
    """
    for wait in (*WAITS, None):
        try:
            return attempt()
        except Exception as problem:
            final = _final(url, problem)
            if final is not None:
                raise final from None
            if wait is None:
                raise TransferError(url, what, len(WAITS) + 1, _reason(problem)) from None
            time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _final(url: str, problem: Exception) -> Exception | None:
    """What to raise at once; None for what may pass."""
    if isinstance(problem, PermissionError) or "Credential" in type(problem).__name__:
        return PermissionError(
            errno.EACCES,
            f"the store denies access ({_reason(problem)}); check the credentials and what they allow",
            url,
        )
    if isinstance(problem, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "there is no such file, folder or bucket", url)
    return problem if isinstance(problem, _FINAL) else None


def _reason(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".")
