"""The command `neardup plan`."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli import options, values
from neardup.cli.options import described
from neardup.display import counted, size_text
from neardup.io.shards import demand_present
from neardup.recipe.methods import BY_DISTANCE
from neardup.recipe.similarities import SIMILARITIES

if TYPE_CHECKING:
    from neardup.judging.plan import JoinPlan


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...", type=values.FILE)
@click.option("--documents", type=int, metavar="N", help="Number of documents to plan for (those of the inputs).")
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
@options.reading
@options.elements
@options.recipe
@options.on_error_without_rejects
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.threads
@options.memory
@options.temp_dir
@options.shown
def command(
    inputs: tuple[str, ...], documents: int | None, bits: int | None, recipe: str, as_json: bool, quiet: bool,
    max_distance: tuple[int, ...] | None, prefix: tuple[int, ...] | None, tables: tuple[int, ...] | None,
    **chosen: Any,
) -> None:  # fmt: skip
    """Estimate the time, memory and disk that a run takes.

    INPUT: texts as for `neardup dedup`; about 32 MB of them are read. Without INPUT, and for more documents than were read, the
    figures are extrapolated. Times are for --threads threads of the machine of the benchmarks. To time your machine, use
    `neardup dedup --dry-run`, or --check for an index. For each search method, the plan shows whether it fits in --memory.
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
        bits=bits,
        recipe=find_recipe(recipe),
        max_distance=None if max_distance is None else max_distance[0],
        progress=options.progress(quiet),
        **chosen,
    )
    click.echo(found.to_json() if as_json else _shown(found, thread_count(chosen["threads"])))


def _prefix_table(
    distances: tuple[int, ...] | None,
    prefixes: tuple[int, ...] | None,
    tables: tuple[int, ...] | None,
    bits: int | None,
    as_json: bool,
) -> str:
    """The probabilities of tables of permuted prefixes, as a table or as JSON."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
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


def _shown(plan: "JoinPlan", threads: int) -> str:
    lines = [f"{plan.documents:,} documents, by {plan.based_on}"]
    if plan.fingerprints is not None:
        blocks = plan.fingerprints
        lines += [
            *([BY_DISTANCE] if plan.estimates else []),
            f"  tables       {blocks.tables:,} of {blocks.blocks} blocks, keys of {blocks.key_bits:.0f} bits",
            f"  comparisons  {blocks.comparisons:,.0f}",
            f"  memory       {size_text(blocks.working_bytes)} besides the fingerprints",
            f"  time         {_time(blocks.seconds)}",
        ]
    if plan.index is not None:
        lines.append(str(plan.index))
    for each in plan.estimates:
        lines.append(f"{each.method}")
        if each.postings:
            lines.append(f"  postings     {each.postings:,}, looked at {each.visits:,} times")
        lines.append(f"  candidates   {each.candidates:,}")
        files = f", {size_text(each.disk_bytes)} of temporary files" if each.disk_bytes else ""
        lines.append(f"  memory       {size_text(each.memory_bytes)}{files}")
        lines.append(
            f"  time         {_time(each.seconds / threads)} on {counted(threads, 'thread')}, without verification"
        )
    if plan.reason:
        lines.append(f"auto takes {plan.method}")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"
