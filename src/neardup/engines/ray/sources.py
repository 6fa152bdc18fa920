"""SOURCES: the input on Ray: files, whose parts are those of the input, and what is read of each row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from neardup.engines.ray.input_files import File, Step, step_of
from neardup.engines.schemas import REFERENCE


@dataclass(frozen=True)
class Source:
    """A dataset of documents, which is read from files.

    Attributes:
        dataset: the dataset.
        text, id: columns.
        order: columns by which rows are in order, and then by id; none for the file and the place in it.
        within, value: the column in which documents must agree, and that which says how good they are; None if there is none.
        is_reference: whether its documents are those of a reference.
    """

    dataset: Any
    text: str
    id: str
    order: Sequence[str]
    within: str | None = None
    value: str | None = None
    is_reference: bool = False

    @property
    def first(self) -> int:
        """The number of its first part."""
        return REFERENCE if self.is_reference else 0

    @property
    def columns(self) -> dict[str, str | None]:
        """What a reading needs, and the columns that it is in."""
        return {"text": self.text, "id": self.id, "within": self.within, "value": self.value}

    @cached_property
    def schema(self) -> Any:
        """The columns, as a schema of Arrow."""
        return schema_of(self.dataset)

    @cached_property
    def step(self) -> Step | None:
        """What reads its files, if that is all that is done to make it."""
        return step_of(self.dataset)

    def files(self, columns: Sequence[str] | None = None) -> list[File]:
        """The files and their parts, by path. `columns`: those that are read, where the format can choose; by default, all."""
        if self.step is None:
            raise TypeError("this dataset is not read from files alone")
        return self.step.files(columns)

    @cached_property
    def texts(self) -> list[File]:
        """The files, of which only the columns are read that a reading needs."""
        names = {name for name in self.columns.values() if name is not None and name in self.schema.names}
        return self.files(sorted(names))

    @cached_property
    def ids(self) -> list[File]:
        """The files, of which only the ids are read."""
        return self.files([self.id])

    @cached_property
    def orders(self) -> list[File]:
        """The files, of which only the columns are read that put rows in order."""
        return self.files(list(dict.fromkeys([*self.order, self.id])))


@dataclass(frozen=True)
class Input:
    """All that is given.

    Attributes:
        documents: the dataset that is de-duplicated.
        reference: that of a reference, or None.
    """

    documents: Source
    reference: Source | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The datasets."""
        return (self.documents,) if self.reference is None else (self.documents, self.reference)


def schema_of(dataset: Any) -> Any:
    """The columns of a dataset, as a schema of Arrow."""
    import pyarrow as pa

    found = dataset.schema()
    if found is None:
        return pa.schema([])
    base = found.base_schema
    return base if isinstance(base, pa.Schema) else pa.schema(list(zip(found.names, found.types, strict=True)))
