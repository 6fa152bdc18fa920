"""CUTS: the runs of tokens that windows with an earlier place cover, after the tokens of both places were compared."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array, Bools
from neardup.kernels.repeats.regions import END, Regions, divide_cuts, find_different, region_of, seek
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool
from neardup.survivors.repeats.earliest import Earliest, Order
from neardup.survivors.repeats.options import Scope


@dataclass(frozen=True, slots=True)
class Cuts:
    """What is repeated, by place.

    Attributes:
        cuts: int64[n, 2], begin and end of each maximal run of places that are repeated, ascending.
        segments: int64[m, 3], a cut divided: where a segment begins, the earlier place of its first token, and how many places it
            has; the tokens of both are the same.
    """

    cuts: Array
    segments: Array


def find_cuts(
    earliest: Earliest,
    regions: Regions,
    size: int,
    order: Order,
    scope: Scope,
    groups: Array | None,
    resources: Resources,
) -> Cuts:
    """The cuts, of windows of `size` tokens. `groups`: int64[rows], as `salts_of` took them.

    Every window is compared with its earliest place, token by token. Those that differ, because the hashes of different windows are
    equal, are grouped by their tokens.
    """
    different = _different(earliest, regions, size, resources)
    if len(different):
        earliest.correct(different, _earliest_of(different, regions, size, order, groups))
    with Spool(np.int64, files=resources.files) as cuts, Spool(np.int64, files=resources.files) as segments:
        for base, firsts in earliest.blocks():
            _leave_out(firsts, base, order, scope)
            some, parts = (np.empty((len(firsts), width), np.int64) for width in (2, 3))
            m, n = divide_cuts(firsts, base, size, regions, some, parts)
            cuts.write(some[:m])
            segments.write(parts[:n])
        return Cuts(cuts.changeable().reshape(-1, 2), segments.changeable().reshape(-1, 3))


def meet_any(begins: Array, ends: Array, firsts: Array, lasts: Array) -> Bools:
    """bool[n]: whether runs of places (`firsts`, and the ends `lasts`) have some of the places of others (`begins`, `ends`), which
    ascend and do not overlap.
    """
    after = np.searchsorted(ends, firsts, "right")
    found: Bools = after < len(ends)
    found[found] = begins[after[found]] < lasts[found]
    return found


def _leave_out(firsts: Array, base: int, order: Order, scope: Scope) -> None:
    """Make -1 of the earliest places that do not count: those of windows of references, or of the same document."""
    firsts[max(0, order.inputs - base) :] = -1
    if scope == "other-documents":
        at = np.flatnonzero(firsts >= 0)
        firsts[at[order.places.rows_of(base + at) == order.places.rows_of(firsts[at])]] = -1


def _different(earliest: Earliest, regions: Regions, size: int, resources: Resources) -> Array:
    """int64[n]: the places of windows that are not the same as those at their earliest places."""
    with Spool(np.int64, files=resources.files) as found:
        for base, firsts in earliest.blocks():
            out = np.empty(len(firsts), np.int64)
            found.write(out[: find_different(firsts, base, size, regions, out)])
        return np.array(found.changeable())


def _earliest_of(different: Array, regions: Regions, size: int, order: Order, groups: Array | None) -> Array:
    """int64[n]: the earliest places of windows by their tokens, -1 for those that are the earliest themselves."""
    orders, rows = order.of_places(different), order.places.rows_of(different)
    keys = [
        (None if groups is None else int(groups[row]), _tokens(place, size, regions))
        for row, place in zip(rows.tolist(), different.tolist(), strict=True)
    ]
    first = dict[tuple[int | None, bytes], int]()
    for key, at in zip(keys, orders.tolist(), strict=True):
        first[key] = min(at, first.get(key, at))
    found = order.places_at(np.array([first[key] for key in keys], np.int64))
    return np.where(found == different, -1, found)


def _tokens(place: int, size: int, regions: Regions) -> bytes:
    """The tokens of a window, as bytes."""
    region = region_of(place, regions)
    begin = at = int(seek(place, region, regions))
    for _ in range(size):
        at += int(np.argmax(regions.data[at : at + (1 << 20)] == END)) + 1
    return bytes(regions.data[begin:at])
