"""Remove repeated lines or paragraphs from the documents of files: what is left of each, an audit, and a summary."""

import dataclasses
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.dedup import find_duplicates
from neardup.display import counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpus import FileCorpus
from neardup.io.formats.table import FILES, FORMATS, Rewritable, open_sink
from neardup.io.outputs import STANDARD_OUTPUT, Outputs, output_folder
from neardup.io.reading import Reading, split_options
from neardup.io.records import compression_of, write_lines
from neardup.io.shards import Shard, find_shards
from neardup.io.storage.places import Place
from neardup.jobs.audits import write_audits
from neardup.jobs.resuming import open_saved, run_description, tell_skipped
from neardup.jobs.targets import Targets, dedup_targets, demand_output
from neardup.options import UNITS, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.audit import reject_lines
from neardup.survivors.decisions import Decisions
from neardup.survivors.summary import Summary, summarize
from neardup.survivors.unit_audit import emptied_rows, unit_audit_lines
from neardup.text.units import SEPARATORS, without_units

_OF_DOCUMENTS = ("rows", "documents", "rejected", "survivors", "duplicates", "reference_documents", "against_reference")
"""Counts of a `Summary` that a `UnitSummary` has of documents, or under another name, or not at all."""


@dataclass(frozen=True, kw_only=True)
class UnitSummary:
    """Counts, options and costs of a run that removed lines or paragraphs.

    Attributes:
        unit: `line` or `paragraph`.
        rows: rows read, `documents` and `rejected` together.
        survivors: documents that were written: all but those emptied.
        changed_documents: among them, those that lost units.
        emptied_documents: documents that lost their last unit; they are in no output.
        units: that have a token, in all documents; the others are never removed.
        removed_units: among them.
        text_bytes: of the texts that came.
        removed_bytes: of the removed units, without what separates them.
        found: of units what `neardup.survivors.summary.Summary` has of documents: exact duplicates, clusters, short ones,
            method, costs …
    """

    unit: str
    rows: int
    documents: int
    rejected: int
    survivors: int
    changed_documents: int
    emptied_documents: int
    units: int
    removed_units: int
    text_bytes: int
    removed_bytes: int
    found: Summary

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; those of `found` beside the others."""
        return self.of_documents() | {
            name: value for name, value in self.found.as_dict().items() if name not in _OF_DOCUMENTS
        }

    def of_documents(self) -> dict[str, Any]:
        """All but `found`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "found"}


@dataclass(frozen=True)
class UnitResult:
    """What was done, and where it lies: inputs, output, audit, summary and rejects; those not written are None."""

    summary: UnitSummary
    files: dict[str, Any]

    def __repr__(self) -> str:
        return f"UnitResult({str(self).splitlines()[0]}, output={self.files['output']!r})"

    def __str__(self) -> str:
        counts, files = self.summary, self.files
        lines = [
            f"{counted(counts.units, counts.unit)} of {counted(counts.documents, 'document')}: {counts.removed_units:,} removed "
            f"({counts.found.exact_duplicates:,} exact), {counts.removed_bytes:,} of {counts.text_bytes:,} bytes; "
            f"{counts.found.seconds['total']:.1f} s",
            f"{counted(counts.changed_documents, 'document')} changed, {counts.emptied_documents:,} left empty and removed",
        ]
        if counts.found.repeated_ids:
            lines.append(
                f"warning: {counted(counts.found.repeated_ids, 'repeated id')}; the audit tells such documents apart by row"
            )
        if counts.rejected:
            lines.append(f"{counted(counts.rejected, 'row')} could not be read: {files['rejects'] or 'not written'}")
        if counts.found.passed_over:
            lines.append(
                f"{counted(counts.found.passed_over, 'file')} in folders passed over, of no known format or read only if named"
            )
        places = {name: files[name] for name in ("output", "audit", "summary") if files[name]}
        lines += [f"{name}: {'standard output' if place == '-' else place}" for name, place in places.items()]
        return "\n".join(lines)

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; a file name that is not UTF-8 keeps its bytes, as half surrogates."""
        content = json.dumps(self.summary.as_dict() | {"files": self.files}, ensure_ascii=False, indent=indent)
        return content.encode("utf-8", "backslashreplace") + b"\n"


@dataclass(frozen=True, slots=True)
class _Removal:
    """Which rows lose what: bool[rows] each; and the removed units, int64, with their rows."""

    keep: Array
    changed: Array
    emptied: Array
    units: Array
    rows: Array

    @classmethod
    def of(cls, corpus: UnitCorpus, decisions: Decisions) -> "_Removal":
        units = decisions.duplicates
        rows, emptied = corpus.row_of(units), emptied_rows(corpus, units)
        valid = corpus.ids.is_valid().to_numpy(zero_copy_only=False)
        changed = np.zeros(len(valid), np.bool_)
        changed[rows] = True
        return cls(valid & ~emptied, changed & ~emptied, emptied, units, rows)


def _write_rows(
    corpus: UnitCorpus,
    unit: str,
    removal: _Removal,
    targets: Targets,
    outputs: Outputs,
    reading: Reading,
    progress: Progress,
) -> None:
    """Write what is left of each document; shards with one target share its sink."""

    def rewrite(row: int, texts: list[str], first: int) -> list[str]:
        start, end = np.searchsorted(removal.rows, [first + row, first + row + 1])
        return without_units(texts, corpus.numbers[removal.units[start:end]].astype(np.int64), unit)

    shards = corpus.documents.shards
    progress.expect(sum(shard.size for shard in shards))
    numbers: dict[Place, list[int]] = {}
    for number, path in enumerate(targets.outputs):
        numbers.setdefault(path, []).append(number)
    for path, together in numbers.items():
        first = shards[together[0]]
        if first.format in FILES and not removal.keep[corpus.documents.rows_of(together[0])].any():
            outputs.leave_out(path)  # a document that is removed is a file less
        elif not outputs.is_finished(path):
            with open_sink(outputs.claim(path), first.format, compression_of(path)) as sink:
                for number in together:
                    rows = corpus.documents.rows_of(number)
                    form: Any = FORMATS[shards[number].format]
                    form.replace(
                        shards[number],
                        reading.columns(),
                        partial(rewrite, first=rows.start),
                        sink,
                        keep=removal.keep[rows],
                        changed=removal.changed[rows],
                    )
            outputs.finish(path)
        for number in together:
            rows = corpus.documents.rows_of(number)
            progress.read(shards[number].size)
            progress.advance(rows.stop - rows.start)


def _check(unit: str, reading: Reading, *, annotate: bool, against: Any) -> None:
    """Raise OptionError, with every problem, if the options do not go together."""
    problems = []
    if unit not in SEPARATORS:
        problems.append(f"unit={unit!r}: give one of {', '.join(UNITS)}")
    if annotate:
        problems.append(
            f"unit={unit!r} with annotate: columns are of documents, not of their parts. Read the audit instead"
        )
    if against:
        problems.append(f"unit={unit!r} with against: a reference is of whole documents. Leave one of them out")
    if reading.html is not None:
        problems.append(
            f"unit={unit!r} with html: parts of a page's text cannot be removed from its HTML. Extract the text first"
        )
    if reading.lines:
        problems.append(
            f"unit={unit!r} with lines: a line is a document there, and has no parts. Leave lines out; a text file is then "
            "one document, and loses the lines that are repeated"
        )
    if len(set(reading.text)) < len(tuple(reading.text)):
        problems.append(f"text={tuple(reading.text)!r} with unit={unit!r}: name each column once")
    if problems:
        raise OptionError("; ".join(problems) + ".")


def _check_formats(shards: Sequence[Shard], unit: str) -> None:
    able = [name for name, format_ in FORMATS.items() if isinstance(format_, Rewritable)]
    for shard in shards:
        if shard.format not in able:
            raise InputError(
                f"{shard.name} is {shard.format}: --unit {unit} can rewrite {', '.join(able)}. Convert it first."
            )


def deduplicate_units(
    inputs: str | Path | Sequence[str | Path],
    output: str | None = None,
    *,
    unit: str,
    recipe: Recipe | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: str = "stop",
    progress: Watcher = None,
    **options: Any,
) -> UnitResult:
    """Remove repeated lines or paragraphs from the documents of files, wherever in the corpus they are repeated.

    One of each stays, which one is said by `keep`, with the documents in place of which `deduplicate_files` has documents. A unit
    goes with the separator after it. Units without a token (blank lines, rules of dashes) always stay. A document that loses
    its last unit with a token is removed; one that loses none is written as it was; of any other, only the texts change.

    Args:
        unit: `line` or `paragraph`; see `neardup.text.units`. Each text column has units of its own.
        annotate, against: not for units.
        inputs, output, recipe, dry_run, audit, overwrite, resume, on_error, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.reading.Reading` (but html) and of `DedupOptions`.

    Raises:
        InputError, OptionError, RecipeMismatch, RowError, DataError: as `deduplicate_files`; and a format that cannot be rewritten.
    """
    recipe, progress = recipe or Recipe(), progress_of(progress)
    reading, others = split_options(options)
    chosen = options_of(**others)
    _check(unit, reading, annotate=annotate, against=against)
    if not dry_run:
        demand_output(output)
    inputs = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        shards = find_shards(inputs, temporary=Path(spool), reading=reading, progress=progress)
        _check_formats(shards, unit)
        columns = dataclasses.replace(reading.columns(chosen.columns), separator=SEPARATORS[unit])
        corpus = UnitCorpus(
            FileCorpus(shards, columns, on_error=on_error, progress=progress, resources=chosen.resources), unit
        )
        targets = Targets()
        if output:
            targets = dedup_targets(output, shards, audit=audit, with_rejects=on_error == "skip")
        if dry_run:  # names were checked; that files exist is no matter
            targets = Targets()
        corpus.documents.check()
        folder = output_folder(output) if output else None
        saved = None
        if resume:
            run = run_description(output, corpus.documents, None, recipe, chosen, reading) | {
                "unit": unit,
                "audit": audit,
                "on_error": on_error,
            }
            saved = open_saved(output, dry_run, targets, corpus.documents, run)
            if (done := saved.completed()) is not None:
                progress.say(f"{saved.folder}: this run was done before")
                return UnitResult(UnitSummary(**done["summary"], found=Summary(**done["found"])), done["files"])
            corpus.documents.save_in(saved, "inputs")
        to_stdout = targets.outputs[:1] == (STANDARD_OUTPUT,)
        paths = [*targets.outputs, *targets.records]
        with Outputs(
            paths,
            inputs=shards,
            overwrite=overwrite,
            folder=folder,
            audit_folder=targets.audit_folder,
            saved=saved,
            temp_dir=chosen.temp_dir,
        ) as outputs:
            findings = find_duplicates(corpus, recipe, chosen, progress, keep_elements=saved is None)
            tell_skipped(saved, progress)
            removal = _Removal.of(corpus, findings.decisions)
            write = partial(_write_rows, corpus, unit, removal, targets, outputs, reading, progress)
            with progress.stage("write", len(removal.keep)):
                if targets.audit:  # before the rows: no removal may be without its line in the audit
                    lines = unit_audit_lines(
                        corpus,
                        findings.decisions,
                        unit=unit,
                        with_matched=chosen.cluster == "components",
                    )
                    rows = [corpus.documents.rows_of(number) for number in range(len(shards))]
                    write_audits(lines, targets, shards, rows, outputs)
                if targets.rejects:
                    rejects = reject_lines(corpus.documents.rejected)
                    write_lines(targets.rejects, outputs.claim(targets.rejects), rejects)
                if not to_stdout and not dry_run:
                    write()
                progress.written(outputs.written_bytes)
            ids = corpus.ids.drop_null()
            found = summarize(findings, recipe, chosen, progress, repeated_ids=len(ids) - len(ids.unique()))
            summary = UnitSummary(
                unit=unit,
                rows=len(removal.keep),
                documents=len(ids),
                rejected=len(removal.keep) - len(ids),
                survivors=int(removal.keep.sum()),
                changed_documents=int(removal.changed.sum()),
                emptied_documents=int(removal.emptied.sum()),
                units=found.documents,
                removed_units=found.duplicates,
                text_bytes=corpus.text_bytes,
                removed_bytes=int(corpus.sizes[removal.units].sum(dtype=np.int64)),
                found=found,
            )
            files: dict[str, Any] = {
                "inputs": [str(given) for given in inputs],
                "folder": str(Path.cwd()),
                **dataclasses.asdict(reading),
                "output": None if dry_run else output,
                **{
                    name: str(path) if (path := getattr(targets, name)) else None
                    for name in ("audit", "summary", "rejects")
                },
            }
            result = UnitResult(summary, files)
            if targets.summary:
                outputs.claim(targets.summary).write_bytes(result.to_json(indent=2))
            if to_stdout:
                write()
            outputs.commit({"summary": summary.of_documents(), "found": found.as_dict(), "files": files})
    return result
