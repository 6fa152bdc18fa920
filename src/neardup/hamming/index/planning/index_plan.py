"""The plan of a Hamming index, and its text for people."""

import dataclasses
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass

from neardup.display import size_text
from neardup.hamming.index.planning.check import Checked
from neardup.hamming.index.planning.costs import Cost
from neardup.hamming.index.planning.hit_probability import HitProbability


@dataclass(frozen=True)
class MethodPlan:
    """One method with its best options.

    Attributes:
        method, options: as in `neardup.Index`.
        is_exact: whether it finds every document within the distance.
        cost: its tables, bytes, candidates and time; see `neardup.hamming.index.planning.costs.Cost`.
        fits: whether it fits the memory.
        hit_probability: the probability that it finds a pair at the distance; None for exact methods.
    """

    method: str
    options: dict[str, int]
    is_exact: bool
    cost: Cost
    fits: bool
    hit_probability: HitProbability | None


@dataclass(frozen=True)
class Shards:
    """The documents divided among machines with this memory, each with the constants of one. Every query goes to all of them.

    Attributes:
        shards: number of machines, or of parts that one machine processes in turn.
        documents: the number of documents in the largest shard.
        method, options: the method of each shard, and its options.
        nbytes: bytes of each shard.
        build_seconds: seconds to build each shard, on one thread.
        batch_seconds: seconds of a million queries on each shard, on one thread.
        machine_seconds: seconds of a million queries, summed over all shards.
    """

    shards: int
    documents: int
    method: str
    options: dict[str, int]
    nbytes: int
    build_seconds: float
    batch_seconds: float
    machine_seconds: float


@dataclass(frozen=True)
class IndexPlan:
    """The memory and time of Hamming search in a number of documents, by method.

    Attributes:
        documents, bits, max_distance: those of the planned index.
        memory_bytes: bytes that the index may take.
        based_on: the assumed distribution of the fingerprints, in words.
        machine: where the constants come from and whether they are extrapolated, in words.
        methods: the cost of each method.
        refused: the methods that cannot be used, and why.
        method, options: the chosen method and its options; None and {} if no exact method fits the memory.
        reason: why it was chosen.
        shards: the plan for several machines, if no exact method fits in the memory of one.
        checked: predictions beside measurements; empty without `check`.
    """

    documents: int
    bits: int
    max_distance: int
    memory_bytes: int
    based_on: str
    machine: str
    methods: tuple[MethodPlan, ...]
    refused: dict[str, str]
    method: str | None
    options: dict[str, int]
    reason: str
    shards: Shards | None
    checked: tuple[Checked, ...] = ()

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    def __str__(self) -> str:
        return plan_text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(plan_text(self))}</pre>"


def plan_text(plan: IndexPlan) -> str:
    """The plan as lines of text: the index, a row for each method, the choice, shards and checks."""
    lines = [
        f"Hamming search in {plan.documents:,} documents, {plan.bits} bits, distance {plan.max_distance}, by {plan.based_on}",
        f"  times of one thread in a batch: {plan.machine}",
        *_table(
            ["method", "tables", "key bits", "bytes", "candidates", "a query", "build", "hit probability"],
            [_row(each) for each in plan.methods],
        ),
    ]
    for each in plan.methods:
        lines += _hit_lines(each)
    lines += [f"  {method} cannot be used: {why}" for method, why in plan.refused.items()]
    if plan.method is None:
        lines.append(f"Past one machine: {plan.reason}")
    else:
        options = "".join(f" {name}={value}" for name, value in plan.options.items())
        lines.append(f"auto takes {plan.method}{options}: {plan.reason}")
    if plan.shards is not None:
        lines += _shards(plan.shards)
    if plan.checked:
        lines.append(f"Checked with {plan.checked[0].documents:,} documents")
        rows = [
            [
                each.method,
                each.quantity,
                f"{each.predicted:,.3g}" if each.predicted < 1e3 else f"{each.predicted:,.0f}",
                f"{each.measured:,.3g}" if each.measured < 1e3 else f"{each.measured:,.0f}",
                f"{each.factor:.2f}",
                "yes" if each.agrees else "NO",
            ]
            for each in plan.checked
        ]
        lines += _table(["method", "quantity", "predicted", "measured", "factor", "agrees"], rows)
    return "\n".join(lines)


def _row(each: MethodPlan) -> list[str]:
    cost, hit = each.cost, each.hit_probability
    return [
        each.method,
        str(cost.tables),
        str(cost.key_bits) if cost.key_bits else "-",
        size_text(cost.nbytes) + ("" if each.fits else " (too large)"),
        f"{cost.candidates:,.0f}",
        time_text(cost.seconds_a_query),
        time_text(cost.build_seconds),
        "1 (exact)" if hit is None else f"{hit.value:.4f}",
    ]


def _hit_lines(each: MethodPlan) -> list[str]:
    hit = each.hit_probability
    if hit is None:
        return []
    simulated = f"{hit.simulated:.4f} simulated ({hit.trials:,} trials, seed {hit.seed})"
    if hit.exact is None:
        return [f"  {each.method} at distance {hit.distance}: {simulated}, for uniform fingerprints"]
    forms = f"{hit.exact:.4f} exactly, {hit.by_distance:.4f} and {hit.by_prefix:.4f} by approximation"
    return [f"  {each.method} at distance {hit.distance}: {forms}, {simulated}"]


def _shards(shards: Shards) -> list[str]:
    options = "".join(f" {name}={value}" for name, value in shards.options.items())
    return [
        "  an extrapolation from the constants of one machine:",
        f"  {shards.shards:,} shards of {shards.documents:,} documents, {shards.method}{options}, {size_text(shards.nbytes)} each",
        f"  build {time_text(shards.build_seconds)} a shard; a million queries {time_text(shards.batch_seconds)} a shard, "
        f"{time_text(shards.machine_seconds)} in all",
    ]


def _table(head: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return [
        "  "
        + "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [head, *rows]
    ]


def time_text(seconds: float) -> str:
    """A time given in seconds, in a readable unit."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:,.2f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:,.1f} ms"
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"
