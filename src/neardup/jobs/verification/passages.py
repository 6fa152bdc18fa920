"""Verify a finished run that cut repeated passages: its files, and the steps."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from neardup.errors import InputError
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.storage.places import Place
from neardup.jobs.removal.reference import shards_of_reference
from neardup.judging.verification.passages.checks import (
    check_counts,
    check_passages,
    check_repeated,
    check_stated,
    removed_by_rule,
)
from neardup.judging.verification.passages.claim import PassagesClaim
from neardup.judging.verification.passages.cut_lines import cut_lines_of
from neardup.judging.verification.passages.found import check_texts, read_windows
from neardup.judging.verification.passages.texts import TextChecker
from neardup.judging.verification.passages.windows import Order, Windows
from neardup.judging.verification.result import Verification
from neardup.judging.verification.rows import align, check_rows, read_keys
from neardup.progress import Progress
from neardup.resources.unfinished import TemporaryFolder
from neardup.survivors.decisions import in_order_of_preference
from neardup.survivors.repeats.records.cut_log import ANNOTATION
from neardup.survivors.repeats.records.cut_log_reader import read_cut_log
from neardup.survivors.repeats.token_stream import SEPARATOR, TokenStream
from neardup.text.preference import groups_of


def verify_cuts(
    claim: PassagesClaim,
    shards: Sequence[Shard],
    written: Sequence[Shard],
    log: Place,
    progress: Progress,
    *,
    output: str,
    temporary: TemporaryFolder,
) -> Verification:
    """Verify a run; see `neardup.jobs.verification.verify.verify_files`. `shards`: of the inputs; `written`: of the output."""
    options, names = claim.options, tuple(claim.reading.text)
    order, resources, several = options.order, options.resources, len(names)
    how: dict[str, Any] = {"on_error": "skip", "progress": progress, "resources": resources}

    def columns(values: Iterable[str]) -> Columns:
        read = claim.reading.columns(values, asked_by=order.columns_asked_by)
        return dataclasses.replace(read, separator=SEPARATOR) if several > 1 else read

    corpus = FileCorpus(shards, columns(order.columns), refine=refuse_lone_numbers(shards), **how)
    corpus.check()
    corpus.check_sources(tuple(order.prefer_source))
    result = FileCorpus(written, dataclasses.replace(columns(()), html=None), demands_text=False, **how)
    result.check()
    _refuse_annotated(result, corpus)
    given: list[tuple[FileCorpus, Sequence[str]]] = [(corpus, order.columns)]
    reference = None
    if claim.against:
        others = shards_of_reference(claim.against, shards, claim.reading, temporary, takes="files of texts")
        within = [name for name in order.columns if name == order.grouped_by]
        reference = FileCorpus(others, columns(within), refine=refuse_lone_numbers(others), **how)
        reference.check()
        given.append((reference, within))
    stream = TokenStream(options.tokens_by, claim.recipe, several)
    with Windows(resources) as windows:
        with progress.stage("read"):
            documents, inputs = read_windows(given, stream, options.min_tokens, windows)
        sources = corpus.source_ranks(tuple(order.prefer_source))
        preferred = in_order_of_preference(documents, order, sources=sources, inputs=inputs, skips=corpus.skips)
        places = Order(documents.tokens, preferred, inputs)
        groups = None if order.grouped_by is None else groups_of(documents.values[order.grouped_by])
        compared = np.arange(len(documents)) if options.scope == "same-document" else groups
        with progress.stage("sort"):
            bits, halvings = windows.repeated(places, options.scope, compared), windows.halvings
    with progress.stage("read the log"):
        lines = cut_lines_of(read_cut_log(log), names, documents.valid, inputs, _starts(reference, inputs))
    with progress.stage("texts"):
        checker = TextChecker(lines, places, bits, halvings == 0, stream, options.min_tokens, options.align)
        texts = check_texts(corpus, reference, checker, documents)
    with progress.stage("read the output"):
        keys, readable = read_keys(result)

    def name(row: int) -> str:
        [file], rows = corpus.locate(np.array([row]))
        return f"{documents.ids[row].as_py()} (row {row}: {file}, row {int(rows[0])})"

    is_cut = np.zeros(len(documents), np.bool_)
    is_cut[lines.cuts.rows[lines.cuts.rows >= 0]] = True
    removed, kept_for_copies = removed_by_rule(lines, documents.tokens - texts.cut, is_cut, options.min_left)
    valid = documents.valid[:inputs]
    aligned = align(texts.keys, valid, removed[:inputs], keys, readable)
    if not aligned.ids_compared:
        progress.say("rows are compared by their texts: the inputs or the output have no ids")
    number = int(np.count_nonzero(valid))
    missing = np.flatnonzero(valid & ~removed[:inputs] & ~aligned.kept)
    rows = dataclasses.replace(
        check_rows(aligned, result, number, missing, name, with_audit=True),
        claim="every document is in the output without its passages, or was removed, once and in order",
    )
    tokens = int(documents.tokens[:inputs][valid].sum())
    checks = (
        rows,
        check_passages(lines, texts, places, options, groups),
        check_stated(lines, documents, removed, name, options.min_left),
        check_repeated(texts, tokens, options.min_tokens, halvings, name, options.align),
        check_counts(claim.counts, documents, inputs, lines, texts, removed, kept_for_copies, several),
    )
    return Verification(
        output=output,
        audit=str(log),
        method=None,
        promise="by theorem",
        similarity=str(options.similarity),
        min_similarity=1.0,
        documents=number,
        survivors=int(np.count_nonzero(aligned.kept)),
        removed=int(np.count_nonzero(removed)),
        checks=checks,
        missed=None,
        seconds=progress.seconds | {"total": round(sum(progress.seconds.values()), 3)},
        passages=f"{int(texts.cut.sum()):,} of {tokens:,} tokens were cut, as copies of what stands earlier",
    )


def _refuse_annotated(output: FileCorpus, inputs: FileCorpus) -> None:
    """Refuse an output of `annotate`, which has all rows."""
    for corpus, is_output in ((inputs, False), (output, True)):
        try:
            corpus.check((ANNOTATION,))
        except InputError:
            if not is_output:
                return
            raise InputError(
                f"{output.shards[0].name} has the column {ANNOTATION!r} of `neardup passages --annotate`, so it has all rows. "
                "Verify an output of documents: run again without the flag."
            ) from None


def _starts(reference: FileCorpus | None, inputs: int) -> dict[str, tuple[int, int]]:
    """The first row of each file of the reference, over the inputs and the reference, and how many rows it has."""
    if reference is None:
        return {}
    rows = [(shard.name, reference.rows_of(number)) for number, shard in enumerate(reference.shards)]
    return {name: (inputs + some.start, some.stop - some.start) for name, some in rows}
