"""Remove repeated lines or paragraphs from the documents of files; write the rest of each, an audit and a summary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, get_args

from neardup.display import as_code
from neardup.errors import OptionError
from neardup.io.corpora.reading import Reading, UnitFileOptions, split_options
from neardup.io.corpora.shards import listed_inputs
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.removal.output_paths import demand_output
from neardup.jobs.removal.request import Request
from neardup.options import CLUSTER_OPTIONS, DedupOptions, OnError, Prefer, RemovableUnit
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.tables.spellings import one_of
from neardup.resources.unfinished import temporary_folder
from neardup.text.lists.paths import lists_problem

if TYPE_CHECKING:
    from neardup.jobs.results import UnitResult


def _check(unit: str, reading: Reading, *, annotate: bool, against: Any, prefer: str, html: Any, elements: Any) -> None:
    """Raise OptionError, with every problem, if the options do not go together."""
    problems = []
    if unit not in get_args(RemovableUnit):
        problems.append(one_of("unit", unit, get_args(RemovableUnit)))
    if annotate:
        problems.append(
            f"`unit={unit!r}` with `annotate`: columns are of documents, not of their parts. Read the audit instead"
        )
    if against:
        problems.append(f"`unit={unit!r}` with `against`: a reference is of whole documents. Leave one of them out")
    if prefer != "against":
        problems.append(
            f"`unit={unit!r}` with `prefer={prefer!r}`: it is for a reference, which units do not take. Leave it out"
        )
    if html is not None:
        problems.append(
            f"`unit={unit!r}` with `html`: parts of a page's text cannot be removed from its HTML. Extract the text first"
        )
    if elements is not None:
        problems.append(f"`unit={unit!r}` with `elements`: a list has no lines or paragraphs. Leave one of them out")
    if reading.lines:
        problems.append(
            f"`unit={unit!r}` with `lines`: a line is a document there, and has no parts. Leave out `lines`; a text file is then "
            "one document, and loses the lines that are repeated"
        )
    if problem := lists_problem(tuple(reading.text)):
        problems.append(problem)
    if len(set(reading.text)) < len(tuple(reading.text)):
        problems.append(f"`text={tuple(reading.text)!r}` with `unit={unit!r}`: name each column once")
    if problems:
        raise OptionError("; ".join(problems) + ".")


def _refuse_clusters(options: DedupOptions) -> None:
    given = [name for name in CLUSTER_OPTIONS if getattr(options, name) not in (None, False)]
    if given:
        raise OptionError(
            f"{as_code(given)}: of lines and paragraphs, the first copy stays, and no other. Leave it out, or remove "
            "whole documents."
        )


def deduplicate_units(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    unit: RemovableUnit,
    recipe: RecipeLike | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | Path | None = None,
    against: str | Path | Sequence[str | Path] = (),
    prefer: Prefer = "against",
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[UnitFileOptions],
) -> "UnitResult":
    """Remove repeated lines or paragraphs from the documents of files, wherever in the corpus they repeat.

    One unit of each cluster stays. `keep` chooses it, as it chooses documents in `deduplicate_files`. A unit is removed with the
    separator after it. Units without a token (blank lines, rules of dashes) always stay. A document that loses its last unit with
    a token is removed. A document that loses no unit is written unchanged. In all other documents, only the texts change.

    Args:
        unit: `line` or `paragraph`; see `neardup.text.units`. Each text column is divided into units by itself.
        annotate, against, prefer: not supported for units; refused.
        inputs, output, recipe, dry_run, audit, overwrite, resume, on_error, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (except html) and of `DedupOptions`.

    Raises:
        InputError: a format cannot be rewritten, and as in `deduplicate_files`.
        OptionError, RecipeMismatch, RowError, DataError: as in `deduplicate_files`.
    """
    output = path_text(output)
    audit = path_text(audit)
    progress = progress_of(progress)
    others = cast(dict[str, Any], options)  # which editors refuse, and `_check` with the reason
    html, elements = others.pop("html", None), others.pop("elements", None)
    reading, chosen = split_options(options, deduplicate_units)
    _refuse_clusters(chosen)
    made_by = recipe_of(recipe, chosen.version)
    _check(unit, reading, annotate=annotate, against=against, prefer=prefer, html=html, elements=elements)
    if not dry_run:
        demand_output(output)
    listed = listed_inputs(inputs)
    request = Request(
        inputs=listed,
        output=output_for(output, listed, lines=reading.lines),
        reading=reading,
        audit=audit,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        resources=chosen.resources,
    )
    with temporary_folder(chosen.resources.files) as spool:
        shards = request.find_shards(spool, progress)
        from neardup.jobs.removal.unit_steps import deduplicate_shards  # loads Arrow, once nothing is refused

        return deduplicate_shards(shards, unit, made_by, chosen, request, progress)
