"""Save an index: write the changes beside the old files, then switch to them in one step."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from neardup.errors import InputError, OptionError
from neardup.hamming.index.files.folder import (
    Manifest,
    commit,
    demand_free,
    home_of,
    is_index,
    read_manifest,
    store_removed,
    store_segment,
    sweep,
    writing,
)
from neardup.hamming.index.files.segment_file import read_segment_file
from neardup.hamming.index.files.stored_recipe import fields_in_folder
from neardup.hamming.index.segment import StoredSegment
from neardup.hamming.index.segments import Segments

PREFIXES = ("", "short-")
"""Prefixes of the files of documents, and of the files of short texts."""


@dataclass(frozen=True)
class Home:
    """The folder where an index was last saved or opened, and its generation there."""

    path: Path
    generation: int


class Storage:
    """The folder of an index.

    Attributes:
        home: where the index was last saved or opened; None if nowhere.
    """

    home: Home | None

    def __init__(self) -> None:
        self.home = None
        self._reserved: Path | None = None

    def save(self, path: str | Path | None, parts: Sequence[Segments], manifest: Manifest, *, overwrite: bool) -> None:
        """See `neardup.Index.save`.

        Args:
            path: the folder; by default, the home.
            parts: the documents, and the short texts if there are any.
            manifest: the manifest of the index; generation and segments are filled in.
            overwrite: whether to replace another index.
        """
        if path is None and self.home is None:
            raise OptionError("This index was never saved. Give the path of a folder.")
        try:
            json.dumps(manifest.state, sort_keys=True)
        except (TypeError, ValueError) as problem:
            raise OptionError(f"index.state is not of plain values, as JSON has them: {problem}.") from None
        place = self.home.path if path is None and self.home is not None else home_of(path or "")
        is_ours = place == self._reserved
        self.home = _save_parts(place, self.home, parts, manifest, overwrite=overwrite, is_reserved=is_ours)

    @contextlib.contextmanager
    def reserved(self, path: str | Path | None) -> Iterator[None]:
        """See `neardup.Index.reserved`."""
        if self.home is None and path is None:
            raise OptionError("This index was never saved, so it has no folder to be reserved. Give the path of one.")
        place = self.home.path if self.home is not None else home_of(path or "")
        with writing(place):
            if self.home is None and is_index(place):
                raise InputError(
                    f"Another process has made an index at {place}. Open that one, or name another folder."
                )
            if self.home is not None and read_manifest(place).generation != self.home.generation:
                raise _changed(place)
            self._reserved = place
            try:
                yield
            finally:
                self._reserved = None


def _save_parts(
    path: Path, last: Home | None, parts: Sequence[Segments], manifest: Manifest, *, overwrite: bool, is_reserved: bool
) -> Home:
    """Write the segments that the folder lacks, then the manifest. `is_reserved`: this process holds the lock already."""
    if not is_index(path):
        demand_free(path)
    with contextlib.nullcontext() if is_reserved else writing(path):
        generation = _generation(path, last, parts, overwrite=overwrite) + 1
        stored = [
            tuple(_store(part, path, f"{generation}-{prefix}")) for part, prefix in zip(parts, PREFIXES, strict=False)
        ]
        segments, short = (*stored, ())[:2]
        made = [pair for part, files in zip(parts, stored, strict=True) for pair in zip(part.made, files, strict=True)]
        for segment, file in made:  # nothing may fail once the manifest has its name
            if segment.stored != file:
                segment.files = tuple(read_segment_file(path / each.name) for each in file.files)
        fields = fields_in_folder(manifest.recipe_fields, path, None if last is None else last.path)
        manifest = dataclasses.replace(manifest, generation=generation, recipe_fields=fields)
        commit(path, dataclasses.replace(manifest, segments=segments, short=short))
        for segment, file in made:
            segment.stored, segment.removed_since_stored = file, False
    return Home(path, generation)


def _changed(path: Path) -> InputError:
    return InputError(f"Another process has changed the index at {path}. Open it again.")


def _generation(path: Path, last: Home | None, parts: Sequence[Segments], *, overwrite: bool) -> int:
    """Return the generation of the index in the folder, or 0 if there is none; remove the files that a killed writer left."""
    if not is_index(path):
        _forget_files(parts)
        sweep(path, None)
        return 0
    before = read_manifest(path)
    if last is None or path.resolve() != last.path.resolve():
        if not overwrite:
            raise InputError(f"{path} has an index. Remove it, or save to another folder.")
        _forget_files(parts)
    elif before.generation != last.generation:
        raise _changed(path)
    sweep(path, before)
    return before.generation


def _forget_files(parts: Sequence[Segments]) -> None:
    """Forget the segments' files, so that they are written again."""
    for part in parts:
        for segment in part.made:
            segment.stored = None


def _store(part: Segments, path: Path, prefix: str) -> list[StoredSegment]:
    """Write the segments that the folder lacks, and the marks of removed documents. Returns the files of each segment."""
    part.flush()
    stored = []
    for number, segment in enumerate(part.made):
        known = segment.stored
        file = known.file if known else store_segment(path, f"segment-{prefix}{number}", segment)
        removed = known.removed if known else None
        if len(segment.removed) and (known is None or segment.removed_since_stored):
            removed = store_removed(path, f"removed-{prefix}{number}", segment.removed)
        stored.append(StoredSegment(file, len(segment), removed))
    return stored
