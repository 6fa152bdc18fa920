"""PREFERRED VALUES: how the values that `keep` compares are compared, as those of all parts of the input tell."""

import json
from functools import partial, reduce
from typing import Any

import pyarrow as pa

from neardup.engines.job_options import Work
from neardup.engines.schemas import INT
from neardup.engines.stages import Engine, Found, Output, Part
from neardup.text.preference import Kinds, kinds_in, place_by_id

KINDS = Output(pa.schema({"part": INT, "kinds": pa.large_string()}))


class KindsOfPart:
    """The kinds of the values of a part, with the ids of examples. Documents of a reference are preferred to all others."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._found: Kinds | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the values of a batch of the part."""
        values = batch.column("value")
        if values.null_count < len(values) and not self._part.is_reference:
            found = kinds_in(values, partial(place_by_id, batch.column("id")))
            self._found = found if self._found is None else self._found | found

    def rows(self) -> Found:
        """The kinds, if there are values."""
        if self._found is not None:
            yield "kinds", pa.table([[self._part.number], [json.dumps(self._found.found)]], KINDS.schema)


def compared_as(engine: Engine, work: Work, kinds: Any) -> str | None:
    """How the values are compared that say how good documents are: as numbers, dates or text; None if there are none.

    Raises:
        DataError: some are numbers or dates, and others are not.
    """
    found = engine.collect(kinds).sort_by("part").column("kinds").to_pylist()
    if not found:
        return None
    of_all = reduce(lambda a, b: a | b, (Kinds(json.loads(each)) for each in found), Kinds())
    return of_all.compared_as(str(work.options.preferred_by), work.options.keep_as)
