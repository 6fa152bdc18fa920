"""SORT of documents by columns, as stages: rows are divided into ranges by a sample, and sorted in each.

So no task sorts all, whatever the columns. A null comes first where documents are put in order, and last where the best is chosen.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.engines.columns import looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, mixed
from neardup.engines.schemas import BEFORE_ALL, INT, PLACES
from neardup.engines.stages import Engine, Found, Output, Stage
from neardup.errors import DataError
from neardup.recipe.tables.keeps import By
from neardup.text.preference import sort_keys

ROWS_IN_SAMPLE = 1 << 16
"""Rows of which boundaries are made."""
RANGE = "range_of_rows"
DOC_COLUMNS = {"doc": INT, "is_reference": pa.bool_()}
"""Before the columns that put documents in order."""
PLACED = Output(pa.schema({"doc": INT, "is_reference": pa.bool_(), "place": INT}), ("doc",))
SIZES = Output(pa.schema({"range": INT, "rows": INT}))


class Sort(NamedTuple):
    """How rows are sorted.

    Attributes:
        schema: DOC_COLUMNS, and columns to sort by.
        is_descending: whether the first of these is, where others are not.
        nulls: where they come: "at_start" or "at_end".
    """

    schema: pa.Schema
    is_descending: bool = False
    nulls: str = "at_start"

    @property
    def output(self) -> Output:
        """The rows as an output."""
        return Output(self.schema, ("doc",), is_sorted=False)

    def order(self, rows: pa.Table, *before: str) -> Array:
        """int64[n]: the order of rows; those of a reference come after all others. `before`: columns that go before all."""
        table = pa.table({name: rows.column(name) for name in (*before, "doc")})
        flag = pc.cast(rows.column("is_reference"), pa.int8())  # Arrow does not sort by truth values
        table = table.append_column("is_reference", flag)
        by = [(name, "ascending") for name in (*before, "is_reference")]
        for number, name in enumerate(self.schema.names[len(DOC_COLUMNS) :]):
            column = rows.column(name)
            come_last = pc.is_null(column) if self.nulls == "at_end" else pc.is_valid(column)
            table = table.append_column(f"{name}_last", pc.cast(come_last, pa.int8())).append_column(name, column)
            by += [(f"{name}_last", "ascending")]
            by += [(name, "descending" if self.is_descending and number == 0 else "ascending")]
        found: Array = pc.sort_indices(table, [*by, ("doc", "ascending")]).to_numpy()
        return found


def sorted_rows(engine: Engine, rows: Any, sort: Sort, *, ranges: int) -> Any:
    """The places of rows in their order: rows of PLACED. `ranges`: into how many they are divided, about."""
    each = max(1, ROWS_IN_SAMPLE // ranges)
    sample = engine.collect(engine.run(_sampling(sort, each), rows)["sample"])
    inner = np.unique(np.linspace(0, len(sample), ranges + 1).astype(int))[1:-1]
    boundaries = sample.take(sort.order(sample)[inner]) if len(sample) else sample
    found = engine.run(_dividing(sort, boundaries), rows)
    sizes = engine.collect(found["sizes"])
    counts = np.zeros(len(boundaries) + 1, np.int64)
    np.add.at(counts, *ints(sizes, "range", "rows"))
    before = np.cumsum(counts) - counts
    return engine.run(_placing(sort, before), found["ranged"])["placed"]


def _sampling(sort: Sort, each: int) -> Stage:
    return Stage("sample of order", partial(_sample, each), {"sample": Output(sort.schema)})


def _sample(each: int, rows: pa.Table) -> Found:
    """Some rows of a bucket, by chance."""
    if len(rows):
        yield "sample", rows.take(np.sort(np.argsort(mixed(*ints(rows, "doc")))[:each]))


def _dividing(sort: Sort, boundaries: pa.Table) -> Stage:
    ranged = Output(sort.schema.append(pa.field(RANGE, INT)), (RANGE,), is_sorted=False)
    return Stage("ranges", partial(_divide, sort, boundaries), {"ranged": ranged, "sizes": SIZES})


def _divide(sort: Sort, boundaries: pa.Table, rows: pa.Table) -> Found:
    """Rows with the number of boundaries that come before them, and how many there are of each."""
    if not len(rows):
        return
    order = sort.order(pa.concat_tables([boundaries, rows]))
    passed = np.cumsum(order < len(boundaries))  # a boundary is a row, too, and comes before itself
    found = np.empty(len(order), np.int64)
    found[order] = passed
    of = found[len(boundaries) :]
    yield "ranged", rows.append_column(pa.field(RANGE, INT), pa.array(of))
    numbers, counts = np.unique(of, return_counts=True)
    yield "sizes", pa.table([numbers, counts.astype(np.int64)], SIZES.schema)


def _placing(sort: Sort, before: Array) -> Stage:
    return Stage("order", partial(_place, sort, before), {"placed": PLACED})


def _place(sort: Sort, before: Array, rows: pa.Table) -> Found:
    """The places of the rows of some ranges. `before`: how many rows come before each range."""
    if not len(rows):
        return
    some = rows.take(sort.order(rows, RANGE))
    of = ints(some, RANGE)[0]
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    within = np.arange(len(of)) - np.repeat(begins, np.diff(begins, append=len(of)))
    yield "placed", pa.table([some.column("doc"), some.column("is_reference"), before[of] + within], PLACED.schema)


def in_place(documents: Any, engine: Engine) -> Any:
    """The places of documents whose numbers are in their order: rows of PLACED."""
    return engine.run(IN_PLACE, documents)["placed"]


def _in_place(documents: pa.Table) -> Found:
    if len(documents):
        doc, is_reference = documents.column("doc"), documents.column("is_reference")
        yield "placed", pa.table([doc, is_reference, doc], PLACED.schema)


IN_PLACE = Stage("places as read", _in_place, {"placed": PLACED})


def ranked_places(
    engine: Engine, work: Work, documents: Any, placed: Any, compared_as: str | None, *, ranges: int
) -> Any:
    """The places and ranks (PLACES) of documents.

    `placed`: their places, rows of PLACED; `compared_as`: how the values are compared that say how good documents are.
    """
    preference = work.options.preference
    if preference.by is By.ORDER:
        return engine.run(_giving(is_last=preference.greatest_first), placed)["places"]
    by_value = work.options.preferred_by is not None
    kind = pa.large_string() if by_value else INT
    descending = by_value and preference.greatest_first
    sort = Sort(pa.schema(DOC_COLUMNS | {"preferred": kind, "place": INT}), descending, "at_end")
    stage = Stage("preference", partial(_preferred, by_value, compared_as or ""), {"keys": sort.output})
    keys = engine.run(stage, documents, placed)["keys"]
    ranks = sorted_rows(engine, keys, sort, ranges=ranges)
    return engine.run(RANK, placed, ranks)["places"]


def _giving(*, is_last: bool) -> Stage:
    return Stage("ranks", partial(_give, -1 if is_last else 1), {"places": PLACES})


def _give(sign: int, placed: pa.Table) -> Found:
    """The ranks of documents by their places."""
    if len(placed):
        doc, place = ints(placed, "doc", "place")
        yield "places", _places(placed, doc, place, sign * place)


def _places(placed: pa.Table, doc: Array, place: Array, rank: Array) -> pa.Table:
    """Rows of PLACES; documents of a reference are preferred to all others."""
    of_reference = placed.column("is_reference").to_numpy()
    return pa.table([doc, place, np.where(of_reference, place - BEFORE_ALL, rank)], PLACES.schema)


def _compared(documents: pa.Table) -> Any:
    """The values that are compared: not those of a reference, whose documents are preferred to all others."""
    values, of_reference = (documents.column(name).combine_chunks() for name in ("value", "is_reference"))
    return pc.if_else(of_reference, pa.scalar(None, values.type), values)


def _preferred(by_value: bool, compared_as: str, documents: pa.Table, placed: pa.Table) -> Found:
    """What documents are preferred by, and their places."""
    if not len(documents):
        return
    known, at = looked_up(*(ints(each, "doc")[0] for each in (placed, documents)))
    if not known.all():
        raise DataError(f"{np.count_nonzero(~known):,} documents were not there when the input was put in order.")
    key = documents.column("cost")
    if by_value:
        key = sort_keys(_compared(documents), compared_as)
    place = placed.column("place").take(at)
    names = (*DOC_COLUMNS, "preferred", "place")
    yield "keys", pa.table([documents.column("doc"), documents.column("is_reference"), key, place], names=names)


def _rank(placed: pa.Table, ranks: pa.Table) -> Found:
    """Places with ranks, which were found by another order."""
    if len(placed):
        doc, place = ints(placed, "doc", "place")
        yield "places", _places(placed, doc, place, ints(ranks, "place")[0])


RANK = Stage("ranks", _rank, {"places": PLACES})
"""Of places, and of ranks as places."""
