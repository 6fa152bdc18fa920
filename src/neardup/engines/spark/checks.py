"""CHECKS of what is given for a run on Spark: columns, and options that a cluster cannot have."""

from collections.abc import Sequence
from typing import Any

from neardup.errors import InputError, OptionError


def demand_classic(*frames: Any) -> None:
    """Refuse frames of Spark Connect, whose session does not run here.

    Raises:
        OptionError: one is.
    """
    if any(frame is not None and not hasattr(frame, "_jdf") for frame in frames):
        raise OptionError(
            "This frame is of Spark Connect, or none of Spark. Give a DataFrame of a classic session, as `spark-submit` has, or "
            '`SparkSession.builder.master("…")` on the driver; a session of Connect sends no broadcasts and no plans.'
        )


def demand_columns(frame: Any, wanted: Sequence[str], text: str, called: str = "The frame") -> None:
    """Refuse a frame without some columns, or whose texts are no strings.

    Raises:
        InputError: it has not got one of them.
    """
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise InputError(f"{called} has no column {missing[0]!r}; it has {', '.join(map(repr, frame.columns))}.")
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"The column {text!r} holds {kind}, not strings. Name the column of the texts, or cast it.")


_INTEGERS = ("byte", "short", "integer", "long")
_VALUES = (*_INTEGERS, "string", "float", "double", "decimal", "date", "timestamp", "timestamp_ntz", "boolean")
_WITHOUT_ORDER = ("map<", "variant")


def demand_kinds(frame: Any, *, id: str, order: Sequence[str], value: str | None) -> None:  # noqa: A002
    """Refuse ids that are no strings or integers, and columns to sort by that have no order.

    Raises:
        InputError: a column has another type.
    """
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    if kinds[id].typeName() not in ("string", *_INTEGERS):
        raise InputError(
            f"The column {id!r} holds {kinds[id].simpleString()}. Ids are strings or integers: name another column, or cast it."
        )
    for name in order:
        if any(kind in kinds[name].simpleString() for kind in _WITHOUT_ORDER):
            raise InputError(
                f"The column {name!r} holds {kinds[name].simpleString()}, which has no order. Name another."
            )
    if value in kinds and kinds[value].typeName() not in _VALUES:
        raise InputError(
            f"The column {value!r} holds {kinds[value].simpleString()}; `keep` compares numbers, dates and strings. Name another."
        )


NOT_TAKEN = {
    "elements": "Only texts are compared there; `neardup.deduplicate` takes lists.",
    "html": "Take the texts out of the pages first, and give a column of these.",
    "source": "It is for `prefer_source`, which is not taken. Give the frame a column that says how good a source is, and `keep`.",
    "progress": "Spark shows what runs on its own page, where jobs have the names of the stages.",
    "threads": "The cores of the executors say how many tasks run at a time, see `spark.executor.cores`.",
    "memory": "The memory of the executors is that of `spark.executor.memory` and `spark.executor.memoryOverhead`.",
    "temp_dir": "What goes from stage to stage lies in `work=`; Spark's own files, where `spark.local.dir` says.",
    "unit": "Only whole documents are removed there; `neardup.deduplicate_units` removes lines and paragraphs.",
}
"""What `neardup.deduplicate` takes and Spark does not, with what to do instead."""
JOIN = "Join several with `concat_ws('\\n', …)` of Spark, and name it."
"""What to do instead of several columns of texts."""
