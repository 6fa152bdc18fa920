"""Files in object stores and on other hosts, through fsspec: a `RemotePath` is to a URL what a `Path` is to a local file.

Reading requests ranges of bytes. Writing uploads a finished local file. Failed transfers are retried. A file that is missing or
not permitted raises OSError with a `strerror`, as the system does for local files.
"""

import contextlib
import errno
import io
import posixpath
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError, TransferError
from neardup.io.storage.stores import attempted, store_of

READ_BYTES = 8 << 20
"""Largest request when a file is read from beginning to end."""

FIRST_READ_BYTES = 320 << 10
"""First request, enough to look at the columns; each further request is four times as large."""

UPLOAD_PART_BYTES, _MAX_PARTS = 16 << 20, 9_000
_MAGIC = re.compile(r"[*?\[]")
_SURE = ("ETag", "etag", "generation", "blob_id", "oid")
_VERSIONS = (*_SURE, "mtime", "LastModified", "last_modified", "updated", "created")
"""Names that stores use for the version of a file's content, most reliable first; only the reliable ones agree with listings."""

Status = tuple[int, int | str]
"""The size in bytes, and a value that changes with the content: the time of the last change in ns, or a store's version."""


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A URL such as `s3://bucket/folder/name`, with the parts of `pathlib.Path` that files need.

    Attributes:
        url: as given.
        known: the state of the file when it was found.
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
        """The URL without redundant slashes."""
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
        store = store_of(self.scheme)
        return store, store._strip_protocol(self.url)

    def status(self) -> Status:
        """The current size and version; see `status_of`."""
        found = self._info()
        if found["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", self.url)
        return _status(found)

    def _asked(self, what: str, ask: Callable[[Any, str], Any]) -> Any:
        """The answer of the store, which remembers none; `ask` takes the store and the key in it."""
        store, key = self._store

        def attempt() -> Any:
            store.invalidate_cache()
            return ask(store, key)

        return attempted(self.url, what, attempt)

    def _info(self) -> dict[str, Any]:
        found: dict[str, Any] = self._asked("looking at it", lambda store, key: store.info(key))
        return found

    def _type(self) -> str | None:
        """`file` or `directory`; None if it does not exist."""
        try:
            return str(self._info()["type"])
        except FileNotFoundError:
            return None

    def is_dir(self) -> bool:
        """Whether it is a folder, not a file; False if it does not exist."""
        return self._type() == "directory"

    def is_file(self) -> bool:
        """Whether it exists, and is not a folder."""
        return self._type() == "file"

    def files(self) -> list["RemotePath"]:
        """All files below this folder except hidden ones, sorted by name."""
        found = self._asked("listing it", lambda store, key: store.find(key, detail=True))
        return self._below(self._store[1], found, hidden=False)

    def matches(self) -> tuple["RemotePath", list["RemotePath"]]:
        """The folder before the first wildcard of a glob, and the matching files and folders; folders end in a slash."""
        store, pattern = self._store
        first = _MAGIC.search(self.url)
        assert first is not None
        fixed = RemotePath(self.url[: self.url.rindex("/", 0, first.start()) + 1])
        base = store._strip_protocol(fixed.url)
        found = self._asked("listing it", lambda store, key: store.glob(key, detail=True))
        if "**" in pattern:  # ** also matches every folder beside the files in it
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

    def read_range(self, start: int, end: int) -> bytes:
        """Some bytes of the file, by one request, which is made again if it fails.

        Raises:
            OSError: the file does not exist, or ends before.
            TransferError: the store fails again and again.
        """
        store, key = self._store

        def fetch() -> bytes:
            data: bytes = store.cat_file(key, start=start, end=end)
            if len(data) != end - start:
                raise OSError(errno.EIO, f"{len(data):,} bytes came, not {end - start:,}")
            return data

        return attempted(self.url, f"reading bytes {start:,} to {end:,}", fetch)

    def open(self, mode: str = "rb", buffering: int = READ_BYTES) -> io.BufferedReader:
        """Open for reading bytes, sequentially or at any position."""
        if mode != "rb":
            raise ValueError(f"mode={mode!r}: a remote file is read here; upload() writes one")
        reader = RemoteReader(self, step=FIRST_READ_BYTES)
        return io.BufferedReader(reader, max(io.DEFAULT_BUFFER_SIZE, min(buffering, reader.size())))

    def read_bytes(self) -> bytes:
        with self.open() as file:
            return file.read()

    def read_text(self, encoding: str) -> str:
        return self.read_bytes().decode(encoding)

    def upload(self, local: Path, *, part_bytes: int | None = None) -> None:
        """Replace this file with a copy of a local file; until the copy is complete, the old content stays.

        A file of more than `part_bytes` (UPLOAD_PART_BYTES by default) is sent in parts of that size.

        Raises:
            OSError: the store denies it, or has no such bucket.
            TransferError: it fails again and again; the part already sent is removed.
        """
        attempted(self.url, "writing it", lambda: self._upload(local, part_bytes or UPLOAD_PART_BYTES))

    def _upload(self, local: Path, part_bytes: int) -> None:
        store, key = self._store
        size = local.stat().st_size
        if size <= part_bytes:
            store.pipe_file(key, local.read_bytes())
            return
        target = store.open(key, "wb", autocommit=False, block_size=max(part_bytes, size // _MAX_PARTS + 1))
        try:
            with local.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
            target.close()
            target.commit()
        except BaseException:
            with contextlib.suppress(AttributeError):  # a store in memory
                target.closed = True  # otherwise garbage collection would finish the file
            with contextlib.suppress(FileNotFoundError):
                target.discard()
            raise

    def check_writable(self) -> None:
        """Begin to write the file and cancel, where the store allows that: a denial then shows before any work.

        Raises:
            OSError, TransferError: as for `upload`.
        """
        store, key = self._store
        if self.scheme not in ("s3", "s3a"):
            return

        def begin() -> None:
            target = store.open(key, "wb", autocommit=False)
            target.closed = True
            target._initiate_upload()
            with contextlib.suppress(FileNotFoundError):  # canceled already, but the answer was lost
                target.discard()

        attempted(self.url, "beginning to write it", begin)

    def unlink(self, missing_ok: bool = False) -> None:
        store, key = self._store
        try:
            attempted(self.url, "removing it", lambda: store.rm_file(key))
        except FileNotFoundError:
            if not missing_ok:
                raise


class RemoteReader(io.RawIOBase):
    """The bytes of a remote file; each read is one request, retried if it fails.

    Args:
        step: the most bytes that the first read returns; each further read returns up to four times as many. No limit by default.

    Raises, from reading:
        InputError: the store denies it.
        DataError: the file has changed, or is gone.
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
            return place.read_range(start, end)
        except PermissionError as problem:
            raise InputError(f"{place} cannot be read: {problem.strerror}.") from None
        except (TransferError, FileNotFoundError, ValueError) as problem:  # a range past the end may raise ValueError
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


def _status(info: dict[str, Any]) -> Status:
    version = next((str(info[name]) for name in _VERSIONS if info.get(name) is not None), "")
    return int(info["size"] or 0), version
