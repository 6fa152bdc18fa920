"""The command `neardup evaluate`."""

from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import is_verbose, line_width, tell
from neardup.display import counted
from neardup.io.corpora.shards import demand_present
from neardup.judging.evaluation.options import MIN_PRECISION, SAMPLE, TARGET_RECALL
from neardup.recipe.tables.methods import MEASURED
from neardup.recipe.tables.similarities import SIMILARITIES

if TYPE_CHECKING:
    from neardup.judging.evaluation.result import Evaluation


@click.command()
@options.inputs
@click.option(
    "--pairs",
    metavar="LABELS",
    type=values.FILE,
    help="Labeled pairs: left_id, right_id or a, b; optionally similarity, jaccard or label (0, 1). Default: use a sample.",
)
@click.option("--complete", is_flag=True, help="The labels list every near-duplicate; any other pair found is false.")
@click.option(
    "--target-recall",
    type=values.NUMBER,
    default=TARGET_RECALL,
    show_default=True,
    metavar="R",
    help="Recall to recommend options for.",
)
@click.option(
    "--min-precision",
    type=values.NUMBER,
    default=MIN_PRECISION,
    show_default=True,
    metavar="P",
    help="Precision that the recommended options keep: at most 1 - P of the pairs that they find are false.",
)
@click.option(
    "--sample", type=int, default=SAMPLE, show_default=True, metavar="N", help="Documents to compare with all others."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Random seed of the sample.")
@options.reading_or_elements
@click.option(
    "--method", "methods", multiple=True, type=click.Choice(MEASURED), help="Method to measure (all); repeatable."
)
@options.min_similarity("Similarity threshold of near-duplicates, from 0 to 1.")
@options.similarity(
    f"Similarity to try (with labels, all; the tables of methods are for jaccard). {described(SIMILARITIES)}.",
    default=None,
)
@click.option("--max-distance", type=int, metavar="N", help="Hamming distance for the method simhash (the recipe's).")
@options.recipe
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option(
    "--plot",
    type=values.FILE,
    help="Draw recall, precision and the removed share: .png, .svg or .pdf; needs neardup[report].",
)
@click.option("-o", "--output", type=values.FILE, help="Also write the result as JSON.")
@options.overwrite
@options.on_error_without_rejects
@options.resources
@options.shown
def command(inputs: tuple[str, ...], recipe: str, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Measure precision and recall of methods, distances and similarities.

    Measures against labels, or against a sample of documents whose near-duplicates are searched among all others.
    Tries every similarity, method and recipe that time allows, recommends the command with the best F1 at --target-recall and
    --min-precision, runs it and prints what it found; with --verbose also the reasons and tables. Warns if texts are too short
    for fingerprints.
    """
    demand_present(inputs)
    if chosen["similarity"] is None:
        del chosen["similarity"]  # tries all
    from neardup.jobs.evaluate import evaluate_files

    result = evaluate_files(inputs, recipe=recipe, progress=options.progress(quiet), **chosen)
    if as_json:
        click.echo(result.to_json(), nl=False)
    else:
        _show(result, [(name, chosen[name]) for name in ("plot", "output") if chosen[name] is not None])


def _show(result: "Evaluation", files: list[tuple[str, str]]) -> None:
    """The summary with the files that were written and, with `--verbose`, the reasons and the tables."""
    from neardup.judging.evaluation.tables import plain_tables, told, told_reasons

    if not is_verbose():
        left_out = f"{counted(len(result.left_out), 'trial')}: --verbose says which and why" if result.left_out else ""
        more = "--verbose for the reasons and the tables, --json for every number; in brackets: 95 % intervals"
        tell(
            [*told(result), *([("left out", left_out)] if left_out else []), *files, ("more", more)],
            err=False,
            width=line_width(),
        )
        return
    tell([*told(result), *told_reasons(result), *files], err=False, width=line_width())
    click.echo("\n" + plain_tables(result))
    click.echo("\n[intervals]: Wilson's, 95 %, for what other documents of this kind would give")
