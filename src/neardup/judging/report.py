"""REPORT: write a run as one HTML page, from its audit or during the run."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neardup.display import ToldLine, counted, labeled
from neardup.errors import DataError, InputError, NeardupError, OptionError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import stored_reading
from neardup.io.corpora.shards import find_shards
from neardup.io.endings import AUDIT_ENDING
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import Place, place_of
from neardup.judging.reports.bands import Bands
from neardup.judging.reports.page import Findings, check_page, page
from neardup.judging.reports.run_facts import summed
from neardup.judging.reports.run_inputs import NOT_AS_BEFORE, RunInputs, inputs_of_run
from neardup.judging.reports.sources import Sources, check_column, sources_by_column, sources_by_file
from neardup.judging.reports.tally import Lines, Members, Tally, members, tally
from neardup.judging.reports.texts import ReadAgain, Text, Texts, read_again, read_reference
from neardup.progress import Progress, Watcher, progress_of
from neardup.resources.resources import Resources
from neardup.survivors.records.audit_files import read_audit, summary_path
from neardup.survivors.records.audit_reader import Line
from neardup.survivors.records.summary_reader import RunSummary, read_summaries
from neardup.survivors.repeats.records.cut_log_files import is_cut_log
from neardup.survivors.repeats.records.cut_log_reader import read_cut_log, read_cut_summary
from neardup.survivors.repeats.token_stream import SEPARATOR


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A written report, and the reason if it shows no texts."""

    path: Place
    without_texts: str = ""

    def __str__(self) -> str:
        return labeled(self.lines())

    def lines(self) -> Iterator[ToldLine]:
        """What a person is told of it."""
        if self.without_texts:
            yield "note", f"it shows no texts: {self.without_texts}"
        yield "report", str(self.path)


def check_report(report: str | Path) -> None:
    """Refuse a report that cannot be written, before any work.

    Raises:
        InputError: the file name does not end like that of a page.
        MissingExtra: jinja2 is not installed.
    """
    if Path(report).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{report}: a report is a page. Give a name that ends in .html.")
    check_page()


def refuse_dropped(options: Mapping[str, Any]) -> None:
    """Refuse the options of a run of which no page can be made: it shows removed documents beside those that stay.

    Raises:
        OptionError: none stays.
    """
    if options.get("drop_matched"):
        raise OptionError(
            "`drop_matched=True`: a report shows removed documents beside the ones that stay, and none stays. Make the report of a "
            "run without it, whose clusters are the same."
        )


def report(
    audit: str | Path,
    output: str | Path,
    *,
    report_by: str | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
) -> ReportFile:
    """Write a run as one self-contained HTML page: counts, plots, pairs to judge, clusters, options, costs.

    Reads the audit twice and the inputs once, if available, and once more with `report_by`; keeps a few dozen bytes per row. The
    page stays below 5 MB: it shows a sample, always the same one, and says so.

    Args:
        audit: a file, or a folder with one audit per shard; the summary lies beside the file, or in the folder.
        output: a file that ends in .html.
        report_by: a column of the inputs; the page says how many documents of each value were removed. By default, of each file.
        overwrite: replace the output if it exists.
        threads: all processors if not given; never changes the page.
        progress: True for the command line's display, or a function that is called with each `ProgressEvent`.

    Raises:
        InputError: there is no audit or summary, they are of several runs or of a run of units, the output exists, or the inputs
            have no column `report_by`.
        DataError: audit or summary is damaged, or they do not belong together.
        MissingExtra: jinja2 is not installed.
    """
    path, target, progress = place_of(audit), place_of(output), progress_of(progress)
    if path.suffix == ".html" and target.name.endswith(AUDIT_ENDING):
        command = shlex.join(["neardup", "report", str(output), "-o", str(audit)])
        raise InputError(f"The audit comes first, then the report: {command}")
    check_report(output)
    if is_cut_log(path):
        return _report_of_passages(path, target, report_by, Resources(threads), progress, overwrite=overwrite)
    next(read_audit(path), None)  # refuses first a file that is not an audit
    summary = summary_of_run(path)
    refuse_dropped(summary["options"])
    with Outputs([target], overwrite=overwrite) as outputs:
        inputs = inputs_of_run(summary, path, Resources(threads), progress)
        ReadFiles(inputs.shards).refuse([target])
        if report_by is not None and inputs.corpus is not None:
            check_column(inputs.corpus, report_by)
        made, reason = make_report(
            summary, lambda: read_audit(path), inputs, progress, report_by=report_by, audit=str(path)
        )
        outputs.claim(target).write_bytes(made)
        outputs.commit()
    return ReportFile(target, reason)


def _report_of_passages(
    log: Place, target: Place, report_by: str | None, resources: Resources, progress: Progress, *, overwrite: bool
) -> ReportFile:
    """Write the page of a run that cut passages."""
    from neardup.judging.reports.passages import passages_report  # loads what other reports do not need

    next(read_cut_log(log), None)
    summary = read_cut_summary(log)
    with Outputs([target], overwrite=overwrite) as outputs:
        inputs = inputs_of_run(summary, log, resources, progress, separator=SEPARATOR)
        ReadFiles(inputs.shards).refuse([target])
        if report_by is not None and inputs.corpus is not None:
            check_column(inputs.corpus, report_by)
        made, reason = passages_report(summary, lambda: read_cut_log(log), inputs, progress, report_by=report_by)
        outputs.claim(target).write_bytes(made)
        outputs.commit()
    return ReportFile(target, reason)


def make_report(
    summary: RunSummary,
    lines: Lines,
    inputs: RunInputs,
    progress: Progress,
    *,
    report_by: str | None = None,
    audit: str = "The audit",
) -> tuple[bytes, str]:
    """Return the page, and the reason if it shows no texts.

    Args:
        summary: the run's summary, including its files.
        lines: the audit's lines.
        inputs: the run's inputs.
        progress: follows the passes over the audit and the inputs.
        report_by: as in `report`.
        audit: what errors call the audit.
    """
    bands = Bands(summary["min_similarity"], summary["max_distance"])
    with progress.stage("count removals"):
        counts = tally(lines(), bands, rows=inputs.rows, bits=int(summary["recipe"]["bits"]), audit=audit)
        clusters = members(lines(), [cluster for cluster, _ in (*counts.largest, *counts.equal)])
    if counts.duplicates != summary["duplicates"]:
        raise DataError(
            f"{audit} has {counted(counts.duplicates, 'removal')}, but its summary counts {summary['duplicates']:,}. "
            "Give the audit and the summary of one run, both whole."
        )
    summary = summary | {"clusters": counts.clusters} if "clusters" in summary["files"] else summary
    texts, sources = Texts(None, {}, inputs.reason), None
    if inputs.corpus is not None:
        with progress.stage("read for the report", inputs.rows):
            texts = _texts(inputs.corpus, inputs, counts, clusters, _applied(summary))
        if texts.read is not None:
            sources = _sources(inputs.corpus, texts.read, counts, clusters, report_by)
    found = Findings(counts, clusters, bands, texts, sources)
    return page(summary, found, _labeled(summary["files"], counts, inputs)), texts.reason


def _sources(
    corpus: FileCorpus, read: ReadAgain, counts: Tally, clusters: dict[int, Members], column: str | None
) -> Sources:
    """Where the documents come from: all of them, and those of the clusters that are shown."""
    rows = [np.frombuffer(each.rows, np.int64) for each in clusters.values()]
    survivors = [line["survivor_row"] for each in clusters.values() for line in each.lines[:1]]
    known = np.array([row for row in survivors if row is not None], np.int64)
    wanted = np.unique(np.concatenate([known, *rows]))
    if column is None:
        return sources_by_file(corpus, read.documents, counts.removed, wanted)
    return sources_by_column(corpus, column, read.documents, counts.removed, wanted)


def _labeled(files: dict[str, Any], counts: Tally, inputs: RunInputs) -> list[str]:
    """Files that hold the documents of the pairs to judge; for a run in stages all shards, as a survivor may be in any."""
    if "clusters" in files and inputs.corpus is not None:
        return [shard.name for shard in inputs.corpus.shards]
    references = {line["reference"] for lines in counts.sample.values() for line in lines if line.get("reference")}
    return [*files["inputs"], *sorted(references)]


def _shown(counts: Tally, clusters: dict[int, Members]) -> Iterator[Line]:
    for some in (*counts.sample.values(), *(each.lines for each in clusters.values())):
        yield from some


def _texts(
    corpus: FileCorpus, inputs: RunInputs, counts: Tally, clusters: dict[int, Members], applied: frozenset[str] | None
) -> Texts:
    """Read the texts of all that is shown, if they have not changed; `applied`: the files that count, or None for all."""
    rows, places = set[int](), set[tuple[str, int]]()
    for line in _shown(counts, clusters):
        rows.add(line["row"])
        if line["survivor_row"] is not None:
            rows.add(line["survivor_row"])
        else:
            places.add((line["reference"], line["reference_row"]))
    try:
        read = read_again(corpus, rows, counts.near.compared, counts.removed, recipe=inputs.recipe, only=applied)
        others = {} if inputs.reference is None else read_reference(inputs.reference, places, recipe=inputs.recipe)
    except NeardupError as problem:
        return Texts(None, {}, str(problem))
    texts = Texts(read, others)
    if inputs.recipe is not None:
        texts = replace(texts, normalize=tuple(inputs.recipe.normalize), version=inputs.recipe.version)
    return Texts(None, {}, NOT_AS_BEFORE) if _changed(read, texts, counts, clusters) else texts


def _changed(read: ReadAgain, texts: Texts, counts: Tally, clusters: dict[int, Members]) -> bool:
    """Whether rows, ids or fingerprint distances differ from the audit."""
    if read.rows != len(counts.removed):
        return True
    for line in _shown(counts, clusters):
        removed, survivor = texts.removed(line), texts.survivor_of(line)
        if removed is None or (survivor is None and line["survivor_row"] is not None):
            return True
        for text, name in ((removed, line["id"]), (survivor, line["survivor_id"])):
            if text is not None and json.loads(text.id) != name:
                return True
        if survivor is not None and _apart(removed, survivor) not in (None, line["distance"]):
            return True
    return False


def _apart(a: Text, b: Text) -> int | None:
    if a.fingerprint is None or b.fingerprint is None:
        return None
    return sum(int(word).bit_count() for word in (a.fingerprint ^ b.fingerprint).tolist())


def _applied(summary: RunSummary) -> frozenset[str] | None:
    """The shards that a run in stages was applied to; None if the run was not in stages."""
    files = summary["files"]
    if "clusters" not in files:
        return None
    reading = stored_reading(files)
    return frozenset(shard.name for shard in find_shards(files["inputs"], reading=reading))


def summary_of_run(audit: Place) -> RunSummary:
    """Read the summary of an audit; for a folder of audits of one run in stages, add their summaries up."""
    summaries = [summary for _, summary in read_summaries(audit)]
    if not summaries:
        raise InputError(
            f"{summary_path(audit)}, which a report is made of, is missing. Put the summary of the run beside the audit, "
            "under this name."
        )
    for summary in summaries:
        if "unit" in summary:
            raise of_units(summary["unit"])
    return summed(summaries)


def of_units(unit: str) -> OptionError:
    """The error for a report of a run that removed lines or paragraphs."""
    return OptionError(
        f"`unit={unit!r}`: a report is of documents that were removed, not of {unit}s. The audit has each {unit} with its text."
    )
