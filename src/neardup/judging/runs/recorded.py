"""RECORDED: a finished run of `dedup` or `apply`, by its summary, and where its audit is."""

from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.errors import DECODER_ERRORS, InputError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import READING
from neardup.io.corpora.stored_shards import digest_of_contents
from neardup.io.storage.places import Place, place_of
from neardup.judging.reports.run_facts import summed
from neardup.judging.reports.run_inputs import RunInputs, inputs_of_run
from neardup.progress import Progress
from neardup.recipe.similarity import stored_similarity
from neardup.resources.resources import Resources
from neardup.survivors.records.audit_files import is_audit, summary_paths
from neardup.survivors.records.cluster_file import ClusterFile, read_cluster_file
from neardup.survivors.records.summary import Summary
from neardup.survivors.records.summary_kinds import find_summary, parsed_summary, place_of_recorded
from neardup.survivors.records.summary_reader import RunSummary, no_summary, read_summaries, read_summary
from neardup.text.units import SEPARATORS


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A finished run.

    Attributes:
        name: the run as it was named.
        audit: the file or folder of its audit.
        summary: its summary; of a run in stages, the sum of those of its parts.
        clusters: the cluster file of a run in stages.
    """

    name: str
    audit: Place
    summary: RunSummary
    clusters: ClusterFile | None = None

    @property
    def unit(self) -> str:
        """What was removed: `document`, `line` or `paragraph`."""
        return str(self.summary.get("unit", "document"))

    @property
    def rows(self) -> int:
        """The number of rows of the inputs, with those that could not be read."""
        return int(self.summary["rows"])

    @property
    def compared(self) -> int:
        """The number of documents, or of lines or paragraphs with a token."""
        return int(self.summary["units" if "unit" in self.summary else "documents"])

    @property
    def reading(self) -> dict[str, Any]:
        """How the inputs were read."""
        files = self.summary["files"]
        return {name: files.get(name) for name in READING}

    def inputs(self, resources: Resources, progress: Progress) -> RunInputs:
        """The inputs, to be read again, if they are what they were."""
        separator = SEPARATORS.get(self.unit)
        return inputs_of_run(self.summary, self.audit, resources, progress, separator=separator)

    def contents(self, corpus: FileCorpus | None) -> set[str]:
        """Digests by which the inputs are known; none if nothing is known of them.

        `corpus`: the inputs, if they are there as they were.
        """
        files = self.summary["files"]
        found = {(files.get("content") or {}).get("inputs")} if self.clusters is None else set[Any]()
        if self.clusters is not None:
            shards = self.clusters.shards
            found |= {"+".join(each.content for each in shards)} if all(each.content for each in shards) else set()
            found |= {digest_of_contents(corpus.shards)} if corpus is not None else set()
        return {each for each in found if each}


def read_run(given: str, reads: str) -> RecordedRun:
    """Read the summary of a run of `dedup` or `apply`, and find its audit: beside the summary, or where it was written.

    Args:
        given: the summary, or an audit or an output beside which it lies; a folder with the audits of all parts of a run in stages.
        reads: what reads it, as the beginning of a sentence.

    Raises:
        InputError: there is no summary or audit, the run was a dry run or none of `dedup` or `apply`, or parts of it are missing.
        DataError: the file is not the summary of a run.
    """
    place = place_of(given)
    is_folder = place.is_dir() and is_audit(place) and bool(summary_paths(place))
    path = summary_paths(place)[0] if is_folder else find_summary(place)
    command, values = parsed_summary(path)
    if command not in ("dedup", "apply"):
        raise InputError(
            f"{path} was written by `neardup {command}`. {reads} runs of `neardup dedup`, also in stages: their audits name each "
            "removed document and the one that stays."
        )
    audit = place if is_folder else _audit_of(path, values["files"])
    summaries = [summary for _, summary in read_summaries(audit)] if is_folder else [read_summary(path)]
    summary = summed(summaries)
    _check_counts(path, summary)
    return RecordedRun(given, audit, summary, _clusters(path, summary))


def _check_counts(path: Place, summary: RunSummary) -> None:
    """Refuse a damaged summary of a run that removed lines or paragraphs; others are checked when they are read."""
    if "unit" not in summary:
        return
    try:
        counts = {"duplicates": summary["removed_units"], "reference_documents": 0, "against_reference": 0}
        msgspec.convert(summary | counts, Summary)
        if summary["unit"] not in SEPARATORS or not isinstance(summary["units"], int):
            raise ValueError
        stored_similarity(summary["options"]["similarity"])
        str(summary["recipe"]["digest"])
    except (msgspec.ValidationError, *DECODER_ERRORS):
        raise no_summary(path) from None


def _audit_of(path: Place, files: dict[str, Any]) -> Place:
    recorded = files.get("audit")
    if recorded is None:
        how = "of a dry run, which writes none" if files.get("output") is None else "of a run that wrote none"
        raise InputError(f"{path} has no audit: it is {how}. Run again with `output` a file, or with `audit` a file.")
    found = place_of_recorded(path, str(recorded))
    if found is None:
        raise InputError(
            f"{path} names the audit {recorded}, which is missing. Put it beside the summary, under this name."
        )
    return found


def _clusters(path: Place, summary: RunSummary) -> ClusterFile | None:
    name = summary["files"].get("clusters")
    if name is None:
        return None
    if not place_of(name).is_file():
        raise InputError(
            f"{name}: there is no such file. {path} is of a run in stages, and its cluster file says which shards it is of. Run "
            f"this in {summary['files']['folder']}, with the cluster file in its place."
        )
    found = read_cluster_file(name)
    of_all = sum(shard.rows for shard in found.shards)
    if summary["rows"] != of_all:
        raise InputError(
            f"{path} is of {summary['rows']:,} of the {of_all:,} rows of {name}. Apply all shards, with one folder for all audits "
            "(`audit`), and name that folder."
        )
    return found


def refuse_others(a: RecordedRun, b: RecordedRun, inputs: tuple[RunInputs, RunInputs], *, same_inputs: bool) -> None:
    """Refuse runs that did not read the same inputs, or of which that is not known; `same_inputs`: the caller knows it.

    Raises:
        InputError: with what they read.
    """
    if a.unit != b.unit:
        raise InputError(
            f"{a.name} removed {a.unit}s, and {b.name} removed {b.unit}s. Give two runs that removed the same."
        )
    told = " and ".join(f"{each.name} read {each.rows:,} rows of {_named(each)}" for each in (a, b))
    if a.rows != b.rows:
        raise InputError(f"The inputs differ: {told}. Give the runs of one corpus: documents are compared row by row.")
    known = [run.contents(each.corpus) for run, each in zip((a, b), inputs, strict=True)]
    if same_inputs or known[0] & known[1]:
        return
    if all(known) and (a.clusters is None) == (b.clusters is None):
        raise InputError(
            f"The inputs differ: {told}, and the bytes of the files are not the same. If they hold the same documents in the same "
            "rows (compressed, or with another column), pass `same_inputs=True`."
        )
    raise InputError(
        f"Nothing proves that the inputs are the same: {told}. Standard input, files that are gone, and summaries of older "
        "versions say nothing of it. If you know that they are, row by row, pass `same_inputs=True`."
    )


def _named(run: RecordedRun) -> str:
    names = run.summary["files"]["inputs"]
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
