"""Plan a Hamming index: the cost of every method for a number of documents, the chosen method, and the reason."""

import dataclasses
import math

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.hamming.block_plan import check_distance
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.index.planning.check import check_plan
from neardup.hamming.index.planning.costs import Setting
from neardup.hamming.index.planning.index_plan import IndexPlan, MethodPlan, Shards
from neardup.hamming.index.planning.machine import TYPICAL
from neardup.hamming.index.planning.machine_timing import measure_machine
from neardup.hamming.index.planning.planner import TIMES_SLOWER, Choice, best_of, choices_for, choose, exact_methods
from neardup.hamming.index.planning.skew import observed_skew
from neardup.hamming.unique import fingerprint_rows
from neardup.resources.limits import memory_bytes

BATCH_QUERIES = 1_000_000
"""Number of queries for which a plan gives the time of shards."""


def plan(
    documents: int | None = None,
    *,
    max_distance: int,
    bits: int | None = None,
    memory: int | str | None = None,
    fingerprints: Array | None = None,
    check: bool = False,
) -> IndexPlan:
    """Plan Hamming search: estimate the cost of every method, and choose the cheapest that fits.

    docs/planner.md explains the model. Times are for one thread and a batch of queries. They are based on constants of the machine
    of the benchmarks or, with `check`, of this machine.

    Args:
        documents: the number of documents; by default, that of `fingerprints`. Equal fingerprints count once.
        max_distance: the Hamming distance of the search, inclusive.
        bits: bits of a fingerprint; by default, those of `fingerprints`, or 128.
        memory: the memory that the index may take, in bytes or as `8G`; by default, half of the machine's.
        fingerprints: uint64[n] or uint64[n, words], a sample of the documents' fingerprints. The estimate includes their spread.
        check: measure this machine, build every method for a sample (about 2^20 uniform fingerprints, or some of `fingerprints`),
            and compare predictions with measurements. This takes some minutes.

    Raises:
        OptionError: a value that is not allowed.

    >>> found = plan(2**26, max_distance=3, bits=64, memory="12G")
    >>> found.method, found.options, found.shards
    ('block-tables', {'blocks': 4}, None)
    >>> [each.cost.candidates for each in found.methods if each.method == "block-tables"]
    [4096.0]
    """
    rows = None if fingerprints is None else fingerprint_rows(fingerprints)
    count, width = _size(documents, bits, rows)
    limit = check_distance(max_distance, width)
    room = memory_bytes(memory)
    machine = measure_machine() if check else TYPICAL
    skew = None if rows is None else observed_skew(rows)
    setting = Setting(count, width, limit, machine, skew)
    choices, refused = choices_for(setting, METHODS, memory=room)
    chosen = choose(setting, memory=room)
    if chosen:  # the best options overall may differ from the best within the method
        choices = [chosen if choice.method == chosen.method else choice for choice in choices]
    return IndexPlan(
        documents=count,
        bits=width,
        max_distance=limit,
        memory_bytes=room,
        based_on="uniform fingerprints" if rows is None else f"the spread of {len(rows):,} fingerprints",
        machine=machine.source_for(count),
        methods=tuple(_method_plan(choice, setting, room) for choice in choices),
        refused=refused,
        method=chosen.method if chosen else None,
        options=chosen.options if chosen else {},
        reason=_reason(chosen, choices, count, room),
        shards=None if chosen else sharded(setting, room),
        checked=check_plan(choices, setting, rows) if check else (),
    )


def _size(documents: int | None, bits: int | None, rows: Array | None) -> tuple[int, int]:
    if documents is None and rows is None:
        raise OptionError("Give `documents`, their number, or `fingerprints`.")
    if documents is not None and (not is_integer(documents) or documents < 1):
        raise OptionError(f"`documents={documents!r}`: give an integer from 1 up.")
    if rows is not None:
        width = 64 * rows.shape[1]
        if bits not in (None, width):
            raise OptionError(f"`bits={bits}`: the fingerprints have {width}. Leave out `bits`.")
        return int(documents or len(rows)), width
    if bits is not None and (not is_integer(bits) or bits not in range(64, 513, 64)):
        raise OptionError(f"`bits={bits!r}`: give 64, 128, … 512; pad narrower fingerprints with zero bits.")
    return int(documents or 1), int(bits or 128)


def _method_plan(choice: Choice, setting: Setting, room: int) -> MethodPlan:
    method = METHODS[choice.method]
    hit = method.hit_probability(choice.options, bits=setting.bits, distance=setting.max_distance, rows=setting.rows)
    fits = choice.cost.nbytes <= room
    return MethodPlan(choice.method, choice.options, method.is_exact, choice.cost, fits, hit)


def _reason(chosen: Choice | None, choices: list[Choice], rows: int, room: int) -> str:
    exact = [choice for choice in choices if METHODS[choice.method].is_exact]
    if chosen is None:
        least = min(exact, key=lambda choice: choice.cost.nbytes)
        return (
            f"no exact method fits in {room:,} bytes: {least.method} takes the least, {least.cost.nbytes:,}; more than one "
            "machine, or parts one after the other, are needed"
        )
    fitting = [choice for choice in exact if choice.cost.nbytes <= room]
    too_large = [choice.method for choice in exact if choice.cost.nbytes > room]
    spent = chosen.cost.seconds_a_document(rows)
    said = (
        f"of {len(fitting)} exact methods that fit in memory, it needs least of it among those that take at most "
        f"{TIMES_SLOWER:g} times the least time to put a document in and look one up, {spent * 1e6:,.2f} µs"
    )
    return said + (f"; too large: {', '.join(too_large)}" if too_large else "")


def sharded(setting: Setting, room: int) -> Shards:
    """Find shards of the exact method that, over all machines, takes least time to insert a document and look one up.

    Raises:
        OptionError: not even one document fits.
    """
    best: tuple[float, Shards] | None = None
    for method in exact_methods():
        try:
            whole = best_of(method, setting, memory=0)
        except OptionError:
            continue
        count = max(1, math.ceil(whole.cost.nbytes / room))
        # The buckets of a shard's tables are a power of two, so more shards may be needed than the bytes suggest.
        while True:
            part = dataclasses.replace(setting, rows=math.ceil(setting.rows / count))
            choice = best_of(method, part, memory=room)
            if choice.cost.nbytes <= room or part.rows == 1:
                break
            count = max(count + 1, math.ceil(count * choice.cost.nbytes / room))
        cost = choice.cost
        if cost.nbytes > room:
            continue
        batch = BATCH_QUERIES * cost.seconds_a_query
        found = Shards(count, part.rows, method, choice.options, cost.nbytes, cost.build_seconds, batch, batch * count)
        spent = count * cost.seconds_a_query + cost.build_seconds / part.rows
        if best is None or spent < best[0]:
            best = spent, found
    if best is None:
        raise OptionError(f"`memory={room}`: not even one document fits. Give more.")
    return best[1]
