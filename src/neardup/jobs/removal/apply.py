"""Write the survivors of shards from a cluster file, for all shards at once or for some at a time."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from neardup.errors import InputError, OptionError
from neardup.io.checks.column_checks import MAX_LISTED, refuse_shards
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, ReadingDict, reading_of
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, listed_inputs
from neardup.io.corpora.stored_shards import (
    FINGERPRINT,
    content_of,
    digest_of_written,
    is_as_it_was,
    plain_columns,
    reading_recorded,
    recorded_reading,
    starts_of,
)
from neardup.io.outputs.output_names import output_for
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.storage.places import path_text, place_of
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import DecidedRows, write_shards
from neardup.jobs.results import FileResult
from neardup.progress import Progress, Watcher, progress_of
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.decisions import NONE
from neardup.survivors.records.audit import AuditChunk, audit_lines
from neardup.survivors.records.audit_schema import DOCUMENTS, Column, columns_of
from neardup.survivors.records.cluster_file import ClusterFile, is_cluster_file, read_cluster_file
from neardup.survivors.records.result_tables import ANNOTATIONS, annotations
from neardup.survivors.records.summary import Summary


def apply_files(
    clusters: str | Path,
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    annotate: bool = False,
    audit: str | Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> FileResult:
    """Write the survivors of shards, the audit of removed documents and a summary, as `deduplicate_files` does.

    Rows and clusters are numbered over all shards that were clustered. So the audits of several calls, concatenated in the order
    of the shards, are the audit of the whole corpus. The summary counts candidates and matches over all shards, and everything
    else over the shards of this call.

    Args:
        clusters: a file that `cluster_files` wrote.
        inputs: the shards, or some of them, unchanged since they were fingerprinted.
        output, annotate, audit, overwrite, threads, temp_dir, temp_limit, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.corpora.reading.Reading`. The cluster file has those that were given to
            `fingerprint_files`;
            give them for one of an older version, and `text` and `html` for fingerprints of another program, so that
            `verify_files`, `explain` and `report` find the texts.

    Raises:
        InputError: an input is not a shard of the clusters or has changed, or an output exists.
        OptionError: an option of reading is another than when the shards were fingerprinted.
        DataError: a file is damaged.
    """
    output = path_text(output)
    audit = path_text(audit)
    progress = progress_of(progress)
    resources = Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit)
    given_reading, listed = reading_of(reading, apply_files), listed_inputs(inputs)
    given = recorded_reading(given_reading)
    if not is_cluster_file(clusters):
        for each in listed:
            if is_cluster_file(each):
                raise InputError(f"{clusters} is no cluster file, but {each} is one: it comes first, then the shards.")
    source = place_of(clusters)
    if not source.is_file():
        raise InputError(f"{clusters}: there is no such file. Make it with `neardup clusters`.")
    found = read_cluster_file(source)
    recorded = _recorded(found, listed, given_reading)
    if recorded is None and not given:
        progress.say(
            f"{clusters} does not say how the shards were read: it is of an older version, as if `text='text'`. If `neardup "
            "fingerprint` was given `text`, `elements`, `id` or `html`, give them here, too: `neardup verify` reads the shards so"
        )
    request = Request(
        inputs=listed,
        output=output_for(output, listed),
        reading=given_reading if recorded is None else _reading(recorded, given, str(clusters)),
        audit=audit,
        annotate=annotate,
        overwrite=overwrite,
        resources=resources,
    )
    with temporary_folder(resources.files) as spool:
        shards = find_shards(request.inputs, temporary=spool, reading=request.reading, progress=progress)
        columns = request.reading.columns()
        if columns.text == Reading().text:  # rows are copied, not read: vectors and fingerprints have no texts
            columns = dataclasses.replace(columns, text=())
        corpus = FileCorpus(shards, columns, progress=progress, resources=resources)
        numbers = _numbers(found, corpus.shards, clusters)
        besides = {"the cluster file": [place_of(clusters)]}
        return run(_Steps(corpus, besides, request, progress, clusters, found, numbers))


_DECIDING = ("text", "elements", "id", "html", "lines", "encoding")
"""The options of reading that decide which texts and ids are read."""
_OF_TEXTS = ("text", "html")
"""Those that are not known of fingerprints of another program."""


def _recorded(found: ClusterFile, inputs: Sequence[str | Path], given: Reading) -> Mapping[str, Any] | None:
    """How the shards of this call were read when they were fingerprinted; None if the cluster file is of an older version.

    Raises:
        InputError: they were not read alike.
    """
    try:
        return reading_recorded(found.shards)
    except InputError:
        pass
    here = {shard.name for shard in find_shards(inputs, reading=given)}
    try:
        return reading_recorded(shard for shard in found.shards if shard.name in here)
    except InputError as problem:
        raise InputError(f"{problem} Apply those that were read alike in a call of their own.") from None


def _reading(recorded: Mapping[str, Any], given: Mapping[str, Any], clusters: str) -> Reading:
    """The reading that was recorded, with what it does not decide as given.

    Raises:
        OptionError: an option is given that is another than the recorded one.
    """
    known = {name: value for name, value in recorded.items() if name != FINGERPRINT}
    made = Reading(**known)
    deciding = [name for name in _DECIDING if FINGERPRINT not in recorded or name not in _OF_TEXTS]
    for name, value in given.items():
        if name in deciding and getattr(made, name) != getattr(Reading(**{name: value}), name):
            how = ", ".join(f"`{each}={plain_columns(value)!r}`" for each, value in known.items()) or "by the defaults"
            raise OptionError(
                f"`{name}={plain_columns(value)!r}`: {clusters} records how its shards were read when they were fingerprinted, "
                f"{how}. Leave it out."
            )
    return Reading(**{**known, **given})


@dataclass
class _Steps(Steps[ClusterFile, FileResult]):
    """The steps for shards whose clusters are known.

    Attributes:
        clusters, known: the cluster file, and what it says.
        numbers: of each input, its number among the shards of the cluster file.
    """

    clusters: str | Path
    known: ClusterFile
    numbers: list[int]
    command: ClassVar[str] = "apply"

    def check(self) -> None:
        self.corpus.check(ANNOTATIONS if self.request.annotate else ())

    def find(self, _: Checkpoints) -> ClusterFile:
        return self.known

    def rows(self, found: ClusterFile) -> Sequence[slice]:
        starts = starts_of(found.shards)
        return [slice(int(starts[number]), int(starts[number + 1])) for number in self.numbers]

    def audit(self, found: ClusterFile) -> Iterator[AuditChunk]:
        with_matched = found.summary["options"]["cluster"] == "components"
        return audit_lines(found.decisions, found.ids, with_matched=with_matched, within=self.rows(found))

    @property
    def log_columns(self) -> Sequence[Column[Any]]:
        return columns_of(DOCUMENTS, with_matched=self.known.summary["options"]["cluster"] == "components")

    def write(self, found: ClusterFile, paths: OutputPaths, outputs: Outputs) -> None:
        decisions = found.decisions
        added = partial(annotations, decisions, found.ids) if self.request.annotate else None
        rows, html = self.rows(found), self.request.reading.html
        writer = DecidedRows(self.corpus.shards, rows, decisions.kept_of, decisions.survivor != NONE, added, html)
        write_shards(writer, paths.outputs, outputs, threads=self.request.resources.threads, progress=self.progress)

    def content(self) -> dict[str, str | None]:
        """The digests of the shards and of the cluster file."""
        path = place_of(self.clusters)
        return super().content() | {"clusters": digest_of_written([path]) if isinstance(path, Path) else None}

    def result(self, found: ClusterFile, files: dict[str, Any]) -> FileResult:
        summary = _summary(found, self.numbers, self.rows(found), self.progress)
        return FileResult(summary, {"clusters": str(self.clusters)} | files, annotated=self.request.annotate)


def _numbers(found: ClusterFile, shards: Sequence[Shard], clusters: str | Path) -> list[int]:
    """The number of each input among the shards of the cluster file.

    Raises:
        InputError: an input is not one of these shards, or has changed since it was fingerprinted.
    """
    by_name = {shard.name: number for number, shard in enumerate(found.shards)}
    problems, numbers = [], []
    for shard in shards:
        number = by_name.get(shard.name)
        if number is None:
            known = ", ".join(list(by_name)[:MAX_LISTED]) + (" …" if len(by_name) > MAX_LISTED else "")
            problems.append(
                f"{shard.name} is no shard of {clusters}, which has {known}. Name files as when they were fingerprinted."
            )
        elif found.shards[number].size != shard.size:
            problems.append(
                f"{shard.name} has {shard.size:,} bytes, but had {found.shards[number].size:,} when it was fingerprinted. "
                "Begin anew with `neardup fingerprint`."
            )
        elif not is_as_it_was(found.shards[number], content_of(shard)):
            problems.append(
                f"{shard.name} is not the file that was fingerprinted: it has as many bytes, but others. "
                "Begin anew with `neardup fingerprint`."
            )
        else:
            numbers.append(number)
    refuse_shards(problems)
    return numbers


def _summary(found: ClusterFile, numbers: Sequence[int], rows: Sequence[slice], progress: Progress) -> Summary:
    """The summary of the clusters, with the counts of some shards."""
    decisions, of_all = found.decisions, Summary(**found.summary)
    here = np.concatenate([np.arange(each.start, each.stop) for each in rows])
    survivor = decisions.survivor[here]
    documents, survivors = int((survivor != NONE).sum()), int((survivor == here).sum())
    cluster = decisions.cluster[here]
    return dataclasses.replace(
        of_all,
        rows=len(here),
        documents=documents,
        rejected=len(here) - documents,
        survivors=survivors,
        duplicates=documents - survivors,
        exact_duplicates=int(decisions.exact[here].sum()),
        clusters=len(np.unique(cluster[cluster >= 0])),
        short=int(found.short[numbers].sum()),
        repeated_ids=int(found.repeated_ids[numbers].sum()),
        digits_unknown=int(np.count_nonzero((survivor >= 0) & (survivor != here) & ~decisions.exact[here])),
        **progress.costs(),
    )
