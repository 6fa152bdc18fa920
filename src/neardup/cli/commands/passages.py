"""The command `neardup passages`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import tell_result
from neardup.survivors.repeats.options import ALIGNS, SCOPES, PassageOptions

DEFAULTS = PassageOptions()


@click.command()
@options.inputs
@options.documents_output()
@options.reading
@click.option(
    "--min-tokens",
    type=int,
    default=DEFAULTS.min_tokens,
    show_default=True,
    metavar="TOKENS",
    help="A run of so many tokens that stood earlier is a repeated passage; at least 2.",
)
@click.option(
    "--scope",
    type=click.Choice(list(SCOPES)),
    default=DEFAULTS.scope,
    show_default=True,
    help=f"Where a passage must have stood earlier; {described(SCOPES)}.",
)
@click.option("--align", type=click.Choice(list(ALIGNS)), help=f"Cut whole units only; {described(ALIGNS)}.")
@click.option(
    "--min-left",
    type=int,
    default=DEFAULTS.min_left,
    show_default=True,
    metavar="TOKENS",
    help="Remove a document with fewer tokens left, unless some are left and the log names a copy in it.",
)
@click.option(
    "--similarity",
    type=values.SIMILARITY,
    metavar="NAME|FILE.toml",
    default="jaccard",
    show_default=True,
    help="How texts are split into tokens: a .toml file with the fields of a `Similarity`, of which only `segmenter` and "
    "`normalize` matter here. All names split texts in the same way.",
)
@options.recipe_or_default(
    "A name that `neardup recipes` lists, or a .toml file (default); its normalizers are applied first."
)
@options.preference(
    sources="inputs", within="Compare only documents with equal values in this column: language, host …"
)
@click.option(
    "--against",
    multiple=True,
    metavar="REFERENCE",
    type=values.FILE,
    help="Also cut what stands in this reference, which is not changed: texts like INPUT; repeatable.",
)
@click.option(
    "--annotate", is_flag=True, help="Write all rows unchanged, with a column `passages` of what would be cut."
)
@click.option(
    "--list", is_flag=True, help="Write, instead of documents, the passages, the most repeated first, as JSON lines."
)
@click.option(
    "--dry-run", is_flag=True, help="Estimate the cost, then do all the work and write nothing but the report."
)
@click.option(
    "--audit",
    metavar="FILE|DIR/",
    type=values.FILE,
    help="Path of the log of cuts: a file, or a folder with one file for each input (OUT without its ending + .passages.jsonl).",
)
@click.option(
    "--report", metavar="FILE.html", type=values.FILE, help="Also write a page of the run; needs neardup[report]."
)
@options.report_by
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@click.option(
    "--resume", is_flag=True, help="Keep finished work in OUT.resume/, and continue an interrupted run from there."
)
@options.on_error
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...], output: str | None, recipe: str | None, as_json: bool, quiet: bool, **chosen: Any
) -> None:
    """Cut passages that stood earlier out of the documents of a corpus.

    INPUT: files (.jsonl, .csv, .tsv, .txt, also compressed; .parquet, .arrow), folders, globs, or - for standard input.
    Every run of tokens that stood earlier, in the same document or in another one, is cut; one copy stays. What is not cut stays
    byte for byte. The log has a line for each passage, with the place of its copy.
    """
    from neardup.jobs.removal.passages import passages_files
    from neardup.recipe.presets import find_recipe

    options.demand_one_output(as_json, output)
    done = passages_files(
        inputs,
        output,
        recipe=find_recipe(recipe) if recipe else None,
        progress=options.progress(quiet),
        **chosen,
    )
    tell_result(done, quiet=quiet, as_json=as_json)
