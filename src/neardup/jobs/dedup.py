"""De-duplicate files: survivors as they were, an audit of every removal, and a summary."""

import dataclasses
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.dedup import find_duplicates
from neardup.display import counted
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.outputs import STANDARD_OUTPUT, Outputs, output_folder
from neardup.io.reading import split_options
from neardup.io.records import write_lines
from neardup.jobs.audits import write_audits
from neardup.jobs.reference import FingerprintReference, open_reference
from neardup.jobs.resuming import open_saved, run_description, tell_skipped
from neardup.jobs.targets import Targets, dedup_targets, demand_output
from neardup.jobs.writing import write_rows
from neardup.judging.estimate import CostEstimate, estimate_corpus
from neardup.judging.report import check_report, make_report
from neardup.judging.report import report as write_report
from neardup.options import options_of
from neardup.progress import Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.annotations import ANNOTATIONS
from neardup.survivors.audit import audit_lines, reject_lines
from neardup.survivors.decisions import Findings
from neardup.survivors.summary import Summary, summarize

IDS_TOGETHER = 1 << 18


@dataclass(frozen=True)
class FileResult:
    """What was done, and where it lies: inputs, output, audit, summary and rejects; those not written are None.

    `estimate`: what had been expected, of a dry run.
    """

    summary: Summary
    files: dict[str, Any]
    estimate: CostEstimate | None = None

    def __repr__(self) -> str:
        return f"FileResult({self.summary.in_a_line()}, output={self.files['output']!r})"

    def __str__(self) -> str:
        counts, files = self.summary, self.files
        lines = [
            f"{counted(counts.documents, 'document')}: {counted(counts.survivors, 'survivor')}, "
            f"{counted(counts.duplicates, 'duplicate')} ({counts.exact_duplicates:,} exact) "
            f"in {counted(counts.clusters, 'cluster')}; {counts.seconds['total']:.1f} s"
        ]
        if counts.reference_documents:
            lines.append(
                f"{counted(counts.against_reference, 'duplicate')} of the reference, "
                f"which has {counted(counts.reference_documents, 'document')}"
            )
        if counts.short:
            lines.append(
                f"{counted(counts.short, 'short document')} (under {counted(counts.min_tokens, 'token')}): "
                "only equal ones were removed"
            )
        if counts.repeated_ids:
            lines.append(
                f"warning: {counted(counts.repeated_ids, 'repeated id')}; the audit tells such documents apart by row"
            )
        if counts.rejected:
            lines.append(f"{counted(counts.rejected, 'row')} could not be read: {files['rejects'] or 'not written'}")
        if counts.passed_over:
            lines.append(
                f"{counted(counts.passed_over, 'file')} in folders passed over, of no known format or read only if named"
            )
        places = {name: files[name] for name in ("output", "audit", "summary", "report") if files.get(name)}
        lines += [f"{name}: {'standard output' if place == '-' else place}" for name, place in places.items()]
        return "\n".join(lines)

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; a file name that is not UTF-8 keeps its bytes, as half surrogates."""
        known = self.summary.as_dict() | {"files": self.files}
        if self.estimate is not None:
            known["estimate"] = self.estimate.as_dict()
        content = json.dumps(known, ensure_ascii=False, indent=indent)
        return content.encode("utf-8", "backslashreplace") + b"\n"


def _write_records(
    corpus: FileCorpus,
    reference: FileCorpus | FingerprintReference | None,
    findings: Findings,
    targets: Targets,
    outputs: Outputs,
    *,
    with_matched: bool,
) -> None:
    """The audit and the rejects."""
    if targets.audit:
        locate = None if reference is None else reference.locate
        lines = audit_lines(findings.of_inputs, findings.documents.ids, with_matched=with_matched, locate=locate)
        rows = [corpus.rows_of(number) for number in range(len(corpus.shards))]
        write_audits(lines, targets, corpus.shards, rows, outputs)
    if targets.rejects:
        write_lines(targets.rejects, outputs.claim(targets.rejects), reject_lines(corpus.rejected))


def _audit_of(
    findings: Findings, reference: FileCorpus | FingerprintReference | None, *, with_matched: bool
) -> Iterator[dict[str, Any]]:
    """The lines of the audit, without a file."""
    locate = None if reference is None else reference.locate
    for _, lines in audit_lines(findings.of_inputs, findings.documents.ids, with_matched=with_matched, locate=locate):
        yield from map(json.loads, lines)


def _repeated(ids: Any) -> int:
    """How many ids an earlier row has; so many looked at together that the table of those that were seen stays small."""
    present = ids.drop_null() if ids.null_count else ids  # which would be a copy
    parts = 1 + len(present) // IDS_TOGETHER
    if parts == 1:
        return len(present) - len(present.unique())
    _, offsets, data = present.buffers()
    begins = np.frombuffer(offsets, np.int64)[present.offset : present.offset + len(present)]
    end = np.frombuffer(offsets, np.int64)[present.offset + len(present)]
    sums = np.add.reduceat(np.frombuffer(data, np.uint8)[:end], begins, dtype=np.uint32)  # equal ids have equal sums
    part_of = sums % np.uint32(parts)
    return len(present) - sum(len(present.filter(pa.array(part_of == part)).unique()) for part in range(parts))


def deduplicate_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | None = None,
    *,
    recipe: Recipe | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | None = None,
    report: str | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: str = "stop",
    progress: Watcher = None,
    **options: Any,
) -> FileResult:
    """Remove near-duplicate documents from files.

    Nothing appears under a final name before all is complete; no file is replaced unless `overwrite` is given.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        recipe: how texts become fingerprints; `Recipe()` if not given.
        annotate: write all rows, with the columns ANNOTATIONS.
        dry_run: say what is expected, from a sample, do everything, write nothing.
        audit: where the audit goes: a file, or a folder (ends in /; one file for each input); the output without its data endings +
            `.duplicates.jsonl` if not given.
        report: where the run goes as one HTML page, which ends in .html; of a dry run, too. The inputs are read once more for it.
        against: a reference: files of texts, like the inputs, or fingerprint files (then by distance alone). What is near one of
            its documents is removed; it stays as it is, and which of its own documents are near one another is not looked at.
        overwrite: replace outputs that exist.
        resume: keep finished work in a folder beside the output (its name without data endings + `.resume`), and go on with what is
            there of the same run. When the run is done, only a record of that stays in the folder.
        on_error: what to do with rows that cannot be read: `stop`, or `skip` them into a file of rejects.
        progress: True for what the command line shows, or a function that is called with each `ProgressEvent`; nothing is told if
            not given.
        **options: the fields of `neardup.io.reading.Reading` (text, id …) and of `DedupOptions`.

    Raises:
        InputError: an input is missing, an output exists, or formats do not go together.
        OptionError: an option has a value that is not allowed.
        RecipeMismatch: the folder of a run to be resumed is of other inputs, another recipe or other options.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    recipe, progress = recipe or Recipe(), progress_of(progress)
    reading, others = split_options(options)
    chosen = options_of(**others)
    if not dry_run:
        demand_output(output)  # before inputs are looked for: who forgot -o has named the output as an input
    if report is not None:
        check_report(report)
    inputs = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    against = [against] if isinstance(against, str | Path) else list(against)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        corpus = open_corpus(
            inputs,
            reading,
            temporary=Path(spool),
            values=chosen.columns,
            on_error=on_error,
            progress=progress,
            resources=chosen.resources,
        )
        shards = corpus.shards
        reference = open_reference(
            against, corpus, recipe, reading, chosen, temporary=Path(spool), on_error=on_error, progress=progress
        )
        targets = Targets()
        if output:
            targets = dedup_targets(output, shards, audit=audit, with_rejects=on_error == "skip")
        if dry_run:  # names were checked; that files exist is no matter
            targets = Targets()
        corpus.check(ANNOTATIONS if annotate else ())
        folder = output_folder(output) if output else None
        saved = None
        if resume:
            run = run_description(output, corpus, reference, recipe, chosen, reading) | {
                "annotate": annotate,
                "audit": audit,
                "on_error": on_error,
            }
            saved = open_saved(output, dry_run, targets, corpus, run)
            if (done := saved.completed()) is not None:
                progress.say(f"{saved.folder}: this run was done before")
                if report is not None and not Path(report).exists():
                    write_report(done["files"]["audit"], report, threads=chosen.threads, progress=progress)
                    done["files"]["report"] = report
                return FileResult(Summary(**done["summary"]), done["files"])
            corpus.save_in(saved, "inputs")
            if isinstance(reference, FileCorpus):
                reference.save_in(saved, "reference")
        to_stdout = targets.outputs[:1] == (STANDARD_OUTPUT,)
        with Outputs(
            [*targets.outputs, *targets.records, *([Path(report)] if report else [])],
            inputs=shards,
            overwrite=overwrite,
            folder=folder,
            audit_folder=targets.audit_folder,
            saved=saved,
            temp_dir=chosen.temp_dir,
        ) as outputs:
            expected = None
            if dry_run:
                expected = estimate_corpus(corpus, recipe, chosen)
                progress.say(f"estimate: {expected}")
                progress.say("all is done now but writing; interrupt it if the estimate is enough")
            findings = find_duplicates(
                corpus,
                recipe,
                chosen,
                progress,
                reference=reference.documents if isinstance(reference, FingerprintReference) else reference,
                keep_elements=saved is None,
            )
            tell_skipped(saved, progress)
            write = partial(
                write_rows,
                corpus.shards,
                [corpus.rows_of(number) for number in range(len(corpus.shards))],
                findings.decisions,
                findings.documents.ids,
                findings.documents.valid,
                paths=targets.outputs,
                outputs=outputs,
                annotate=annotate,
                threads=chosen.threads,
                progress=progress,
            )
            with progress.stage("write", findings.inputs):
                # Records first: `commit` renames in this order, and no removal may be without its line in the audit.
                _write_records(
                    corpus, reference, findings, targets, outputs, with_matched=chosen.cluster == "components"
                )
                if not to_stdout and not dry_run:
                    write()
                progress.written(outputs.written_bytes)
            files: dict[str, Any] = {
                "inputs": [str(given) for given in inputs],
                "folder": str(Path.cwd()),
                **dataclasses.asdict(reading),
                "against": [str(given) for given in against],
                "output": None if dry_run else output,
                **{
                    name: str(path) if (path := getattr(targets, name)) else None
                    for name in ("audit", "summary", "rejects")
                },
                "report": report,
            }
            repeated = _repeated(findings.documents.ids.slice(0, findings.inputs))
            counts = summarize(findings, recipe, chosen, progress, repeated_ids=repeated, html=reading.html)
            result = FileResult(counts, files, expected)
            if targets.summary:
                outputs.claim(targets.summary).write_bytes(result.to_json(indent=2))
            if report is not None:
                lines = partial(_audit_of, findings, reference, with_matched=chosen.cluster == "components")
                made, reason = make_report(
                    json.loads(result.to_json()),
                    lines,
                    rows=findings.inputs,
                    corpus=corpus,
                    reference=reference if isinstance(reference, FileCorpus) else None,
                    recipe=recipe,
                    progress=progress,
                )
                outputs.claim(Path(report)).write_bytes(made)
                if reason:
                    progress.say(f"{report} shows no texts: {reason}")
            if to_stdout:
                write()
            outputs.commit({"summary": result.summary.as_dict(), "files": files})
    return result
