"""Remove documents that hold items of benchmarks from files: write the others unchanged, an audit, the items, and a summary."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.errors import InputError, column_names
from neardup.io.corpora.reading import READING, Reading, TextReadingDict
from neardup.io.corpora.shards import find_shards, listed_inputs, repeated_files
from neardup.io.endings import CONTAMINATION_ENDING
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.removal.output_paths import demand_output
from neardup.jobs.removal.request import Request
from neardup.matching.contamination.options import DecontaminationOptions, DecontaminationOptionsDict
from neardup.options import OnError, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.resources.unfinished import temporary_folder

if TYPE_CHECKING:
    from neardup.jobs.removal.decontamination_steps import FileDecontamination


class DecontaminateFileOptions(TextReadingDict, DecontaminationOptionsDict, total=False):
    """The options of `decontaminate_files`."""


def decontaminate_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    against: str | Path | Sequence[str | Path],
    against_text: str | Iterable[str] | None = None,
    against_id: str | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | Path | None = None,
    report: str | Path | None = None,
    overwrite: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[DecontaminateFileOptions],
) -> "FileDecontamination":
    """Remove the documents that hold an item of a benchmark, whole or nearly; compare them with nothing else.

    A document holds an item if one of its passages has at least `min_share` of the item's shingles, or if a run of `min_run`
    tokens stands in both. A passage is at most twice as long as the item. No document is removed for a hash: the tokens are
    compared. The corpus is read once, and memory grows with the benchmarks only, but for some bytes a document.

    No file appears under its final name before all files are complete. Existing files are replaced only with `overwrite`.

    Args:
        inputs: files, folders, globs, or `-` for standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        against: the benchmarks: files, folders or globs. Each file is a benchmark, and each of its rows an item.
        against_text, against_id: the columns of the benchmarks; by default those of the inputs. Items are plain texts, even with
            `html`; all other options of reading hold for both.
        annotate: write all rows, with the columns CONTAMINATION_ANNOTATIONS.
        dry_run: do all the work, and write nothing but the report.
        audit: the path of the audit: a file, or a folder (ends in /; one file for each input). By default it is the output
            without its data endings + `.contaminated.jsonl`. The items are beside it, in `.items.jsonl`, and the summary.
        report: the path of a page with the benchmarks, the items and the passages, which ends in .html.
        overwrite: replace outputs that exist.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects; in benchmarks, such
            rows are then listed as items that were not checked.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`. By default
            nothing is shown.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …) and of `DecontaminationOptions`.

    Raises:
        InputError: an input is missing, an output exists, a file is both input and benchmark, or formats do not fit.
        OptionError: an option has a value that is not allowed.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output, audit, report = path_text(output), path_text(audit), path_text(report)
    shown = progress_of(progress)
    refuse_unknown(options, decontaminate_files)
    of_reading: dict[str, Any] = {name: value for name, value in options.items() if name in READING}
    others: dict[str, Any] = {name: value for name, value in options.items() if name not in READING}
    reading, chosen = Reading(**of_reading), DecontaminationOptions(**others)
    of_items = _reading_of_items(reading, against_text, against_id)
    if not dry_run:
        demand_output(output)
    benchmarks = listed_inputs(against)
    if not benchmarks:
        raise InputError("`against`: no benchmark is given. Name files, folders or globs.")
    if "-" in map(str, benchmarks):
        raise InputError("`against='-'`: a benchmark is read from files. Name files, folders or globs.")
    if report is not None:
        from neardup.judging.report import check_report

        check_report(report)
    listed = listed_inputs(inputs)
    request = Request(
        inputs=listed,
        output=output_for(output, listed, lines=reading.lines),
        reading=reading,
        audit=audit,
        audit_ending=CONTAMINATION_ENDING,
        with_items=True,
        report=report,
        annotate=annotate,
        dry_run=dry_run,
        overwrite=overwrite,
        on_error=on_error,
        resources=chosen.resources,
        named={
            "against": [str(given) for given in benchmarks],
            "against_text": list(of_items.text),
            "against_id": of_items.id,
        },
    )
    with temporary_folder(chosen.resources.files) as spool:
        shards = request.find_shards(spool, shown)
        of_benchmarks = find_shards(benchmarks, temporary=spool, reading=of_items)
        problems = repeated_files([*shards, *of_benchmarks], "its rows would be contaminated by themselves")
        if problems:
            raise InputError("\n".join(problems))
        # loads NumPy and Arrow, once nothing is refused
        from neardup.jobs.removal.decontamination_steps import decontaminate_shards

        return decontaminate_shards(shards, of_benchmarks, of_items, chosen, request, shown, temporary=spool)


def _reading_of_items(reading: Reading, text: str | Iterable[str] | None, id_: str | None) -> Reading:
    """How benchmarks are read: as the inputs, but for the columns, and never as HTML."""
    columns = reading.text if text is None else column_names(text)
    return replace(reading, text=columns, id=reading.id if id_ is None else id_, html=None)
