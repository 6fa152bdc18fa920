"""TOLD FRAMES: frames that Spark computes when their rows are asked for, and that tell what fails then in our words.

Frames that others are made of tell it in the same words, but within those of Spark.
"""

from typing import Any

from neardup.engines.lazy import telling
from neardup.engines.spark.failures import translated_errors

_COMPUTES = (
    *("checkpoint", "collect", "count", "first", "foreach", "foreachPartition", "head", "isEmpty", "localCheckpoint"),
    *("show", "tail", "take", "toArrow", "toLocalIterator", "toPandas"),
)
"""The methods of a frame that compute its rows."""
_WRITES = ("csv", "insertInto", "jdbc", "json", "orc", "parquet", "save", "saveAsTable", "text")
"""Those of what writes it."""


def told(frame: Any) -> Any:
    """A frame whose errors are told in our words."""
    kind = telling(type(frame), _COMPUTES, translated_errors)
    if "write" not in vars(kind):
        kind.write = property(_writer(kind.write))
    frame.__class__ = kind
    return frame


def _writer(write: Any) -> Any:
    def told_writer(frame: Any) -> Any:
        found = write.fget(frame)
        found.__class__ = telling(type(found), _WRITES, translated_errors)
        return found

    return told_writer
