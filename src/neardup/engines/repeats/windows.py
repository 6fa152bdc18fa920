"""WINDOWS: the second reading, which finds all windows that may have stood earlier; and the earliest place of each.

A bucket of documents sends the earliest window of each hash, and gets the earliest of all; so of a passage that is in all
documents, no task has more rows than there are buckets.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending, beginnings, looked_up, runs
from neardup.engines.packing import ints
from neardup.engines.repeats.minimizers import RepeatedMinimizers, streams
from neardup.engines.repeats.work import ASKED, EARLIEST, FIRSTS, PLACE_BITS, RUNS, WINDOWS, PassageWork, joined
from neardup.engines.schemas import MARKED, marked
from neardup.engines.stages import Found, Part, Reading, Stage
from neardup.survivors.repeats.windows import BASE, PRIME, WindowFinder

BASES = (BASE, 0x0B5A_D4E3_9F27_C816 % PRIME)
"""Of the two hashes of a window. Equal ones of windows that differ are noticed, as tokens are compared before anything is cut."""


def reading(work: PassageWork, seen: RepeatedMinimizers) -> Reading:
    """The stage that finds windows."""
    return Reading("windows", partial(_read, work, seen), {"windows": WINDOWS})


def _read(work: PassageWork, seen: RepeatedMinimizers, part: Part) -> Found:
    high, low = (WindowFinder(work.stream, work.passages.min_tokens, seen, base) for base in BASES)
    for _, docs, stream in streams(part, work.stream):
        values, places = high.hashes(stream)
        if not len(places):
            continue
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(stream.sizes)])
        at = np.searchsorted(starts, places, "right") - 1
        others = low.hashes(stream)[0]
        columns = [docs[at], places - starts[at], values.view(np.int64), others.view(np.int64)]
        yield "windows", pa.table(columns, WINDOWS.schema)


def _known(table: pa.Table, doc: Array, *names: str) -> list[Array]:
    """Columns of documents, for each of some rows."""
    _, at = looked_up(table.column("doc").to_numpy(), doc)
    return [table.column(name).to_numpy()[at] for name in names]


def _firsts(windows: pa.Table, ranked: pa.Table) -> Found:
    """The earliest window of each hash."""
    if not len(windows):
        return
    doc, place, high, low = ints(windows, "doc", "place", "high", "low")
    group, rank = _known(ranked, doc, "group", "rank")
    order = ascending(high, low, group, rank, place)
    is_first = beginnings(high[order], low[order], group[order])
    has_others = np.diff(np.append(np.flatnonzero(is_first), len(order))) > 1
    first = order[is_first]
    columns = [each[first] for each in (high, low, group, rank, doc, place)]
    yield "firsts", pa.table([*columns, has_others], FIRSTS.schema)


FIND_FIRSTS = Stage("first windows", _firsts, {"firsts": FIRSTS})
"""Of windows, and documents with their ranks."""


def _earliest(firsts: pa.Table) -> Found:
    """The earliest place of each hash that stands at several, for each bucket that has it."""
    if not len(firsts):
        return
    high, low, group, rank, doc, place = (
        each[:] for each in ints(firsts, "high", "low", "group", "rank", "doc", "place")
    )
    order = ascending(high, low, group, rank, place)
    is_first = beginnings(high[order], low[order], group[order])
    first = order[is_first][np.cumsum(is_first) - 1]
    needs = ~is_first | firsts.column("has_others").to_numpy()[order]
    asker, first = order[needs], first[needs]
    columns = [doc[asker], high[asker], low[asker], group[asker], doc[first], place[first]]
    yield "earliest", pa.table(columns, EARLIEST.schema)


FIND_EARLIEST = Stage("earliest windows", _earliest, {"earliest": EARLIEST})


def find_runs(work: PassageWork) -> Stage:
    """The stage that finds what is repeated: of windows, documents with their ranks, and earliest places."""
    return Stage("repeated windows", partial(_runs, work), {"runs": RUNS, "asked": ASKED, "marked": MARKED})


def _runs(work: PassageWork, windows: pa.Table, ranked: pa.Table, earliest: pa.Table) -> Found:
    if not len(windows) or not len(earliest):
        return
    doc, place, high, low = ints(windows, "doc", "place", "high", "low")
    group, is_reference = _known(ranked, doc, "group", "is_reference")
    at = joined(tuple(ints(earliest, "high", "low", "group")), (high, low, group))
    copy, copy_place = (each[at] for each in ints(earliest, "copy", "copy_place"))
    is_repeated = (at >= 0) & ~is_reference & ((copy != doc) | (copy_place != place))
    if work.passages.scope == "other-documents":
        is_repeated &= copy != doc
    doc, place, copy, copy_place = (each[is_repeated] for each in (doc, place, copy, copy_place))
    if not len(doc):
        return
    order = ascending(doc, place)
    doc, place, copy, copy_place = (each[order] for each in (doc, place, copy, copy_place))
    follows = np.arange(len(doc))  # of consecutive places, the differences are the same
    first = np.flatnonzero(beginnings(doc, copy, place - follows, copy_place - follows))
    count = np.diff(np.append(first, len(doc)))
    found = [doc[first], place[first], count, copy[first], copy_place[first]]
    yield "runs", pa.table(found, RUNS.schema)
    yield "marked", marked(np.union1d(doc, copy))
    yield "asked", _asked(work.passages.min_tokens, *found)


def ends_of_cuts(size: int, doc: Array, place: Array, count: Array) -> tuple[Array, Array]:
    """The cuts of runs of windows, by document and place: int64[n], the number of the cut of each run, and its end."""
    end = place + count - 1 + size
    is_new = np.ones(len(doc), np.bool_)
    is_new[1:] = (doc[1:] != doc[:-1]) | (place[1:] > end[:-1])
    number = np.cumsum(is_new) - 1
    last = np.append(np.flatnonzero(is_new)[1:] - 1, len(doc) - 1)
    return number, end[last][number]


def _asked(size: int, doc: Array, place: Array, count: Array, copy: Array, copy_place: Array) -> pa.Table:
    """The places of copies from the first of a run as far as its cut may go on with their tokens, each once."""
    _, end = ends_of_cuts(size, doc, place, count)
    order = ascending(copy, copy_place)
    copy, begin, end = copy[order], copy_place[order], (copy_place + end - place)[order]
    of = runs(copy) << PLACE_BITS
    most = np.maximum.accumulate(of + end)
    is_new = np.ones(len(copy), np.bool_)
    is_new[1:] = (of + begin)[1:] > most[:-1]
    first = np.flatnonzero(is_new)
    last = np.append(first[1:] - 1, len(copy) - 1)
    columns = [copy[first], np.full(len(first), doc[0]), begin[first], (most - of)[last]]
    return pa.table(columns, ASKED.schema)
