"""An index on disk: a folder with a manifest that is replaced at once, and segment files that never change.

A crash leaves the old or the new manifest. Readers map the files that their manifest names, and keep them mapped when a writer
removes them. One process writes at a time.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.index.segment import Segment, StoredSegment
from neardup.hamming.index.segment_file import SegmentFile, checksum, read_segment_file, write_segment_file

FORMAT = 1
MANIFEST = "index.json"
LOCK = "lock"
_OURS = re.compile(r"lock|index\.json(\.new)?|(segment|removed)-\d+-(short-)?\d+")
DIGEST_BITS = 128
ATTEMPTS = 5
"""Times that a manifest is read anew, because a writer has removed a file that it named."""


@dataclass(frozen=True)
class Manifest:
    """What an index is.

    Attributes:
        generation: grows with every change.
        bits, max_distance, method, options: as of the index.
        recipe: the digest of the recipe of its fingerprints; None if it is not known. recipe_fields: that recipe.
        added: documents that were ever added.
        strings: whether ids are strings; None as long as there are none.
        segments: oldest first.
        short: segments of the digests of texts too short to be compared by fingerprint, oldest first.
        state: plain values that a program keeps with the index.
    """

    generation: int
    bits: int
    max_distance: int
    method: str
    options: dict[str, int]
    recipe: str | None
    recipe_fields: dict[str, Any] | None
    added: int
    strings: bool | None
    segments: tuple[StoredSegment, ...] = field(default=())
    short: tuple[StoredSegment, ...] = field(default=())
    state: dict[str, Any] | None = None

    @property
    def files(self) -> list[str]:
        """The names of all segment files, and of those that say what was removed."""
        return [name for each in (*self.segments, *self.short) for name in (each.file, each.removed) if name]

    def to_json(self) -> bytes:
        """With a checksum of itself."""
        values = {"format": FORMAT, **asdict(self)}
        return json.dumps(values | {"checksum": checksum(_canonical(values))}, indent=1).encode() + b"\n"


def _canonical(values: dict[str, Any]) -> bytes:
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


def is_index(path: Path) -> bool:
    """Whether there is an index at `path`."""
    return (path / MANIFEST).is_file()


def demand_free(path: Path) -> None:
    """Refuse a place where an index cannot be made; what a writer that was killed left there is no hindrance.

    Raises:
        InputError: something else is there.
    """
    if path.exists() and not (path.is_dir() and all(map(_is_ours, path.iterdir()))):
        raise InputError(f"{path} is there, and is no index. Name a folder that is empty, or not there.")


def _is_ours(file: Path) -> bool:
    return _OURS.fullmatch(file.name) is not None


def read_manifest(path: Path) -> Manifest:
    """The manifest of the index at `path`.

    Raises:
        InputError: there is no index.
        DataError: the manifest is damaged, or of another format.
    """
    place = path / MANIFEST
    try:
        values = json.loads(place.read_bytes())
        written, expected = values.pop("checksum"), values["format"]
    except FileNotFoundError:
        raise InputError(f"There is no index at {path}. Make one with `neardup index build {path} INPUT...`.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(
            f"{place} is damaged or no manifest of an index: {problem!r}. Restore it, or build the index anew."
        ) from None
    except OSError as problem:
        raise InputError(f"{place} cannot be read: {problem.strerror}.") from None
    if expected != FORMAT:
        raise DataError(f"{place} is of format {expected}; this version reads {FORMAT}. Build the index anew.")
    if checksum(_canonical(values)) != written:
        raise DataError(f"{place} is damaged: its checksum is another. Restore it, or build the index anew.")
    del values["format"]
    segments, short = (tuple(StoredSegment(**each) for each in values.pop(name)) for name in ("segments", "short"))
    return Manifest(**values, segments=segments, short=short)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Be the only process that writes to the index at `path`.

    Raises:
        InputError: another one does.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path} is no folder, so no index can be there. Name another place.") from None
    with (path / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process writes to the index at {path}. Wait until it has ended.") from None
        yield


def segment_arrays(segment: Segment) -> dict[str, Array]:
    """All that a segment holds but for what was removed, as arrays."""
    arrays = {
        **segment.searcher.arrays(),
        "member_starts": segment.member_starts,
        "members": segment.members,
    }
    if isinstance(segment.ids, np.ndarray):
        return arrays | {"ids": segment.ids}
    ids = segment.ids if segment.ids.offset == 0 else pa.concat_arrays([segment.ids])
    _, offsets, data = ids.buffers()
    return arrays | {
        "id_offsets": np.frombuffer(offsets, np.int64)[: len(ids) + 1],
        "id_bytes": np.frombuffer(data if data is not None else b"", np.uint8),
    }


def segment_of(
    files: tuple[SegmentFile, ...], bits: int, max_distance: int, removed: Array, stored: StoredSegment
) -> Segment:
    """The segment of the arrays of the first of these files."""
    arrays, facts = dict(files[0].arrays), files[0].facts
    starts, members = arrays.pop("member_starts"), arrays.pop("members")
    method = METHODS[facts["method"]].code
    unique = len(starts) - 1 if len(starts) else len(members)
    try:
        if "ids" in arrays:
            ids: Any = arrays.pop("ids")
        else:
            buffers = [None, pa.py_buffer(arrays.pop("id_offsets")), pa.py_buffer(arrays.pop("id_bytes"))]
            ids = pa.Array.from_buffers(pa.large_string(), len(members), buffers)
        searcher = method.restore(arrays, bits, max_distance, facts["options"], unique)
    except (pa.ArrowInvalid, DataError) as problem:
        raise DataError(f"{files[0].path} is damaged: {problem}. Restore it, or build the index anew.") from None
    return Segment(searcher, starts, members, ids, removed, facts["options"], facts["method"], stored, files)


def open_segments(path: Path) -> tuple[Manifest, list[Segment], list[Segment]]:
    """The manifest of the index at `path`, and its segments, mapped: those of fingerprints, and those of short texts' digests.

    Raises:
        InputError, DataError: see `read_manifest` and `read_segment_file`.
    """
    for attempt in range(ATTEMPTS):
        manifest = read_manifest(path)
        try:
            segments = [_open_segment(path, each, manifest.bits, manifest.max_distance) for each in manifest.segments]
            return manifest, segments, [_open_segment(path, each, DIGEST_BITS, 0) for each in manifest.short]
        except FileNotFoundError as problem:
            if attempt + 1 == ATTEMPTS or read_manifest(path).generation == manifest.generation:
                raise DataError(f"{problem.filename} is missing. Restore it, or build the index anew.") from None
    raise AssertionError("unreachable")


def _open_segment(path: Path, stored: StoredSegment, bits: int, max_distance: int) -> Segment:
    files: tuple[SegmentFile, ...] = (read_segment_file(path / stored.file),)
    removed = np.empty(0, np.uint8)
    if stored.removed:
        gone = read_segment_file(path / stored.removed)
        if pages := gone.damaged_pages():  # all of it is read here
            raise DataError(f"{gone.path} is damaged: its pages {pages} are. Restore it, or build the index anew.")
        removed = gone.arrays["removed"].copy()
        files += (gone,)
    return segment_of(files, bits, max_distance, removed, stored)


def commit(path: Path, manifest: Manifest) -> None:
    """Make this the manifest, at once; then sweep."""
    beside = path / (MANIFEST + ".new")
    with beside.open("wb") as file:
        file.write(manifest.to_json())
        file.flush()
        os.fsync(file.fileno())
    _sync(path)  # the segments' names, before the manifest's
    beside.replace(path / MANIFEST)
    _sync(path)
    sweep(path, manifest)


def sweep(path: Path, manifest: Manifest | None) -> None:
    """Remove files that the manifest does not name: of older ones, or of a writer that was killed."""
    named = {MANIFEST, LOCK, *(manifest.files if manifest else ())}
    for other in path.iterdir():
        if other.name not in named and _is_ours(other):
            other.unlink()


def _sync(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def store_segment(path: Path, name: str, segment: Segment) -> None:
    """Write a segment's file."""
    write_segment_file(path / name, segment_arrays(segment), {"method": segment.method, "options": segment.options})


def store_removed(path: Path, name: str, removed: Array) -> None:
    """Write the file of what was removed of a segment."""
    write_segment_file(path / name, {"removed": removed}, {})
