"""The tables of dictionaries and models, kept in the user's cache folder by the digest of all that decides them."""

import contextlib
import hashlib
import io
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.kernels.text.jieba_routes import WordTables
from neardup.kernels.user_cache import candidate_folders, is_private, say, writable
from neardup.recipe.files.jieba_files import words_digest
from neardup.text.segmenters.jieba_counts import counted
from neardup.text.segmenters.jieba_tables import build_tables

FORMAT = 1
"""Rises with every change of what the tables hold."""
FOLDER = "dictionaries"
CHECKSUM = 32
"""Bytes at the end of a file: the SHA-256 of all before."""
KEPT_DAYS = 30
"""Tables that were not used for so long are removed when others are kept."""
Dictionary = tuple[tuple[str, int | None], ...]
"""A user's words with their counts, in their order."""
Types = dict[str, tuple[str, int]]
"""The type and the dimensions of each table."""
TYPES: Types = {
    "numbers": ("uint16", 1),
    "roots": ("uint64", 1),
    "labels": ("uint16", 1),
    "slots": ("uint64", 1),
    "weights": ("float64", 1),
    "shown": ("float64", 2),
    "model": ("float64", 1),
}


class _Damaged(Exception):  # noqa: N818 - not an error: the tables are built again
    """Kept tables cannot be used; the message says why."""


def digest_of_parts(*parts: object) -> str:
    """The digest of all that decides some tables and of their format, 16 hexadecimal digits."""
    return hashlib.sha256(repr((FORMAT, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def tables_digest(dictionary: Dictionary) -> str:
    """The digest of all that decides the tables of a dictionary: jieba's files, a user's words, the format."""
    return digest_of_parts(words_digest(), dictionary)


def kept_tables(dictionary: Dictionary) -> WordTables:
    """The tables of jieba's dictionary with a user's words, which takes a second if they are not in the user's cache folder.

    Raises:
        OptionError: the dictionary is too large.
        DataError: a file of the package jieba is damaged.
    """

    def build() -> dict[str, Array]:
        return build_tables(counted(dictionary))._asdict()

    return WordTables(**kept("jieba", tables_digest(dictionary), TYPES, build))


def kept(name: str, digest: str, types: Types, build: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """The tables with a digest, from the user's cache folder, or as they are built now and kept there.

    What is damaged there, or of other words, is built again, and said so. What others may have written is not read.
    """
    folder = _folder()
    path = folder / f"{name}-{digest}.tables" if folder else None
    if path is not None and path.exists():
        try:
            return _read(path, digest, types)
        except _Damaged as problem:
            say(f"{path} {problem}: it is built again")
    tables = build()
    if path is not None:
        with contextlib.suppress(OSError):  # a full disk costs only the keeping
            _write(path, digest, tables)
    return tables


def _folder() -> Path | None:
    """The folder of dictionaries, if nobody else can write there and files can be put there."""
    for place in candidate_folders():
        folder = place / FOLDER
        if not is_private(folder):
            say(f"others own {folder} or its folder, or can write there (chmod go-w): dictionaries are not kept there")
        elif writable(folder):
            return folder
    return None


def _read(path: Path, digest: str, types: Types) -> dict[str, Array]:
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise _Damaged(f"cannot be read ({problem})") from None
    body, checksum = content[:-CHECKSUM], content[-CHECKSUM:]
    if (
        hashlib.sha256(body).digest() != checksum
    ):  # the sums in a zip archive are of what is read, which its damage may change
        raise _Damaged("is damaged")
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        found: dict[str, Array] = dict(arrays)
    if found.keys() != {*types, "digest"}:
        raise _Damaged("is no dictionary of this version")
    if str(found["digest"]) != digest:
        raise _Damaged(f"is of another dictionary, {found['digest']}")
    if any((str(found[name].dtype), found[name].ndim) != types[name] for name in types):
        raise _Damaged("is no dictionary of this version")
    with contextlib.suppress(OSError):
        os.utime(path)
    del found["digest"]
    return found


def _write(path: Path, digest: str, tables: Mapping[str, Array]) -> None:
    """Put the tables into the folder under their name at once, and remove those that nobody used for long."""
    arrays: dict[str, Any] = {"digest": np.array(digest), **tables}
    body = io.BytesIO()
    np.savez(body, **arrays)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body.getbuffer())
            file.write(hashlib.sha256(body.getbuffer()).digest())
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    oldest = time.time() - KEPT_DAYS * 86_400
    for other in path.parent.iterdir():
        with contextlib.suppress(OSError):  # another process removes it as well
            if other.stat().st_mtime < oldest:
                other.unlink()
