"""The command `neardup plan`."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import is_verbose, tell
from neardup.display import ToldLine, about, allowed_text, counted, duration, size_text
from neardup.io.corpora.shards import demand_present
from neardup.recipe.tables.methods import BY_DISTANCE
from neardup.recipe.tables.similarities import SIMILARITIES

if TYPE_CHECKING:
    from neardup.hamming.block_plan import BlockPlan
    from neardup.judging.plan import JoinPlan
    from neardup.judging.run_cost import CostEstimate
    from neardup.matching.candidates.costs import Estimate


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...", type=values.FILE)
@click.option("--documents", type=int, metavar="N", help="Number of documents to plan for (those of the inputs).")
@click.option(
    "--min-tokens",
    type=int,
    metavar="TOKENS",
    help="Plan a run of `neardup passages` instead, which cuts passages of so many tokens.",
)
@options.min_similarity("Plan a join of texts at this similarity.")
@options.similarity(f"{described(SIMILARITIES)}.")
@click.option(
    "--max-distance",
    type=values.Numbers(),
    metavar="K",
    help="Plan Hamming search within this distance instead: a join of fingerprints, and an index of them.",
)
@click.option(
    "--prefix",
    type=values.Numbers(),
    metavar="P",
    help="With --tables, show only the probability that tables of permuted prefixes of P bits find a pair at distance K, exact "
    "and by two approximations. K, P and T may be lists with commas.",
)
@click.option("--tables", type=values.Numbers(), metavar="T", help="Number of these tables.")
@click.option("--bits", type=int, metavar="B", help="Bits of the fingerprints (those of the files, or 128).")
@click.option(
    "--fingerprints",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Fingerprint file whose spread the plan of an index takes into account; repeatable.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Measure this machine and an index of a sample with every method, and compare with the plan; takes about a minute.",
)
@options.reading_or_elements
@options.recipe
@options.guard("What must be equal besides (nothing)")
@options.survivors(sources="inputs", within=".")
@options.on_error_without_rejects
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...], documents: int | None, min_tokens: int | None, bits: int | None, recipe: str, as_json: bool,
    quiet: bool, max_distance: tuple[int, ...] | None, prefix: tuple[int, ...] | None, tables: tuple[int, ...] | None,
    **chosen: Any,
) -> None:  # fmt: skip
    """Estimate the time, memory and disk that a run takes.

    INPUT: texts as for `neardup dedup`; about 32 MB of them are read, and de-duplicated to time this machine, as `neardup dedup
    --dry-run` does. For more documents than were read, the figures are extrapolated. Without INPUT, they are those of a known
    corpus, on the machine of the benchmarks. The plan shows all of the run, and what each method takes of it. For an index, --check
    times this machine, and the plan shows for each search method whether it fits in --memory.
    """
    if prefix is not None or tables is not None:
        click.echo(_prefix_table(max_distance, prefix, tables, bits, as_json))
        return
    if max_distance is not None and len(max_distance) != 1:
        raise click.UsageError("--max-distance: give one distance; several are for --prefix with --tables.")
    demand_present(inputs)
    from neardup.judging.plan import plan_files
    from neardup.recipe.presets import find_recipe
    from neardup.resources.threads import thread_count

    found = plan_files(
        inputs,
        documents=documents,
        min_tokens=min_tokens,
        bits=bits,
        recipe=find_recipe(recipe),
        max_distance=None if max_distance is None else max_distance[0],
        progress=options.progress(quiet),
        **chosen,
    )
    if as_json:
        click.echo(found.to_json())
        return
    tell(_lines(found, thread_count(chosen["threads"])), err=False)
    if found.index is not None:
        click.echo(str(found.index))


def _prefix_table(
    distances: tuple[int, ...] | None,
    prefixes: tuple[int, ...] | None,
    tables: tuple[int, ...] | None,
    bits: int | None,
    as_json: bool,
) -> str:
    """The probabilities of tables of permuted prefixes, as a table or as JSON."""
    given = set(filter(options.is_given, click.get_current_context().params))
    if others := sorted(given - {"max_distance", "prefix", "tables", "bits", "as_json"}):
        flags = ", ".join("INPUT" if each == "inputs" else f"--{each.replace('_', '-')}" for each in others)
        raise click.UsageError(f"--prefix and --tables show a table of probabilities, which has no use for {flags}.")
    if distances is None or prefixes is None or tables is None or bits is None:
        raise click.UsageError("Give --bits, --max-distance, --prefix and --tables together, such as 64, 6, 16 and 8.")
    from neardup.hamming.probabilities import prefix_table

    rows = prefix_table(distances, bits=bits, prefixes=prefixes, tables=tables)
    if as_json:
        return json.dumps({"bits": bits, "rows": [asdict(row) for row in rows]})
    lines = ["distance  prefix  tables  exact   1-(1-(1-K/N)^P)^T  1-(1-(1-P/N)^K)^T"]
    lines += [
        f"{row.distance:<9} {row.prefix:<7} {row.tables:<7} {row.hit.exact:.4f}  "
        f"{row.hit.by_distance:<18.4f} {row.hit.by_prefix:.4f}"
        for row in rows
    ]
    return "\n".join(lines)


def _lines(plan: "JoinPlan", threads: int) -> Iterator[ToldLine]:
    """The plan as labeled lines: the whole run first, then what each method takes of it."""
    yield from _planned(plan)
    if plan.run is not None:
        yield from _of_run(plan.run, threads, is_here=plan.different_texts is not None or not plan.run.method)
    if plan.fingerprints is not None:
        yield from _of_fingerprints(plan.fingerprints)
    if plan.estimates:
        yield "method", str(plan.method)
        seconds = plan.method_seconds(threads)
        for each in plan.estimates:
            how = "of that" if each.method == plan.method else "instead"
            yield each.method, f"{_time(seconds[each.method])} {how}: {_looked_at(each)}"
            yield "", _memory(each.memory_bytes, each.disk_bytes)
    if plan.reason and is_verbose():
        yield "why", plan.reason
    if plan.advice:
        yield "note", plan.advice


def _planned(plan: "JoinPlan") -> Iterator[ToldLine]:
    size = "" if plan.run is None else f" in {size_text(plan.run.input_bytes)}"
    yield "planned", counted(plan.documents, "document") + size
    if plan.different_texts is not None:
        yield "", f"{counted(plan.different_texts, 'different text')}"
    source, _, caution = plan.based_on.partition("; ")
    yield "by", source
    if caution:
        yield "", caution


def _of_run(run: "CostEstimate", threads: int, *, is_here: bool) -> Iterator[ToldLine]:
    """All of a run. `is_here`: its times are of this machine."""
    where = "this machine" if is_here else "the machine of the benchmarks"
    parts = run.parts
    yield "takes", f"{about(run.seconds['total'])} on {counted(threads, 'thread')} of {where}"
    reads, finds = (
        ("to read and to make fingerprints", f"for {run.method}") if run.method else ("to read twice", "to cut")
    )
    yield "", f"{_time(parts['reading'])} {reads}, {_time(parts['method'])} {finds}, {_time(parts['writing'])} to write"
    yield "needs", _memory(run.memory_bytes, run.temporary_bytes)
    yield "allowed", allowed_text(run.limit_bytes, run.temporary_limit_bytes)


def _of_fingerprints(blocks: "BlockPlan") -> Iterator[ToldLine]:
    yield BY_DISTANCE, f"{_time(blocks.seconds)}: {blocks.comparisons:,.0f} comparisons"
    yield "", f"{blocks.tables:,} tables of {blocks.blocks} blocks, keys of {blocks.key_bits:.0f} bits"
    yield "", f"{size_text(blocks.working_bytes)} of memory besides the fingerprints"


def _looked_at(estimate: "Estimate") -> str:
    postings = (
        f"{counted(estimate.postings, 'posting')}, {counted(estimate.visits, 'visit')}, " if estimate.postings else ""
    )
    return postings + counted(estimate.candidates, "candidate")


def _memory(memory: int, disk: int) -> str:
    return f"{size_text(memory)} of memory" + (f", {size_text(disk)} of temporary files" if disk else "")


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:,.1f} s"
    return duration(seconds)
