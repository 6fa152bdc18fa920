"""COPIED frames: those that may not be the same whenever Spark makes them are written to the folder of the job, and read there."""

import logging
from dataclasses import replace
from typing import Any

from neardup.engines.job.checkpoint import Kept
from neardup.engines.spark.files import literal
from neardup.engines.spark.frames import Frame, Input, column
from neardup.engines.spark.plans import is_steady
from neardup.errors import RecipeMismatch

INPUT, REFERENCE = "input", "reference"
_log = logging.getLogger("neardup")


def steady(session: Any, given: Input, kept: Kept) -> Input:
    """The input, with frames that have the same rows in the same places whenever they are read.

    Raises:
        RecipeMismatch: the job was begun with other rows.
    """
    reference = given.reference and _steady(session, given.reference, kept, REFERENCE)
    return Input(_steady(session, given.documents, kept, INPUT), reference)


def copied_first(given: Input) -> tuple[str, ...]:
    """The names of the frames that a job copies."""
    frames = zip((INPUT, REFERENCE), given.frames, strict=False)
    return tuple(name for name, each in frames if not is_steady(each.frame))


def _steady(session: Any, given: Frame, kept: Kept, name: str) -> Frame:
    if is_steady(given.frame):
        return given
    known = kept.copies.get(name)
    if known is None:
        _log.info("copying the %s to %s first: Spark may make its rows in another order each time", name, kept.folder)
        kept.open()
        path = kept.path(0, name)
        given.frame.write.option("compression", "zstd").parquet(path)
        read = _read(session, given, path)
        kept.copied(name, path, _content(read))
        return replace(given, frame=read)
    now = _content(given.frame)
    if any(known[each] != value for each, value in now.items()):
        raise RecipeMismatch(
            f"{kept.folder} has the work of a job on other rows: the {name} had {known['rows']:,} rows with the sum "
            f"{known['sum']}, and has {now['rows']:,} with {now['sum']}. Give another folder as `work=`. A frame whose rows differ "
            "whenever Spark makes them, as after `dropDuplicates` or `limit`, is to be written to files first: then a job goes on."
        )
    return replace(given, frame=_read(session, given, kept.folder + known["rows_in"]))


def _read(session: Any, given: Frame, path: str) -> Any:
    return session.read.schema(given.frame.schema).parquet(literal(path))


def _content(frame: Any) -> dict[str, Any]:
    """How many rows a frame has, and a sum over them that is the same in any order; of columns that Spark can hash."""
    from pyspark.sql import functions as f

    kinds = ((field.name, field.dataType.simpleString()) for field in frame.schema.fields)
    hashed = f.xxhash64(*(column(name) for name, kind in kinds if "map<" not in kind and "variant" not in kind))
    found = frame.agg(f.count("*").alias("rows"), f.sum(hashed.cast("decimal(20,0)")).alias("sum")).first()
    return {"rows": found.rows, "sum": str(found.sum or 0)}
