"""Records of shards in the files of stages, so that a later stage knows which rows belong to which file."""

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import as_code
from neardup.errors import InputError
from neardup.io.corpora.reading import READING, Reading
from neardup.io.corpora.shard import Shard
from neardup.io.storage.remote import RemotePath

PIECE_BYTES = 1 << 14
FINGERPRINT = "fingerprint"
"""The entry for the column of another program's fingerprints, whose texts were not read."""


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard that rows came from.

    Attributes:
        name, relative, size: as in `neardup.io.corpora.shards.Shard`.
        rows: the number of its rows, including rejected ones.
        content: see `content_of`; empty in files written before it was recorded.
        reading: how it was read, as `recorded_reading` says; None in files written before it was recorded.
    """

    name: str
    relative: str
    rows: int
    size: int
    content: str = ""
    reading: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)


def content_of(shard: Shard) -> str:
    """A string that distinguishes files of the same size: half of the SHA-256, or a remote file's version in its store.

    Raises:
        DataError: the file has changed since it was found.
    """
    if isinstance(shard.path, RemotePath):
        return f"version:{shard.modified}"
    shard.check_unchanged()
    with shard.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
    shard.check_unchanged()
    return f"sha256:{digest}"


def digest_of_contents(shards: Iterable[Shard]) -> str:
    """A digest of the contents of some files, which nobody can give who has not read them: a record that has it was not made up.

    Of each file it takes the size and three pieces, which are all of a small file; of a remote one, its version in its store.

    Raises:
        DataError: a file has changed since it was found.
    """
    digest = hashlib.sha256()
    for shard in shards:
        digest.update(f"{shard.size}\n".encode())
        if isinstance(shard.path, RemotePath):
            digest.update(f"{shard.modified}\n".encode())
            continue
        shard.check_unchanged()
        _take_pieces(digest, shard.path, shard.size)
        shard.check_unchanged()
    return digest.hexdigest()


def digest_of_written(paths: Iterable[Path]) -> str | None:
    """The same of local files that a run has written; None if there are none."""
    every, digest = list(paths), hashlib.sha256()
    for path in every:
        size = path.stat().st_size
        digest.update(f"{size}\n".encode())
        _take_pieces(digest, path, size)
    return digest.hexdigest() if every else None


def _take_pieces(digest: Any, path: Path, size: int) -> None:
    """Add three pieces of a file, which are all of a small one."""
    second, third = (PIECE_BYTES, 2 * PIECE_BYTES) if size <= 3 * PIECE_BYTES else (size // 2, size - PIECE_BYTES)
    with path.open("rb") as file:
        for start in (0, second, third):
            file.seek(start)
            digest.update(file.read(PIECE_BYTES))


def named_as_stored(shards: Sequence[Shard], stored: Sequence[StoredShard]) -> list[Shard]:
    """Shards that were found by the names in records, with their relative names there: the ids of text files are made of these."""
    return [dataclasses.replace(shard, relative=each.relative) for shard, each in zip(shards, stored, strict=True)]


def digest_of_files(shards: Sequence[Shard]) -> str | None:
    """The same for files that can be read again; None if there are none, or they came on standard input."""
    is_kept = bool(shards) and all(shard.name != "stdin" for shard in shards)
    return digest_of_contents(shards) if is_kept else None


def is_as_it_was(stored: StoredShard, content: str) -> bool:
    """Whether a file of the same size is the recorded one, as far as its content was recorded."""
    return not stored.content or not content or stored.content == content


def recorded_reading(reading: Reading, **further: Any) -> dict[str, Any]:
    """The fields of `reading` that differ from the default, as plain values, and `further` ones that are not None."""
    usual, found = dataclasses.asdict(Reading()), dataclasses.asdict(reading)
    changed = {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
    own = {name: value for name, value in changed.items() if found[name] != usual[name]}
    return own | {name: value for name, value in further.items() if value is not None}


def plain_columns(value: Any) -> Any:
    """A value of a field of `Reading` as one gives it: one column as a string."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value


def reading_recorded(shards: Iterable[StoredShard]) -> Mapping[str, Any] | None:
    """How some shards were read, if this was recorded.

    Raises:
        InputError: they were not read alike.
    """
    first: StoredShard | None = None
    for shard in shards:
        first = shard if first is None else first
        if shard.reading != first.reading:
            a, b = first.reading or {}, shard.reading or {}
            differing = [name for name in (*READING, FINGERPRINT) if a.get(name) != b.get(name)]
            what = (
                f"{as_code(differing)} of {first.name} and of {shard.name} differ"
                if differing
                else "it is not known of all"
            )
            raise InputError(f"The shards were not read alike when they were fingerprinted: {what}.")
    return None if first is None else first.reading


def stored_shards(
    shards: Sequence[Shard], starts: Sequence[int], reading: Mapping[str, Any] | None = None
) -> tuple[StoredShard, ...]:
    """The records of shards. `starts`: the first row of each shard, then the number of all rows."""
    return tuple(
        StoredShard(shard.name, shard.relative, last - first, shard.size, content_of(shard), reading)
        for shard, (first, last) in zip(shards, itertools.pairwise(starts), strict=True)
    )


def starts_of(shards: Iterable[StoredShard]) -> Array:
    """int64[shards + 1]: the first row of each shard among all rows, then their number."""
    return np.array([0, *itertools.accumulate(shard.rows for shard in shards)], np.int64)
