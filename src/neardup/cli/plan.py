"""The command `neardup plan`."""

from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options
from neardup.cli.options import DEFAULTS, described
from neardup.display import counted, size_text
from neardup.io.shards import demand_present
from neardup.recipe.similarities import SIMILARITIES

if TYPE_CHECKING:
    from neardup.judging.plan import JoinPlan


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option("--documents", type=int, metavar="N", help="Number of documents to plan for (those of the inputs).")
@click.option(
    "--min-similarity",
    type=float,
    default=DEFAULTS.min_similarity,
    show_default=True,
    metavar="J",
    help="Plan a join of texts at this similarity.",
)
@click.option(
    "--similarity",
    type=click.Choice(list(SIMILARITIES)),
    default=DEFAULTS.similarity,
    show_default=True,
    help=described(SIMILARITIES),
)
@click.option(
    "--max-distance",
    type=int,
    metavar="K",
    help="Plan Hamming search within this distance instead: a join of fingerprints, and an index of them.",
)
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
@options.recipe
@options.on_error_without_rejects
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.threads
@options.memory
@options.temp_dir
@options.quiet
def command(
    inputs: tuple[str, ...], documents: int | None, bits: int | None, recipe: str, as_json: bool, quiet: bool,
    **chosen: Any,
) -> None:  # fmt: skip
    """Estimate the time, memory and disk that a run takes.

    INPUT: texts as for `neardup dedup`; about 32 MB of them are read. Without INPUT, and for more documents than were read, the
    figures are extrapolated. Times are for --threads threads of the machine of the benchmarks. To time your machine, use
    `neardup dedup --dry-run`, or --check for an index. For each search method, the plan shows whether it fits in --memory.
    """
    demand_present(inputs)
    from neardup.judging.plan import plan_files
    from neardup.recipe.presets import find_recipe
    from neardup.resources.threads import thread_count

    found = plan_files(
        inputs,
        documents=documents,
        bits=bits,
        recipe=find_recipe(recipe),
        progress=options.progress(quiet),
        **chosen,
    )
    click.echo(found.to_json() if as_json else _shown(found, thread_count(chosen["threads"])))


def _shown(plan: "JoinPlan", threads: int) -> str:
    lines = [f"{plan.documents:,} documents, by {plan.based_on}"]
    if plan.fingerprints is not None:
        blocks = plan.fingerprints
        lines += [
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
