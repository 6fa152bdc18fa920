"""SOURCES: the input on Ray: files, whose parts are those of the input, and what is read of each row."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from neardup.engines.job.inputs import Documents
from neardup.engines.ray.input_files import File, Step, step_of


class Source(Documents):
    """Documents in a dataset, which is read from files."""

    @property
    def columns(self) -> dict[str, str | None]:
        """What a reading needs, and the columns that it is in."""
        return {"text": self.text, "id": self.id, "within": self.within, "value": self.value}

    @cached_property
    def schema(self) -> Any:
        """The columns, as a schema of Arrow."""
        return schema_of(self.rows)

    @cached_property
    def step(self) -> Step | None:
        """What reads its files, if that is all that is done to make it."""
        return step_of(self.rows)

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


def schema_of(dataset: Any) -> Any:
    """The columns of a dataset, as a schema of Arrow."""
    import pyarrow as pa

    found = dataset.schema()
    if found is None:
        return pa.schema([])
    base = found.base_schema
    return base if isinstance(base, pa.Schema) else pa.schema(list(zip(found.names, found.types, strict=True)))
