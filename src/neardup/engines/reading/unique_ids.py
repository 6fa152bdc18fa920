"""UNIQUE IDS of all documents, of which none may be null, nor any occur twice where it is not that of a reference; as stages."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.packing import ints
from neardup.engines.reading.unchanged_input import string_digests
from neardup.engines.schemas import INT
from neardup.engines.stages import Engine, Found, Output, Part, Reading, Stage
from neardup.errors import InputError

IDS = Output(pa.schema({"high": INT, "low": INT}), ("high", "low"))
MISSING = Output(pa.schema({"rows": INT}))
REPEATED = Output(IDS.schema)
NAMES = Output(pa.schema({"id": pa.large_string()}))
SHOWN_IDS = 3
"""Ids in a message."""
REPEATED_IDS_PER_BUCKET = 1000
"""Repeated ids that a bucket tells of."""


def demand_ids(engine: Engine, name: str) -> None:
    """Refuse ids that are null, or occur twice where they are not those of a reference. `name`: of their column.

    Raises:
        InputError: some are.
    """
    found = engine.read(Reading("ids of all", _digest, {"ids": IDS, "missing": MISSING}))
    missing = sum(engine.collect(found["missing"]).column("rows").to_pylist())
    if missing:
        raise InputError(f"{missing:,} rows have no id: column {name!r} is null. Give each document an id of its own.")
    repeated = engine.run(REPEAT, found["ids"])["repeated"]
    if repeated.is_empty:
        return
    digests = engine.collect(repeated).slice(0, SHOWN_IDS)
    names = engine.collect(engine.read(Reading("ids that repeat", partial(_named, digests), {"names": NAMES}))["names"])
    shown = ", ".join(repr(each) for each in sorted(set(names.column("id").to_pylist())))
    raise InputError(
        f"Some ids occur several times in column {name!r}, such as {shown}. Give each document an id of its own."
    )


def _digest(part: Part) -> Found:
    """The digests of the ids of a part, and how many there are none of."""
    for batch in part.batches:
        column = batch.column("id")
        if column.null_count:
            yield "missing", pa.table([[column.null_count]], MISSING.schema)
        elif not part.is_reference:
            yield "ids", pa.table(list(string_digests(column).view(np.int64).T.copy()), IDS.schema)


def _repeat(ids: pa.Table) -> Found:
    """The digests that occur several times."""
    high, low = ints(ids, "high", "low")
    again = 1 + np.flatnonzero((high[1:] == high[:-1]) & (low[1:] == low[:-1]))
    if len(again):
        yield "repeated", ids.take(again[:REPEATED_IDS_PER_BUCKET])


REPEAT = Stage("ids looked at", _repeat, {"repeated": REPEATED})


def _named(digests: pa.Table, part: Part) -> Found:
    """The ids with some digests."""
    wanted = set(zip(*(each.tolist() for each in ints(digests, "high", "low")), strict=True))
    for batch in part.batches:
        found = string_digests(batch.column("id")).view(np.int64).tolist()
        at = [row for row, (high, low) in enumerate(found) if (high, low) in wanted]
        if at and not part.is_reference:
            yield "names", pa.table([batch.column("id").take(at[:REPEATED_IDS_PER_BUCKET])], NAMES.schema)
