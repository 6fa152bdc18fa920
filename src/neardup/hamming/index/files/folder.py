"""An index on disk: a folder of segment files that never change, and a manifest that is replaced in one step.

A crash leaves either the old or the new manifest. Readers map the files that their manifest names; the files stay readable after
a writer removes them. Only one process writes at a time.
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
from neardup.errors import DECODER_ERRORS, DataError, InputError, NeardupError
from neardup.hamming.index.files.segment_file import SegmentFile, read_segment_file, write_segment_file
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.index.segment import Segment, StoredFile, StoredSegment
from neardup.io.checksums import checksum
from neardup.io.outputs.growing_file import to_disk
from neardup.io.storage.places import local_path
from neardup.recipe.short_rule import short_rule_of
from neardup.recipe.tables.parts import FILES

FORMAT = 2
"""Version of the manifest; version 1 did not say which contents its files have."""
MANIFEST = "index.json"
LOCK = "lock"
_OURS = re.compile(
    r"lock|index\.json(\.new)?|(segment|removed)-\d+-(short-)?\d+|(words|frequencies)-[0-9a-f]{16}\.(txt|parquet)(\.new)?"
)
DIGEST_BITS = 128
ATTEMPTS = 5
"""Maximum number of times to read the manifest when a writer keeps removing files that it named."""


@dataclass(frozen=True)
class Manifest:
    """The facts of an index that are not in its segments.

    Attributes:
        generation: a number that grows with every change.
        bits, max_distance, method, options: those of the index.
        recipe: digest of the fingerprints' recipe; None if unknown.
        recipe_fields: the result of `Recipe.stored`, whose files are in the folder.
        added: number of documents ever added.
        strings: whether ids are strings; None while there are no ids.
        segments: segments of documents, oldest first.
        short: segments of digests, for texts too short to compare by fingerprint, oldest first.
        state: plain values that a program keeps with the index.
        short_rule: the version of the rule of short texts; manifests of before have none.
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
    short_rule: int = short_rule_of({})

    @property
    def files(self) -> list[str]:
        """Names of all segment files, of the files that mark removed documents, and of the recipe's files."""
        of_recipe = [each["kept"] for each in (self.recipe_fields or {}).get(FILES, ()) if "kept" in each]
        return [file.name for each in (*self.segments, *self.short) for file in each.files] + of_recipe

    def to_json(self) -> bytes:
        """The manifest as JSON, including a checksum."""
        values = {"format": FORMAT, **asdict(self)}
        return json.dumps(values | {"checksum": checksum(values)}, indent=1).encode() + b"\n"


def home_of(given: str | Path) -> Path:
    """The folder of an index, as a user names it.

    Raises:
        InputError: it is a URL: indexes are mapped into memory, and locked by their writers.
    """
    return local_path(given, "an index")


def is_index(path: Path) -> bool:
    """Whether `path` holds an index."""
    return (path / MANIFEST).is_file()


def demand_free(path: Path) -> None:
    """Refuse a path where no index can be created. Files left by a killed index writer are allowed.

    Raises:
        InputError: `path` is a file, or contains other files.
    """
    if path.exists() and not (path.is_dir() and all(map(_is_ours, path.iterdir()))):
        raise InputError(f"{path} is there, and is no index. Name a folder that is empty, or not there.")


def _is_ours(file: Path) -> bool:
    return _OURS.fullmatch(file.name) is not None


def read_manifest(path: Path) -> Manifest:
    """Read the manifest of the index at `path`.

    Raises:
        InputError: there is no index, or it cannot be read.
        DataError: the manifest is damaged, or of another format.
    """
    place = path / MANIFEST
    try:
        values = json.loads(place.read_bytes())
        written, expected = values.pop("checksum"), values["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise _no_manifest(path) from None
    except DECODER_ERRORS as problem:
        raise DataError(
            f"{place} is damaged or no manifest of an index: {problem!r}. Restore it, or build the index anew."
        ) from None
    except OSError as problem:
        raise InputError(f"{place} cannot be read: {problem.strerror}.") from None
    if expected != FORMAT:
        raise DataError(
            f"{place} is of format {expected}; this version reads {FORMAT}. Build the index anew from its documents or from "
            f"fingerprint files: `neardup index build {path} INPUT... --overwrite`."
        )
    if checksum(values) != written:
        raise DataError(f"{place} is damaged: its checksum is another. Restore it, or build the index anew.")
    del values["format"]
    try:
        segments, short = (tuple(map(_stored_segment, values.pop(name))) for name in ("segments", "short"))
        return Manifest(**values, segments=segments, short=short)
    except (KeyError, TypeError):
        raise DataError(f"{place} is no manifest of an index. Restore it, or build the index anew.") from None


def _stored_segment(values: dict[str, Any]) -> StoredSegment:
    file, removed = (None if values[name] is None else StoredFile(**values[name]) for name in ("file", "removed"))
    if file is None:
        raise TypeError("a segment has a file")
    for each in (file, *([] if removed is None else [removed])):
        if not _OURS.fullmatch(each.name):  # a path could lead anywhere
            raise TypeError("a segment's file has another name")
    return StoredSegment(file, values["documents"], removed)


def _no_manifest(path: Path) -> NeardupError:
    if path.is_file():
        return InputError(
            f"{path} is a file, not the folder of an index. Make one of it with "
            f"`neardup index build {path.with_suffix('.index')} {path}`."
        )
    if path.is_dir() and any(map(_is_ours, path.glob("segment-*"))):
        return DataError(
            f"{path / MANIFEST} is missing, although {path} has files of an index. Restore it, or build the index anew."
        )
    return InputError(f"There is no index at {path}. Make one with `neardup index build {path} INPUT...`.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Lock the index at `path`, so that no other process writes to it.

    Raises:
        InputError: another process holds the lock, or `path` cannot be a folder.
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
    """The arrays of a segment, without the marks of removed documents."""
    arrays = {
        **segment.searcher.arrays(),
        "member_starts": segment.member_starts,
        "members": segment.members,
    }
    if isinstance(segment.ids, np.ndarray):
        return arrays | {"ids": segment.ids}
    ids = segment.ids if segment.ids.offset == 0 else pa.concat_arrays([segment.ids])
    _, buffer, data = ids.buffers()
    offsets = np.frombuffer(buffer, np.int64)[: len(ids) + 1]
    content = np.frombuffer(data if data is not None else b"", np.uint8)
    return arrays | {"id_offsets": offsets, "id_bytes": content[: offsets[-1]]}  # a slice may share a larger buffer


def segment_of(
    files: tuple[SegmentFile, ...], bits: int, max_distance: int, removed: Array, stored: StoredSegment
) -> Segment:
    """Restore a segment from the arrays of the first file."""
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
    return Segment(
        searcher, starts, members, ids, removed, facts["options"], facts["method"], stored, files, is_checked=False
    )


def open_segments(path: Path) -> tuple[Manifest, list[Segment], list[Segment]]:
    """Read the manifest of the index at `path` and map its segments: those of fingerprints, and those of short texts' digests.

    Every file has the contents that the manifest says, as far as its header and its checksums tell; pages are checked before
    they are read (`Segment.demand_whole`).

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
    files = tuple(_read(path, each) for each in stored.files)
    removed = np.empty(0, np.uint8)
    for gone in files[1:]:
        if pages := gone.damaged_pages():  # reads the whole file
            raise DataError(f"{gone.path} is damaged: its pages {pages} are. Restore it, or build the index anew.")
        removed = gone.arrays["removed"].copy()
    return segment_of(files, bits, max_distance, removed, stored)


def _read(path: Path, stored: StoredFile) -> SegmentFile:
    file = read_segment_file(path / stored.name)
    if file.seal != stored.seal:
        raise DataError(
            f"{file.path} is another file than the one that the index wrote under this name. Restore it, or build the index anew."
        )
    return file


def commit(path: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step, then remove the files that it does not name.

    Raises:
        InputError: the disk fails after that step; the message says that the index is changed.
        OSError: anything else fails; the index is as it was.
    """
    beside = path / (MANIFEST + ".new")
    with beside.open("wb") as file:
        file.write(manifest.to_json())
        file.flush()
        os.fsync(file.fileno())
    to_disk(path)  # segment names reach the disk before the manifest's name
    beside.replace(path / MANIFEST)
    try:
        to_disk(path)
    except OSError as problem:  # who is told of a failure would do it once more
        raise InputError(
            f"{path} was changed as you asked, but the disk does not say that it would outlast a power failure: "
            f"{problem.strerror}. Do not repeat the change; look after the disk."
        ) from None
    with contextlib.suppress(OSError):  # the next change removes them
        sweep(path, manifest)


def sweep(path: Path, manifest: Manifest | None) -> None:
    """Remove index files that the manifest does not name: those of older manifests or of a killed writer."""
    named = {MANIFEST, LOCK, *(manifest.files if manifest else ())}
    for other in path.iterdir():
        if other.name not in named and _is_ours(other):
            other.unlink()


def store_segment(path: Path, name: str, segment: Segment) -> StoredFile:
    """Write a segment to a file.

    Raises:
        DataError: it was opened, and its file is damaged: the damage would get new checksums.
    """
    segment.demand_whole()
    facts = {"method": segment.method, "options": segment.options}
    return StoredFile(name, write_segment_file(path / name, segment_arrays(segment), facts))


def store_removed(path: Path, name: str, removed: Array) -> StoredFile:
    """Write a file that marks a segment's removed documents."""
    return StoredFile(name, write_segment_file(path / name, {"removed": removed}, {}))
