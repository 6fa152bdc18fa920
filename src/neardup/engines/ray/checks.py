"""CHECKS of what is given for a run on Ray: a dataset, and the types of its columns."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from neardup.engines.ray.input_files import step_of
from neardup.engines.ray.sort_columns import normal
from neardup.errors import InputError, OptionError
from neardup.io.formats.columnar.parquet_values import is_value


def demand_dataset(*given: Any) -> None:
    """Refuse what is no Dataset of Ray.

    Raises:
        OptionError: something is another thing.
    """
    from ray.data import Dataset

    for each in given:
        if each is not None and not isinstance(each, Dataset):
            raise OptionError(
                f"{type(each).__name__} is no Dataset of Ray. Give one, as `ray.data.read_parquet(…)` returns, or call "
                "`neardup.deduplicate` for rows in memory."
            )


def demand_columns(schema: pa.Schema, wanted: Sequence[str], text: str, called: str = "The dataset") -> None:
    """Refuse a dataset without some columns, or whose texts are no strings.

    Raises:
        InputError: it has not got one of them.
    """
    missing = [name for name in wanted if name not in schema.names]
    if missing:
        raise InputError(
            f"{called} has no column {missing[0]!r}; it has {', '.join(map(repr, schema.names)) or 'none'}."
        )
    kind = schema.field(text).type
    if normal(kind) != pa.large_string():
        raise InputError(f"The column {text!r} holds {kind}, not strings. Name the column of the texts, or cast it.")


def demand_kinds(schema: pa.Schema, *, id: str, order: Sequence[str], values: Sequence[str]) -> None:  # noqa: A002
    """Refuse ids that are no strings or integers, columns to sort by that have no order, and values that are none.

    Raises:
        InputError: a column has another type.
    """
    kind = schema.field(id).type
    if not (pa.types.is_integer(kind) or normal(kind) == pa.large_string()):
        raise InputError(
            f"The column {id!r} holds {kind}. Ids are strings or integers: name another column, or cast it."
        )
    for name in order:
        if normal(schema.field(name).type) is None:
            raise InputError(f"The column {name!r} holds {schema.field(name).type}, which has no order. Name another.")
    for name in values:
        if name in schema.names and not is_value(schema.field(name).type):
            raise InputError(
                f"The column {name!r} holds {schema.field(name).type}; `keep` and `within` compare numbers, dates and strings. "
                "Name another."
            )


def demand_same_order(schema: pa.Schema, reference: pa.Schema, names: Sequence[str]) -> None:
    """Refuse a reference whose columns of order have other types.

    Raises:
        InputError: one has.
    """
    for name in names:
        kinds = [normal(each.field(name).type) for each in (schema, reference)]
        if kinds[0] != kinds[1]:
            raise InputError(
                f"The column {name!r} holds {schema.field(name).type}, and {reference.field(name).type} in `against`: these have "
                "no common order. Cast one of them."
            )


def demand_files(dataset: Any) -> None:
    """Refuse a dataset whose rows are not those of files, in their order.

    Raises:
        OptionError: it is another.
    """
    if step_of(dataset) is None:
        raise OptionError(
            "This dataset has no order: give `order=`, a column or several by which the documents are in order. Only datasets that "
            "are read from files, and not mapped, shuffled, sorted, united or limited, have that of their files and rows."
        )


NOT_TAKEN = {
    "elements": "Only texts are compared there; `neardup.deduplicate` takes lists.",
    "html": "Take the texts out of the pages first, and give a column of these.",
    "source": "It is for `prefer_source`, which is not taken. Give a column that says how good a source is, and `keep`.",
    "progress": "Ray's dashboard shows the tasks, which have the names of the stages.",
    "threads": "The CPUs of the nodes say how many tasks run at a time, see `ray start --num-cpus`.",
    "memory": "The memory of the nodes is that of `ray start --memory`.",
    "temp_dir": "What goes from stage to stage lies in `work=`; Ray's own files, where `ray start --temp-dir` says.",
    "unit": "Only whole documents are removed there; `neardup.deduplicate_units` removes lines and paragraphs.",
}
"""What `neardup.deduplicate` takes and Ray does not, with what to do instead."""
JOIN = "Join several by `map_batches` first, and name that column."
"""What to do instead of several columns of texts."""
