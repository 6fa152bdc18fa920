"""The steps of a verification: find and open the files, read them, and check one property after another."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from neardup.errors import InputError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import FINGERPRINT
from neardup.io.formats.table import FILES
from neardup.io.storage.places import Place
from neardup.jobs.removal.reference import FingerprintReference, open_reference, open_verified_store, reference_without
from neardup.judging.verification.apart import check_apart, check_covered, check_matched, join_options
from neardup.judging.verification.claim import Claim
from neardup.judging.verification.counts import check_counts
from neardup.judging.verification.first_of_clusters import check_first, decided_again
from neardup.judging.verification.read_corpus import ReadCorpus, read_corpus
from neardup.judging.verification.removals import RowOf, check_stated, check_survivors, check_threshold, read_removals
from neardup.judging.verification.result import Verification
from neardup.judging.verification.rows import align, check_rows, read_keys
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.resources.unfinished import TemporaryFolder
from neardup.store.reference import StoreReference
from neardup.store.session.folder import is_store
from neardup.survivors.records.audit_files import (
    files_of_folder,
    read_audit,
    read_superseded,
    superseded_beside,
)
from neardup.survivors.records.audit_reader import Line
from neardup.survivors.records.result_tables import ANNOTATIONS

Reference = FileCorpus | FingerprintReference | StoreReference


def verify_shards(
    claim: Claim,
    shards: Sequence[Shard],
    written: Sequence[Shard],
    audit: Place | None,
    chosen: DedupOptions,
    progress: Progress,
    *,
    output: str,
    on_error: str,
    strict: bool,
    temporary: TemporaryFolder,
) -> Verification:
    """Verify a run; see `neardup.jobs.verification.verify.verify_files`. `shards`: of the inputs; `written`: of the output."""
    options, resources = join_options(claim, chosen), chosen.resources
    columns = claim.reading.columns(options.columns, asked_by=options.columns_asked_by)
    corpus = FileCorpus(shards, columns, on_error=on_error, progress=progress, resources=resources)
    _demand_texts(corpus, claim)
    of_pages = {"warc", *FILES}
    was_converted = any(each.format in of_pages for each in shards) and not any(
        each.format in of_pages for each in written
    )
    of_output = replace(claim.reading, html=None) if was_converted else claim.reading  # there, pages are texts already
    result = FileCorpus(
        written, of_output.columns(), on_error="skip", progress=progress, resources=resources, demands_text=False
    )
    result.check()
    _refuse_annotated(result, corpus)
    others = reference_without(claim.against, (shard.path for shard in written), claim.reading)
    claimed = replace(claim, against=tuple(map(str, others)))
    with (
        _opened_reference(claimed, corpus, options, temporary, on_error, progress) as reference,
        read_corpus(corpus, reference, claim, options, progress) as read,
    ):
        with progress.stage("read the output"):
            keys, readable = read_keys(result)
        found, removed, missed = None, None, None
        if audit is not None:
            with progress.stage("read the audit"):
                lines: Iterable[Line] = () if audit.is_dir() and not files_of_folder(audit) else read_audit(audit)
                if claim.together:
                    lines = itertools.chain(lines, _superseded(audit, read, reference))
                found = read_removals(lines, read, _row_of(read, reference))
            removed = np.zeros(read.decided, np.bool_)
            removed[found.rows[found.rows >= 0]] = True
        of_inputs = None if removed is None else removed[: read.rows]
        aligned = align(read.keys, read.valid, of_inputs, keys, readable)
        if not aligned.ids_compared:
            progress.say("rows are compared by their texts: the inputs or the output have no ids")
        documents = int(np.count_nonzero(read.valid))
        missing = (
            np.empty(0, np.int64) if of_inputs is None else np.flatnonzero(read.valid & ~of_inputs & ~aligned.kept)
        )
        checks = [check_rows(aligned, result, documents, missing, read.name, with_audit=audit is not None)]
        in_output = read.documents.valid.copy()
        in_output[: read.rows] = aligned.kept
        if removed is not None:
            in_output[read.rows : read.decided] &= ~removed[read.rows :]
        if found is None:
            checks.append(check_covered(read, aligned.kept))
        elif claim.drop_matched:
            assert removed is not None
            checks.append(check_matched(read, removed))
        else:
            checks.append(check_survivors(found, in_output, with_reference=reference is not None))
            measured = read.measured(found.rows[found.known], found.survivors[found.known])
            again = None if claim.keep_most is None else decided_again(read, reference)
            checks += [check_stated(found, read, measured, again), check_threshold(found, read, measured, again)]
            if again is not None:
                assert removed is not None
                checks.append(check_first(read, again, removed))
        if not claim.drop_matched and claim.keep_most is None:  # or else, this has been checked
            apart, missed = check_apart(read, in_output, strict=strict)
            checks.append(apart)
        if found is not None and claim.counts and not claim.drop_matched:
            checks.append(check_counts(found, aligned.kept, read))
        survivors = int(np.count_nonzero(aligned.kept))
        removals = documents - survivors if found is None else int(np.count_nonzero(found.rows < read.rows))
    return Verification(
        output=output,
        audit=None if audit is None else str(audit),
        method=claim.method,
        promise=claim.promise(strict=strict),
        similarity=claim.compared_by,
        min_similarity=claim.min_similarity,
        documents=documents,
        survivors=survivors,
        removed=removals,
        checks=tuple(checks),
        missed=missed,
        seconds=progress.seconds | {"total": round(sum(progress.seconds.values()), 3)},
    )


def _demand_texts(corpus: FileCorpus, claim: Claim) -> None:
    """Refuse inputs without a text, and say so if their fingerprints were brought in: then they need not have one."""
    try:
        corpus.check()
    except InputError:
        brought = [
            each.reading[FINGERPRINT] for each in claim.shards or () if each.reading and FINGERPRINT in each.reading
        ]
        if not brought:
            raise
        column = claim.reading.columns().text[0]
        raise InputError(
            f'The run compared the fingerprints that were brought in from {corpus.shards[0].name}, which has no column "{column}", '
            "so there are no texts to verify it by. If another column has them, name it with `text` to `neardup apply`."
        ) from None


def _refuse_annotated(output: FileCorpus, inputs: FileCorpus) -> None:
    """Refuse an output of `annotate`, which has all rows."""

    def refuses(corpus: FileCorpus) -> bool:
        try:
            corpus.check(ANNOTATIONS)
        except InputError:
            return True
        return False

    if refuses(output) and not refuses(inputs):
        raise InputError(
            f"{output.shards[0].name} has the columns of `neardup dedup --annotate`, so it has all rows. Verify an output of "
            "survivors: run again without the flag, or write the rows where `is_duplicate` is false."
        )


@contextlib.contextmanager
def _opened_reference(
    claim: Claim,
    corpus: FileCorpus,
    options: DedupOptions,
    temporary: TemporaryFolder,
    on_error: str,
    progress: Progress,
) -> Iterator[Reference | None]:
    if not claim.against:
        yield None
        return
    if any(map(is_store, claim.against)):
        with open_verified_store(
            claim.against,
            claim.recipe,
            claim.reading,
            options,
            recorded=claim.store,
            has_summary=claim.method is not None,
        ) as store:
            yield store
        return
    yield open_reference(
        claim.against,
        corpus,
        claim.recipe,
        claim.reading,
        options,
        temporary=temporary,
        on_error=on_error,
        progress=progress,
        together=claim.together,
    )


def _row_of(read: ReadCorpus, reference: Reference | None) -> RowOf:
    """Finds the row of the survivor that a line names, over the inputs and the reference; -1 if there is no such row."""
    starts = dict(_starts(reference))
    valid = read.documents.valid

    def row_of(line: Line) -> int:
        row = line["survivor_row"]
        if row is None:
            first, rows = starts.get(line.get("reference"), (0, 0))
            inside = line.get("reference_row")
            if inside is None or not 0 <= inside < rows:
                return -1
            row = read.rows + first + inside
        elif not 0 <= row < read.rows:
            return -1
        return int(row) if valid[row] else -1

    return row_of


def _superseded(audit: Place, read: ReadCorpus, reference: Reference | None) -> Iterator[Line]:
    """The lines of the list beside an audit, with rows that are counted over the inputs and the reference."""
    place, starts = superseded_beside(audit), dict(_starts(reference))
    if not place.is_file():
        raise InputError(
            f"{place}, which lists what does not stay of the reference, is missing. Put it beside the audit."
        )
    for line in read_superseded(place):
        first, rows = starts.get(line["file"], (0, 0))
        inside = 0 <= line["row"] < rows
        yield {**line, "row": read.rows + first + line["row"] if inside else len(read.documents)}


def _starts(reference: Reference | None) -> Iterator[tuple[str | None, tuple[int, int]]]:
    """The name of each file of the reference, with its first row and the number of its rows."""
    if reference is None:
        return
    if isinstance(reference, StoreReference):
        yield reference.name, (0, reference.rows)
        return
    if isinstance(reference, FileCorpus):
        for number, shard in enumerate(reference.shards):
            rows = reference.rows_of(number)
            yield shard.name, (rows.start, rows.stop - rows.start)
        return
    first = 0
    for stored in reference.origins:
        yield stored.name, (first, stored.rows)
        first += stored.rows
