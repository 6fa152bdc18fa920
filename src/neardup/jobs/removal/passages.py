"""Cut repeated passages out of the documents of files: write the rest of each, a log of all cuts, and a summary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from neardup.errors import OptionError, column_names
from neardup.io.corpora.reading import READING, Reading, TextReadingDict
from neardup.io.corpora.shards import listed_inputs
from neardup.io.endings import PASSAGES_ENDING
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.removal.output_paths import demand_output
from neardup.jobs.removal.request import Request
from neardup.options import OnError, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.repeats.options import PassageOptions, PassageOptionsDict, column_problems

if TYPE_CHECKING:
    from neardup.jobs.removal.passage_steps import FilePassages


class PassageFileOptions(TextReadingDict, PassageOptionsDict, total=False):
    """The options of `passages_files`."""


def passages_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    recipe: RecipeLike | None = None,
    annotate: bool = False,
    list: bool = False,  # noqa: A002 - the same name as the flag
    dry_run: bool = False,
    audit: str | Path | None = None,
    report: str | Path | None = None,
    report_by: str | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[PassageFileOptions],
) -> "FilePassages":
    """Cut repeated passages out of the documents of files: every run of tokens that stood earlier; one copy stays.

    A passage is a run of at least `min_tokens` tokens that stood earlier: in a document that comes first, or in the same one.
    Every token that is cut also stands in a text that is kept. A document with fewer than `min_left` tokens left is removed, unless
    something is left to which a cut refers. What is not cut stays byte for byte.

    No file appears under its final name before all files are complete. Existing files are replaced only with `overwrite`.

    Args:
        inputs: files, folders, globs, or `-` for standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        recipe: its normalizers are applied before texts are cut into tokens.
        annotate: write all rows unchanged, with a column `passages` of what would be cut: the first character and the end of each
            cut; with several text columns, the number of the column before them.
        list: write the passages instead of the documents, most repeated first. Each is a JSON line with `count`, `tokens`, `total`
            (the product of both), `text` and `places`, of which the first is the copy that stays.
        dry_run: estimate the cost from a sample, then do all the work and write nothing but the report.
        audit: the path of the log of cuts: a file, or a folder (ends in /; one file for each input). By default it is the output
            without its data endings + `.passages.jsonl`.
        report: the path of a page with the passages that were cut most often, and a sample of all cuts, which ends in .html. A dry
            run writes it, too.
        report_by: a column of the inputs; the report says how much documents of each value lost. By default, of each file.
        against: a reference: files of texts, like the inputs. What stands in it counts as earlier. It is not changed.
        overwrite: replace outputs that exist.
        resume: keep finished work in a folder beside the output (its name without data endings + `.resume`), and continue from
            the work of an earlier attempt at the same run.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`. By default
            nothing is shown.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …) and of `PassageOptions`. With `html`, the texts
            of pages are written, not their HTML.

    Raises:
        InputError: an input is missing, an output exists, or formats do not fit.
        OptionError: an option has a value that is not allowed.
        RecipeMismatch: the folder of the run to resume belongs to other inputs, another recipe or other options.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output, audit, report = path_text(output), path_text(audit), path_text(report)
    made_by, shown = recipe_of(recipe), progress_of(progress)
    given = cast(dict[str, Any], options)  # `elements` is refused by editors, and below with the reason
    problems = []
    if (elements := given.pop("elements", None)) is not None:
        problems.append(f"`elements={elements!r}`: a list has no passages. Name columns of texts")
    refuse_unknown(given, passages_files)
    reading = Reading(**{name: value for name, value in given.items() if name in READING})
    chosen = PassageOptions(**{name: value for name, value in given.items() if name not in READING})
    problems += column_problems(column_names(reading.text), reading.html)
    problems += _problems(reading, annotate=annotate, lists=list, audit=audit, report=report, report_by=report_by)
    if problems:
        raise OptionError("; ".join(problems) + ".")
    if report is not None:
        from neardup.judging.report import check_report  # half of what other runs load would be for reports

        check_report(report)
    if not dry_run:
        demand_output(output)
    references, listed = listed_inputs(against), listed_inputs(inputs)
    request = Request(
        inputs=listed,
        output=output if list else output_for(output, listed, lines=reading.lines),
        reading=reading,
        audit=audit,
        audit_ending=PASSAGES_ENDING,
        annotate=annotate,
        lists=list,
        dry_run=dry_run,
        report=report,
        report_by=report_by,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        resources=chosen.resources,
        named={"against": [str(each) for each in references]},
    )
    with temporary_folder(chosen.resources.files) as spool:
        shards = request.find_shards(spool, shown)
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.removal.passage_steps import cut_shards

        return cut_shards(shards, references, made_by, chosen, request, shown, temporary=spool)


def _problems(
    reading: Reading, *, annotate: bool, lists: bool, audit: str | None, report: str | None, report_by: str | None
) -> Sequence[str]:
    """Why the options do not go together."""
    problems = []
    if lists and annotate:
        problems.append("`list` with `annotate`: the list is written instead of documents. Leave one of them out")
    if lists and audit is not None:
        problems.append(f"`audit={audit!r}` with `list`: nothing is cut, so there is no log. Leave one of them out")
    if lists and report is not None:
        problems.append(
            f"`report={report!r}` with `list`: nothing is cut, so there is no report. Leave one of them out"
        )
    if report_by is not None and report is None:
        problems.append(
            f"`report_by={report_by!r}` says how a report counts documents. Give `report`, too, or leave it out"
        )
    if reading.lines and reading.html is not None and not lists:
        problems.append(
            f"`html={reading.html!r}` with `lines`: the text of a page has several lines, and would be several documents. Pass "
            "`list`, or extract the texts first"
        )
    return problems
