"""DIFF: what one finished run removed, and another run on the same inputs did not."""

import contextlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from neardup.errors import InputError, OptionError, is_integer
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.endings import split_ending
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.compression import open_for_writing
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place, path_text, place_of
from neardup.judging.reports.run_facts import inputs_of
from neardup.judging.reports.run_inputs import RunInputs
from neardup.judging.runs.counts import KINDS, Counts, count
from neardup.judging.runs.options import option_differences
from neardup.judging.runs.recorded import RecordedRun, read_run, refuse_others
from neardup.judging.runs.result import RunDiff
from neardup.judging.runs.samples import make_samples
from neardup.progress import Watcher, progress_of
from neardup.resources.resources import Resources

SAMPLES = 5
"""Samples of each kind by default."""
MOST_SAMPLES = 1000


def diff(
    a: str | Path,
    b: str | Path,
    *,
    output: str | Path | None = None,
    list: str | Path | None = None,  # noqa: A002 - the same name as the flag
    samples: int = SAMPLES,
    seed: int = 0,
    same_inputs: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
) -> RunDiff:
    """Compare two finished runs on the same inputs: what another threshold, recipe, method or version removes more or less.

    Documents are known by their rows, so ids may be missing or repeated. Both audits are read once, or twice with samples, in the
    order of the rows; 40 bytes are kept for each removal. The inputs are read again for the texts of samples, if they are there.

    Args:
        a, b: the summaries of two runs of `deduplicate_files`, `deduplicate_units` or `apply_files`; or their audits or outputs. Of
            a run in stages, a folder with the audits of all its parts.
        output: a page with counts and samples, which ends in .html.
        list: a file of JSON lines, one for each document that the runs decided differently, in the order of the rows.
        samples: how many samples of each kind: removed by `a` only, by `b` only, and by both for different documents.
        seed: another number samples others.
        same_inputs: the caller knows that the inputs are the same, row by row, where the summaries do not prove it.
        overwrite: replace outputs that exist.
        threads: for reading texts; all processors if not given. It never changes the result.
        progress: True for the command line's display, or a function that is called with each `ProgressEvent`.

    Raises:
        InputError: there is no summary or audit; the runs are not of `dedup`, or not of the same inputs; an output exists.
        OptionError: an option has a value that is not allowed.
        DataError: a summary or an audit is damaged, or they do not belong together.
        MissingExtra: a page is asked for, and jinja2 is not installed.
    """
    output, list, progress = path_text(output), path_text(list), progress_of(progress)  # noqa: A001
    _check(output, list, samples, seed)
    runs = read_run(str(a), "Compared are"), read_run(str(b), "Compared are")
    resources = Resources(threads)
    inputs = runs[0].inputs(resources, progress), runs[1].inputs(resources, progress)
    refuse_others(*runs, inputs, same_inputs=same_inputs)
    page, listed = (None if each is None else place_of(each) for each in (output, list))
    paths = [each for each in (listed, page) if each is not None]
    besides = {"an audit": [run.audit for run in runs]}
    reads = ReadFiles(chain(inputs[0].shards, inputs[1].shards), besides)
    reads.refuse(paths)
    with Outputs(paths, overwrite=overwrite, reads=reads) as outputs:
        with progress.stage("compare"), _opened(listed, outputs) as write:
            counts = count(*runs, samples=samples, seed=seed, listed=write)
        with progress.stage("read for the samples", sum(each.rows for each in inputs) if samples else 0):
            found = _result(runs, inputs, counts, page, listed)
        if page is not None:
            from neardup.judging.runs.page import diff_page

            outputs.claim(page).write_bytes(diff_page(found, runs))
        outputs.commit()
    return found


def _check(output: str | None, listed: str | None, samples: int, seed: int) -> None:
    if output is not None:
        from neardup.judging.report import check_report

        check_report(output)
    if listed is not None:
        known = split_ending(place_of(listed).name)
        if known is None or known[1] != "jsonl":
            raise InputError(
                f"`list={listed!r}`: the list is JSON lines. Give a name that ends in .jsonl (also compressed)."
            )
    if not is_integer(samples) or isinstance(samples, bool) or not 0 <= samples <= MOST_SAMPLES:
        raise OptionError(
            f"`samples={samples!r}`: give how many of each kind are shown, an integer from 0 to {MOST_SAMPLES:,}."
        )
    if not is_integer(seed) or isinstance(seed, bool) or not 0 <= seed < 1 << 63:
        raise OptionError(f"`seed={seed!r}`: give an integer from 0, below 2^63.")


@contextlib.contextmanager
def _opened(listed: Place | None, outputs: Outputs) -> Iterator[Callable[[str], object] | None]:
    """What takes the lines of the list; None without one."""
    if listed is None:
        yield None
        return
    with open_for_writing(outputs.claim(listed), compression_of_name(listed.name)) as file:
        yield lambda line: file.write(line.encode("utf-8", "backslashreplace"))


def _result(
    runs: tuple[RecordedRun, RecordedRun],
    inputs: tuple[RunInputs, RunInputs],
    counts: Counts,
    page: Place | None,
    listed: Place | None,
) -> RunDiff:
    a, b = runs
    chosen = [found for kind in KINDS for found in counts.samples[kind]]
    made, reason = make_samples(runs, inputs, chosen) if chosen else ((), "")
    only_a, only_b = counts.of_kind["only_a"], counts.of_kind["only_b"]
    union = counts.both + only_a + only_b
    same_documents = a.compared == b.compared and (
        a.reading == b.reading or a.compared == a.rows or a.unit != "document"
    )
    return RunDiff(
        a=a.name,
        b=b.name,
        inputs=inputs_of(a.summary),
        unit=a.unit,
        options=option_differences(a, b),
        documents=(a.compared, b.compared),
        removed=(counts.both + only_a, counts.both + only_b),
        removed_by_both=counts.both,
        only_a=only_a,
        only_b=only_b,
        kept_by_both=a.compared - union if same_documents else None,
        other_survivor=counts.of_kind["other_survivor"],
        other_cluster=counts.other_cluster,
        bands=counts.bands,
        samples=made,
        without_texts=reason,
        report=page,
        list=listed,
    )
