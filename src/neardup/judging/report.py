"""REPORT: a run as one HTML page, from its audit or while it is made."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.display import counted
from neardup.errors import DataError, InputError, NeardupError, OptionError
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.outputs import Outputs
from neardup.io.reading import READING, Reading
from neardup.io.shards import find_shards
from neardup.judging.reports.bands import Bands
from neardup.judging.reports.page import Lines, Texts, check_page, page, summed
from neardup.judging.reports.tally import Line, Tally, members, tally
from neardup.judging.reports.texts import ReadAgain, Text, read_again, read_reference
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import stored_recipe
from neardup.resources.resources import Resources
from neardup.survivors.audit_files import AUDIT_ENDING, read_audit, summary_path, summary_paths
from neardup.survivors.cluster_file import read_cluster_file

NOT_AS_BEFORE = "The inputs are not what they were when the audit was written."


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that was written, and why it shows no texts: nothing if it does."""

    path: Path
    without_texts: str = ""

    def __str__(self) -> str:
        note = f"\nit shows no texts: {self.without_texts}" if self.without_texts else ""
        return f"report: {self.path}{note}"


def check_report(report: str | Path) -> None:
    """Refuse before any work what could not be written.

    Raises:
        InputError: the name's ending is not that of a page.
        MissingExtra: jinja2 is not installed.
    """
    if Path(report).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{report}: a report is a page. Give a name that ends in .html.")
    check_page()


def report(
    audit: str | Path,
    output: str | Path,
    *,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Watcher = None,
) -> ReportFile:
    """Write a run as one HTML page that needs nothing else: counts, plots, pairs to judge, clusters, options, costs.

    The audit is read twice, the inputs once, if they are there; of what they are, some bytes are kept for each row. The page stays
    below 5 MB: it shows a sample, the same every time, and says so.

    Args:
        audit: a file, or a folder with one for each shard; the summary lies beside it, or in it.
        output: a file that ends in .html.
        overwrite: replace it if it exists.
        threads: all processors if not given; never changes the page.
        progress: True for what the command line shows, or a function that is called with each `ProgressEvent`.

    Raises:
        InputError: there is no audit, or no summary, or they are of several runs or of one of units; or the output exists.
        DataError: they are damaged, or do not go together.
        MissingExtra: jinja2 is not installed.
    """
    path, progress = Path(audit), progress_of(progress)
    if path.suffix == ".html" and Path(output).name.endswith(AUDIT_ENDING):
        raise InputError(f"The audit comes first; the report goes to -o: neardup report {output} -o {audit}")
    check_report(output)
    next(read_audit(path), None)  # what is no audit is refused first
    summary = _read_summary(path)
    try:
        recipe = stored_recipe(summary["recipe"])
    except (ValueError, TypeError):
        recipe = None  # it has a function of its own
    with Outputs([Path(output)], overwrite=overwrite) as outputs:
        known, corpus, reference, reason = _inputs(summary, Resources(threads), progress)
        rows = known if known is not None else _rows_named(path)
        made, reason = make_report(
            summary,
            lambda: read_audit(path),
            rows=rows,
            corpus=corpus,
            reference=reference,
            recipe=recipe,
            reason=reason,
            progress=progress,
        )
        outputs.claim(Path(output)).write_bytes(made)
        outputs.commit()
    return ReportFile(Path(output), reason)


def make_report(
    summary: dict[str, Any],
    lines: Lines,
    *,
    rows: int,
    corpus: FileCorpus | None,
    reference: FileCorpus | None,
    recipe: Recipe | None,
    progress: Progress,
    reason: str = "",
) -> tuple[bytes, str]:
    """The page, and why it shows no texts, if it does not.

    Args:
        summary: with the files.
        lines: of the audit.
        rows: of the corpus.
        corpus, reference: the inputs, to be read again; None if they cannot be, for that `reason`.
        recipe: for telling whether texts are what they were.
    """
    bands = Bands(summary["min_similarity"], summary["max_distance"])
    with progress.stage("count removals"):
        counts = tally(lines(), bands, rows=rows, bits=int(summary["recipe"]["bits"]))
        clusters = members(lines(), [cluster for cluster, _ in counts.largest])
    if counts.duplicates != summary["duplicates"]:
        raise DataError(
            f"The audit has {counted(counts.duplicates, 'removal')}, but its summary counts {summary['duplicates']:,}. "
            "Give the audit and the summary of one run, both whole."
        )
    summary = summary | {"clusters": counts.clusters} if "clusters" in summary["files"] else summary
    texts = Texts(None, {}, reason)
    if corpus is not None:
        with progress.stage("read for the report", rows):
            texts = _texts(corpus, reference, counts, clusters, recipe, summary)
    return page(summary, counts, clusters, bands, texts), texts.reason


def _shown(counts: Tally, clusters: dict[int, list[Line]]) -> Iterator[Line]:
    for sampled in (counts.sample, clusters):
        for some in sampled.values():
            yield from some


def _texts(
    corpus: FileCorpus,
    reference: FileCorpus | None,
    counts: Tally,
    clusters: dict[int, list[Line]],
    recipe: Recipe | None,
    summary: dict[str, Any],
) -> Texts:
    """The texts of all that is shown, if they are what was de-duplicated."""
    wanted, outside = set[int](), set[tuple[str, int]]()
    for line in _shown(counts, clusters):
        wanted.add(line["row"])
        if line["survivor_row"] is not None:
            wanted.add(line["survivor_row"])
        else:
            outside.add((line["reference"], line["reference_row"]))
    try:
        read = read_again(corpus, wanted, counts.removed, recipe=recipe, only=_applied(summary))
        others = {} if reference is None else read_reference(reference, outside, recipe=recipe)
    except NeardupError as problem:
        return Texts(None, {}, str(problem))
    found = Texts(read, others)
    return Texts(None, {}, NOT_AS_BEFORE) if _changed(read, found, counts, clusters) else found


def _changed(read: ReadAgain, texts: Texts, counts: Tally, clusters: dict[int, list[Line]]) -> bool:
    """Whether rows, ids or the distances of fingerprints are others than the audit says."""
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


def _applied(summary: dict[str, Any]) -> frozenset[str] | None:
    """The shards that a run in stages was applied to; None if the run was none in stages."""
    files = summary["files"]
    if "clusters" not in files:
        return None
    reading = Reading(**{name: files[name] for name in READING})
    return frozenset(shard.name for shard in find_shards(files["inputs"], temporary=Path(), reading=reading))


def _read_summary(audit: Path) -> dict[str, Any]:
    """The summary of an audit; of a folder of audits of one run in stages, the sum of theirs."""
    paths = summary_paths(audit)
    if not paths:
        raise InputError(
            f"{summary_path(audit)}, which a report is made of, is missing. Put the summary of the run beside the audit, "
            "under this name."
        )
    found = list[dict[str, Any]]()
    for path in paths:
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
            is_of_units = "unit" in summary
            clusters = summary["files"].get("clusters")
            needed = (
                "survivors",
                "documents",
                "options",
                "recipe",
                "seconds",
                "versions",
                "min_similarity",
                "read_bytes",
            )
            [summary[name] for name in (*needed, "written_bytes") if not is_of_units]
        except (ValueError, LookupError, TypeError, AttributeError):
            raise DataError(
                f"{path} is not the summary of a run. Give the audit of another run, or run again."
            ) from None
        if is_of_units:
            raise of_units(summary["unit"])
        if found and (clusters is None or clusters != found[0]["files"].get("clusters")):
            raise InputError(
                f"The audits in {audit} are of several runs, as {paths[0]} and {path} say. Give the audit of one."
            )
        found.append(summary)
    return summed(found)


def of_units(unit: str) -> OptionError:
    """The error for a report of a run that removed lines or paragraphs."""
    return OptionError(
        f"--unit {unit}: a report is of documents that were removed, not of {unit}s. The audit has each {unit} with its text."
    )


def _inputs(
    summary: dict[str, Any], resources: Resources, progress: Progress
) -> tuple[int | None, FileCorpus | None, FileCorpus | None, str]:
    """The rows of the run, if they are known; the inputs and the reference, or why they are not to be had."""
    files = summary["files"]
    inputs, rows, sizes = files["inputs"], summary["rows"], None
    where = f"Make the report in {files['folder']}, with the inputs in their places."
    try:
        if "clusters" in files:
            rows = None
            clusters = read_cluster_file(files["clusters"])
            inputs, rows = [shard.name for shard in clusters.shards], len(clusters.decisions.survivor)
            sizes = [shard.size for shard in clusters.shards]
        if "-" in inputs or "stdin" in inputs:
            return (
                rows,
                None,
                None,
                "They came on standard input, which cannot be read again; dedup --report shows them.",
            )
        reading = Reading(**{name: files[name] for name in READING})
        with tempfile.TemporaryDirectory(prefix="neardup-") as temporary:
            place = Path(temporary)
            corpus = open_corpus(
                inputs, reading, temporary=place, on_error="skip", progress=progress, resources=resources
            )
            reference = None
            if files.get("against") and reading.text:
                reference = open_corpus(
                    files["against"], reading, temporary=place, on_error="skip", resources=resources
                )
    except (NeardupError, OSError) as problem:
        return rows, None, None, f"{problem} {where}"
    if sizes is not None and [shard.size for shard in corpus.shards] != sizes:
        return rows, None, None, NOT_AS_BEFORE
    return rows, corpus, reference, ""


def _rows_named(audit: Path) -> int:
    """One more than the last row that an audit names."""
    return 1 + max((max(line["row"], line["cluster_id"]) for line in read_audit(audit)), default=-1)
