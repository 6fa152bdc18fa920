"""Leaks between files: a list of what of the test set is in the training set, a summary and a page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.errors import InputError, column_names
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import READING, Reading, TextReadingDict
from neardup.io.corpora.shards import find_shards, listed_inputs, repeated_files
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import path_text, place_of
from neardup.jobs.leaks.options import LeakOptions, options_of_leaks
from neardup.jobs.removal.output_paths import OutputPaths, list_output_paths
from neardup.options import OnError, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.resources.unfinished import temporary_folder

if TYPE_CHECKING:
    from neardup.jobs.leaks.leak_steps import FileLeaks


class LeakFileOptions(TextReadingDict, LeakOptions, total=False):
    """The options of `leak_files`."""


def leak_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    against: str | Path | Sequence[str | Path],
    against_text: str | Iterable[str] | None = None,
    against_id: str | None = None,
    recipe: RecipeLike | None = None,
    report: str | Path | None = None,
    overwrite: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[LeakFileOptions],
) -> "FileLeaks":
    """Find what of a test set is in the training set: copies, near-duplicates, and documents of which a passage is there.

    See `leaks`. The training set is read twice, and memory grows with the test set, and by some bytes for each training document.

    Args:
        inputs: the training set: files, folders, globs, or `-` for standard input.
        output: a list with a line for each test document that is in the training set: a file that ends in .jsonl, .jsonl.gz or
            .jsonl.zst, or `-` for standard output. Its summary lies beside it. Without it, nothing is written but the report.
        against: the test set: files, folders or globs.
        against_text, against_id: the columns of the test set; by default those of the inputs. All other options of reading hold
            for both.
        recipe: how texts become what is compared; by default `Recipe()`.
        report: the path of a page, which ends in .html.
        overwrite: replace outputs that exist.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip`, which counts them.
        progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …), and those of `leaks`.

    Raises:
        InputError: an input is missing, an output exists, or a file is in both sets.
        OptionError: an option has a value that is not allowed.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output, report, shown = path_text(output), path_text(report), progress_of(progress)
    refuse_unknown(options, leak_files)
    given: dict[str, Any] = dict(options)
    reading = Reading(**{name: value for name, value in given.items() if name in READING})
    others = {name: value for name, value in given.items() if name not in READING}
    near, passages, made_by = options_of_leaks(others, recipe)
    names = reading.text if against_text is None else column_names(against_text)
    of_tests = replace(reading, text=names, id=reading.id if against_id is None else against_id)
    tests = listed_inputs(against)
    if not tests or "-" in map(str, tests):
        raise InputError("`against`: a test set is read from files. Name files, folders or globs.")
    if report is not None:
        from neardup.judging.report import check_report

        check_report(report)
    paths = list_output_paths(output, with_rejects=False) if output else OutputPaths()
    listed = listed_inputs(inputs)
    with temporary_folder(near.resources.files) as spool:
        shards = find_shards(listed, temporary=spool, reading=reading, progress=shown)
        of_against = find_shards(tests, temporary=spool, reading=of_tests, progress=shown)
        if problems := repeated_files([*shards, *of_against], "all of it would be leaks"):
            raise InputError("\n".join(problems))
        written = [*paths.outputs, *paths.records, *([place_of(report)] if report else [])]
        files = {
            "inputs": [str(each) for each in listed],
            "against": [str(each) for each in tests],
            "folder": str(Path.cwd()),
            "text": list(reading.text),
            "against_text": list(names),
            "output": output,
            "summary": None if paths.summary is None else str(paths.summary),
            "report": report,
        }
        reads = ReadFiles([*shards, *of_against])
        with Outputs(written, reads=reads, overwrite=overwrite, temp_dir=near.temp_dir) as outputs:
            # loads NumPy and Arrow, once nothing is refused
            from neardup.jobs.leaks.leak_steps import search_shards

            sets = ((shards, reading), (of_against, of_tests))
            return search_shards(sets, made_by, near, passages, paths, files, outputs, shown, on_error=on_error)
