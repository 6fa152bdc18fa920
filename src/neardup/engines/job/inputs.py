"""INPUTS of a job on a cluster: documents, and those of a reference; and which files they are read from."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from neardup.engines.reading.unchanged_input import REMEDY
from neardup.engines.schemas import REFERENCE
from neardup.errors import DataError

NAMES = ("input", "reference")
"""Of the documents, and of those of a reference."""
FILES, BYTES, DIGEST = "files", "files' bytes", "files' names, sizes and times"


@dataclass(frozen=True)
class Documents:
    """Rows of documents.

    Attributes:
        rows: a frame, or what else holds rows on a cluster.
        text, id: columns.
        order: columns by which rows are in order, and then by id; none for the file and the place in it, which only files have.
        within, value: the column in which documents must agree, and that which says how good they are; None if there is none.
        is_reference: whether they are those of a reference.
    """

    rows: Any
    text: str
    id: str
    order: Sequence[str]
    within: str | None = None
    value: str | None = None
    is_reference: bool = False

    @property
    def first(self) -> int:
        """The number of their first part."""
        return REFERENCE if self.is_reference else 0


Given = TypeVar("Given", bound=Documents)


@dataclass(frozen=True)
class Input(Generic[Given]):
    """All that is given.

    Attributes:
        documents: those that are de-duplicated.
        reference: those of a reference, or None.
    """

    documents: Given
    reference: Given | None = None

    @property
    def sources(self) -> tuple[Given, ...]:
        """The documents, and those of a reference."""
        return (self.documents,) if self.reference is None else (self.documents, self.reference)

    @property
    def named(self) -> Mapping[str, Given]:
        """The sources by their names."""
        return dict(zip(NAMES, self.sources, strict=False))


def facts_of_files(files: Sequence[tuple[str, int, Any]]) -> dict[str, Any]:
    """What a job notes of files, by their names, sizes and times of change."""
    lines = "\n".join(" ".join(map(str, each)) for each in files)
    digest = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {FILES: len(files), DIGEST: digest, BYTES: sum(size for _, size, _ in files)}


def demand_unchanged(name: str, files: Sequence[tuple[str, int, Any]], before: Mapping[str, Any]) -> None:
    """Refuse files that are not those that they were. `before`: what was noted.

    Raises:
        DataError: they have changed.
    """
    if any(before[each] != value for each, value in facts_of_files(files).items()):
        raise DataError(f"The files of the {name} have changed since the job began. {REMEDY}")
