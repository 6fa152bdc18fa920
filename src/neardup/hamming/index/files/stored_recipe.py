"""The recipe of an index on disk, and the files that it needs: copies in the index's folder, if they are not too large."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import PAGE
from neardup.recipe.files.document_frequencies import DocumentFrequencies
from neardup.recipe.files.frequency_file import frequency_parts
from neardup.recipe.files.kept_files import FREQUENCIES, KeptFile, files_of
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import any_stored_recipe
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.parts import FILES

COPIED_BYTES = 1 << 24
"""The largest file that is copied into the folder; larger ones are found by path and digest."""


@dataclass(frozen=True)
class StoredRecipe:
    """The recipe of an index.

    Attributes:
        digest: the recipe's digest.
        fields: the result of `Recipe.stored`; files of an index on disk are `kept` in its folder.
        home: that folder; None for an index in memory.
    """

    digest: str
    fields: dict[str, Any]
    home: Path | None = field(default=None)

    @cached_property
    def restored(self) -> FingerprintRecipe:
        """The recipe.

        Raises:
            DataError: the entry of a file in `fields` is damaged.
        """
        return any_stored_recipe(located_fields(self.fields, self.home))

    def at(self, home: Path) -> "StoredRecipe":
        """The same recipe in the folder to which the index was saved."""
        return self if home == self.home else replace(self, home=home)

    def with_files_of(self, recipe: FingerprintRecipe) -> "StoredRecipe":
        """The same recipe, whose files that are not at hand are those of `recipe`, which has the same digest."""
        missing = {(part.file.kind, part.file.digest) for part in missing_parts(self.restored) if part.file is not None}
        given = {at: file for at, file in files_of(recipe.stored()).items() if at in missing}
        if not given or any(part.file is not None for part in missing_parts(recipe)):
            return self
        files = [given.get(at, file).as_dict() for at, file in files_of(self.fields).items()]
        return replace(self, fields=self.fields | {FILES: files})

    @property
    def facts(self) -> dict[str, Any]:
        """The fields without the contents of files."""
        return _with_files(self.fields, lambda file: replace(file, content=None))


def missing_parts(recipe: FingerprintRecipe) -> tuple[StoredPart, ...]:
    """The parts of a recipe that are not at hand; only recipes of texts have parts."""
    return recipe.missing if isinstance(recipe, Recipe) else ()


def _located(file: KeptFile, home: Path | None) -> KeptFile:
    """The same file with the path of its copy, if it is kept in the folder of an index."""
    if file.kept is None or home is None:
        return file
    return replace(file, path=str((home / file.kept).absolute()), kept=None)


def located_fields(fields: dict[str, Any], home: Path | None) -> dict[str, Any]:
    """The fields with the paths of files that are kept in the folder of an index."""
    return _with_files(fields, lambda file: _located(file, home))


def fields_in_folder(fields: dict[str, Any] | None, folder: Path, home: Path | None) -> dict[str, Any] | None:
    """Copy the files of a recipe into the folder of an index, and return the fields that name the copies.

    Files that are larger than COPIED_BYTES, or that are not what they were, stay named by their paths.

    Args:
        fields: the result of `Recipe.stored`; None for an unknown recipe.
        folder: the folder of the index; the caller has locked it.
        home: the folder that the fields were read from, or None.
    """
    return None if fields is None else _with_files(fields, lambda file: _copied(file, folder, home))


def fields_with_files(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a recipe with the contents of its files, for where there is no folder.

    Files that are larger than COPIED_BYTES, or that are not what they were, stay named by their paths.
    """
    return _with_files(fields, _with_content)


def _with_files(fields: dict[str, Any], change: Callable[[KeptFile], KeptFile]) -> dict[str, Any]:
    """The fields with each of their files changed."""
    if FILES not in fields:
        return fields
    return fields | {FILES: [change(each).as_dict() for each in files_of(fields).values()]}


def _with_content(file: KeptFile) -> KeptFile:
    content = _content(file)
    found = file if content is None else replace(file, content=content)
    return file if isinstance(found.part(), StoredPart) else found


def _copied(file: KeptFile, folder: Path, home: Path | None) -> KeptFile:
    place = folder / file.copy_name
    copied = replace(file, content=None, kept=file.copy_name)
    if place.exists():  # its name has its digest
        return copied
    content = _content(_located(file, home))
    if content is None or isinstance(replace(file, content=content, kept=None).part(), StoredPart):
        return replace(file, kept=None)
    beside = place.with_name(place.name + ".new")
    with beside.open("wb") as sink:
        sink.write(content)
        sink.flush()
        os.fsync(sink.fileno())
    beside.replace(place)
    return copied


def _content(file: KeptFile) -> bytes | None:
    """The content of a file if it is at hand and not too large."""
    if file.content is not None:
        return file.content
    try:
        path = Path(file.path)
        return path.read_bytes() if path.is_file() and path.stat().st_size <= COPIED_BYTES else None
    except OSError:
        return None


def damaged_copies(recipe: StoredRecipe | None) -> dict[str, list[int]]:
    """The copies in the folder that are not what they were, after reading them whole, each with all of its pages."""
    found: dict[str, list[int]] = {}
    if recipe is None:
        return found
    for file in files_of(recipe.fields).values():
        if file.kept is None:
            continue
        located = _located(file, recipe.home)
        part = located.part()
        if isinstance(part, StoredPart) or (file.kind == FREQUENCIES and not _is_whole(part)):
            size = Path(located.path).stat().st_size if Path(located.path).exists() else 0
            found[file.kept] = list(range(1 + size // PAGE))
    return found


def _is_whole(frequencies: DocumentFrequencies) -> bool:
    try:
        for _ in frequency_parts(frequencies):
            pass
    except DataError:
        return False
    return True
