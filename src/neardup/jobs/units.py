"""Remove repeated lines or paragraphs from the documents of files: what is left of each, an audit, and a summary."""

import dataclasses
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.dedup import find_duplicates
from neardup.errors import InputError, OptionError
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpus import FileCorpus, Rejected
from neardup.io.formats.table import FILES, FORMATS, Rewritable, open_sink
from neardup.io.outputs import Outputs
from neardup.io.reading import Reading, split_options
from neardup.io.records import compression_of
from neardup.io.saved_work import SavedWork
from neardup.io.shards import Shard, find_shards
from neardup.io.storage.places import Place
from neardup.jobs.output_paths import OutputPaths, demand_output
from neardup.jobs.results import UnitResult
from neardup.jobs.resume import run_description
from neardup.jobs.run import Request, listed, run
from neardup.options import UNITS, DedupOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.audit import AuditChunk
from neardup.survivors.decisions import Decisions, Findings
from neardup.survivors.summary import summarize
from neardup.survivors.unit_audit import emptied_rows, unit_audit_lines
from neardup.survivors.unit_summary import UnitSummary
from neardup.text.units import SEPARATORS, without_units


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
    paths: OutputPaths,
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
    for number, path in enumerate(paths.outputs):
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
    request = Request(
        inputs=listed(inputs),
        output=output,
        reading=reading,
        audit=audit,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        temp_dir=chosen.temp_dir,
    )
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        shards = find_shards(request.inputs, temporary=Path(spool), reading=reading, progress=progress)
        _check_formats(shards, unit)
        columns = dataclasses.replace(reading.columns(chosen.columns), separator=SEPARATORS[unit])
        documents = FileCorpus(shards, columns, on_error=on_error, progress=progress, resources=chosen.resources)
        steps = _Steps(UnitCorpus(documents, unit), unit, recipe, chosen, request, progress)
        return run(steps, request, progress, resumable=steps)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found of units, and what documents lose by it."""

    units: Findings
    removal: _Removal


@dataclass
class _Steps:
    """Lines or paragraphs; see `neardup.jobs.run.Steps`."""

    corpus: UnitCorpus
    unit: str
    recipe: Recipe
    options: DedupOptions
    request: Request
    progress: Progress

    @property
    def shards(self) -> Sequence[Shard]:
        return self.corpus.documents.shards

    @property
    def rejected(self) -> Iterable[Rejected]:
        return self.corpus.documents.rejected

    def check(self, _: OutputPaths) -> None:
        self.corpus.documents.check()

    def description(self) -> dict[str, Any]:
        asked, documents = self.request, self.corpus.documents
        known = run_description(asked.output, documents, None, self.recipe, self.options, asked.reading)
        return known | {"unit": self.unit, "audit": asked.audit, "on_error": asked.on_error}

    def save_in(self, saved: SavedWork) -> None:
        self.corpus.documents.save_in(saved, "inputs")

    def done_before(self, record: dict[str, Any]) -> UnitResult:
        return UnitResult.of_record(record)

    def find(self, *, resumable: bool) -> _Found:
        found = find_duplicates(self.corpus, self.recipe, self.options, self.progress, keep_elements=not resumable)
        return _Found(found, _Removal.of(self.corpus, found.decisions))

    def rows(self, _: _Found) -> Sequence[slice]:
        return [self.corpus.documents.rows_of(number) for number in range(len(self.shards))]

    def audit(self, found: _Found) -> Iterator[AuditChunk]:
        with_matched = self.options.cluster == "components"
        return unit_audit_lines(self.corpus, found.units.decisions, unit=self.unit, with_matched=with_matched)

    def write(self, found: _Found, paths: OutputPaths, outputs: Outputs) -> None:
        _write_rows(self.corpus, self.unit, found.removal, paths, outputs, self.request.reading, self.progress)

    def result(self, found: _Found, files: dict[str, Any]) -> UnitResult:
        corpus, removal = self.corpus, found.removal
        ids = corpus.ids.drop_null()
        repeated = len(ids) - len(ids.unique())
        units = summarize(found.units, self.recipe, self.options, self.progress, repeated_ids=repeated)
        summary = UnitSummary(
            unit=self.unit,
            rows=len(removal.keep),
            documents=len(ids),
            rejected=len(removal.keep) - len(ids),
            survivors=int(removal.keep.sum()),
            changed_documents=int(removal.changed.sum()),
            emptied_documents=int(removal.emptied.sum()),
            units=units.documents,
            removed_units=units.duplicates,
            text_bytes=corpus.text_bytes,
            removed_bytes=int(corpus.sizes[removal.units].sum(dtype=np.int64)),
            found=units,
        )
        return UnitResult(summary, files)
