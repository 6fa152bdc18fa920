"""Records of shards in the files of stages, so that a later stage knows which rows belong to which file."""

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.io.shard import Shard
from neardup.io.storage.remote import RemotePath

PIECE = 1 << 14


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard that rows came from.

    Attributes:
        name, relative, size: as in `neardup.io.shards.Shard`.
        rows: the number of its rows, including rejected ones.
        content: see `content_of`; empty in files written before it was recorded.
    """

    name: str
    relative: str
    rows: int
    size: int
    content: str = ""

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
        with shard.path.open("rb") as file:
            for start in (0, shard.size // 2, shard.size - PIECE) if shard.size > 3 * PIECE else (0, PIECE, 2 * PIECE):
                file.seek(start)
                digest.update(file.read(PIECE))
        shard.check_unchanged()
    return digest.hexdigest()


def named_as_stored(shards: Sequence[Shard], stored: Sequence[StoredShard]) -> list[Shard]:
    """Shards that were found by the names in records, with their relative names there: the ids of text files are made of these."""
    return [dataclasses.replace(shard, relative=each.relative) for shard, each in zip(shards, stored, strict=True)]


def is_as_it_was(stored: StoredShard, content: str) -> bool:
    """Whether a file of the same size is the recorded one, as far as its content was recorded."""
    return not stored.content or not content or stored.content == content


def stored_shards(shards: Sequence[Shard], starts: Sequence[int]) -> tuple[StoredShard, ...]:
    """The records of shards. `starts`: the first row of each shard, then the number of all rows."""
    return tuple(
        StoredShard(shard.name, shard.relative, last - first, shard.size, content_of(shard))
        for shard, (first, last) in zip(shards, itertools.pairwise(starts), strict=True)
    )


def starts_of(shards: Iterable[StoredShard]) -> Array:
    """int64[shards + 1]: the first row of each shard among all rows, then their number."""
    return np.array([0, *itertools.accumulate(shard.rows for shard in shards)], np.int64)
