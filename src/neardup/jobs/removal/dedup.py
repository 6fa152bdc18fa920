"""De-duplicate files: write the survivors unchanged, an audit of every removal, and a summary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from neardup.errors import OptionError
from neardup.io.corpora.reading import DedupFileOptions, recipe_for, split_options
from neardup.io.corpora.shards import listed_inputs
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.removal.output_paths import demand_output
from neardup.jobs.removal.request import Request
from neardup.options import OnError, Prefer, demand_prefer
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.tables.parts import VERSION
from neardup.resources.unfinished import temporary_folder

if TYPE_CHECKING:
    from neardup.jobs.results import FileResult


def deduplicate_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    recipe: RecipeLike | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | Path | None = None,
    report: str | Path | None = None,
    report_by: str | None = None,
    against: str | Path | Sequence[str | Path] = (),
    prefer: Prefer = "against",
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[DedupFileOptions],
) -> "FileResult":
    """Remove near-duplicate documents from files.

    No file appears under its final name before all files are complete. Existing files are replaced only with `overwrite`.

    Args:
        inputs: files, folders, globs, or `-` for standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        recipe: how texts become fingerprints; by default `Recipe()`, or the recipe of the fingerprint files in `against`.
        annotate: write all rows, with the columns ANNOTATIONS.
        dry_run: estimate the cost from a sample, then do all the work and write nothing.
        audit: the path of the audit: a file, or a folder (ends in /; one file for each input). By default it is the output
            without its data endings + `.duplicates.jsonl`.
        report: the path of an HTML report of the run, which ends in .html; a dry run writes it, too. The report reads the
            inputs once more.
        report_by: a column of the inputs; the report says how many documents of each value were removed. By default, of each
            file.
        against: a reference: files of texts, like the inputs, fingerprint files (then matched by distance alone), or one store
            that decides in the same way, of which the kept documents are the reference. Documents near a document of the
            reference are removed. The reference itself stays as it is, and its documents are not compared with one another.
        prefer: one of `neardup.options.PREFERS`. With `best`, `keep` orders the documents of the reference and of the inputs
            together; ties go to the reference. The answer is that of one run over the reference and the inputs, of which the
            survivors in the inputs are written. The documents of the reference that another is preferred to are listed in a file
            beside the audit, `.superseded.jsonl`: the output and the reference without these are one corpus without duplicates.
        overwrite: replace outputs that exist.
        resume: keep finished work in a folder beside the output (its name without data endings + `.resume`), and continue from
            the work of an earlier attempt at the same run. When the run is done, only a record of it stays in the folder.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`. By default
            nothing is shown.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …) and of `DedupOptions`.

    Raises:
        InputError: an input is missing, an output exists, or the formats of input and output do not fit.
        OptionError: an option has a value that is not allowed.
        RecipeMismatch: the folder of the run to resume belongs to other inputs, another recipe or other options.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output = path_text(output)
    audit = path_text(audit)
    report = path_text(report)
    progress = progress_of(progress)
    reading, chosen = split_options(options, deduplicate_files)
    is_open = recipe is None and chosen.version == VERSION
    made_by = None if is_open else recipe_for(reading, recipe_of(recipe, chosen.version))
    if not dry_run:
        demand_output(output)  # before searching for inputs: without -o, a user has named the output as an input
    if report is not None:
        from neardup.judging.report import (  # half of what other runs load would be for reports
            check_report,
            refuse_dropped,
        )

        check_report(report)
        refuse_dropped(chosen.as_dict())
    elif report_by is not None:
        raise OptionError(
            f"`report_by={report_by!r}` says how a report counts documents. Give `report`, too, or leave it out."
        )
    references = listed_inputs(against)
    together = demand_prefer(prefer, chosen, has_reference=bool(references))
    listed = listed_inputs(inputs)
    request = Request(
        inputs=listed,
        output=output_for(output, listed, lines=reading.lines),
        reading=reading,
        audit=audit,
        report=report,
        report_by=report_by,
        annotate=annotate,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        with_superseded=together,
        on_error=on_error,
        resources=chosen.resources,
        named={"against": [str(given) for given in references]} | ({"prefer": prefer} if together else {}),
    )
    with temporary_folder(chosen.resources.files) as spool:
        shards = request.find_shards(spool, progress)
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.removal.dedup_steps import deduplicate_shards

        return deduplicate_shards(shards, references, made_by, chosen, request, progress, temporary=spool)
