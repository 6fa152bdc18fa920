"""Runs that cut repeated passages: by the serial engine, and by one process."""

import tempfile
from pathlib import Path

import pyarrow as pa

from engine_runs import Changed
from engines.corpus_parts import CorpusParts
from neardup.engines.repeats.flow import cut_passages
from neardup.engines.repeats.summary import totals_of
from neardup.engines.repeats.work import PassageWork
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.outcomes import find_passages
from neardup.survivors.repeats.text_cuts import Span, without_spans
from neardup.survivors.repeats.token_stream import SEPARATOR


def corpora_of(rows, reference, options):
    within = [options.within] if options.within else []
    given = TableCorpus(reference, values=within, called="against", names_are_optional=True) if reference else None
    return TableCorpus(rows, values=options.order.columns), given


def by_engine(rows, reference=(), *, columns=1, size=7, buckets=16, change=lambda folder: None, recipe=None, **options):
    """The texts that are left, by row, None for a document that is removed; the lines of the log; and the counts."""
    options = PassageOptions(**options)
    corpus, given = corpora_of(rows, reference, options)
    parts = CorpusParts(corpus, options.order, size=size, reference=given)
    work = PassageWork.of_passages(recipe or Recipe(), options, columns)
    with tempfile.TemporaryDirectory() as folder:
        engine = Changed(Path(folder), parts, buckets=buckets, change=change)
        found = cut_passages(engine, work)
        counts = totals_of(engine, found)
        outcomes, log = (engine.collect(each) for each in (found.outcomes, found.log))
    texts = [row["text"] for row in rows]
    at, of_reference = parts.rows(outcomes.column("doc").to_numpy())
    assert not of_reference.any()
    for row, text, is_removed in zip(
        at.tolist(), *(outcomes.column(n).to_pylist() for n in ("text", "is_removed")), strict=True
    ):
        texts[row] = None if is_removed else text
    lines = log.sort_by([("doc", "ascending"), ("place", "ascending")]).to_pylist()
    docs, copies = (parts.rows(pa.array([line[n] for line in lines], pa.int64()).to_numpy()) for n in ("doc", "copy"))
    for line, row, copy, is_reference in zip(
        lines, docs[0].tolist(), copies[0].tolist(), copies[1].tolist(), strict=True
    ):
        line |= {"doc": row, "copy": (copy, is_reference), "place": None}
    return texts, lines, counts


def by_one_process(rows, reference=(), *, columns=1, recipe=None, **options):
    """The same by `find_passages`."""
    options = PassageOptions(**options)
    corpus, given = corpora_of(rows, reference, options)
    found = find_passages(corpus, recipe or Recipe(), options, Progress(), reference=given, columns=columns)
    texts, repeats = [row["text"] for row in rows], found.repeats
    spans, separated = {}, set()
    for row, column, first, end, is_separated in found.cut.spans.tolist():
        spans.setdefault((row, column), []).append(Span(first, end, bool(is_separated)))
        separated |= {(row, column, end)} if is_separated else set()
    for (row, column), some in spans.items():
        parts = texts[row].split(SEPARATOR)
        texts[row] = SEPARATOR.join([*parts[:column], without_spans(parts[column], some), *parts[column + 1 :]])
    removed = set(found.emptied.tolist())
    ids = repeats.documents.ids.to_pylist()
    lines = []
    for (place, earlier, count, column, first, end), copy, is_cut in zip(
        found.cut.segments.tolist(), found.copies.tolist(), found.in_cuts.tolist(), strict=True
    ):
        row, other = (int(each) for each in repeats.places.rows_of([place, earlier]))
        is_reference = other >= repeats.inputs
        lines.append(
            {
                "doc": row, "place": None, "id": ids[row], "column": column, "start": first, "end": end, "tokens": count,
                "copy": (other - repeats.inputs * is_reference, is_reference), "copy_id": ids[other],
                "copy_in_reference": is_reference, "copy_column": copy[0], "copy_start": copy[1], "copy_end": copy[2], "copy_is_cut": is_cut,
                "separator": " " if (row, column, end) in separated else None, "document_removed": row in removed,
            }
        )  # fmt: skip
    counts = {
        "tokens": int(repeats.documents.tokens[: repeats.inputs].clip(0).sum()),
        "changed": len(found.cut.rows),
        "removed": len(removed),
        "kept_for_copies": found.kept_for_copies,
        "segments": len(lines),
        "cut_tokens": sum(line["tokens"] for line in lines),
        "cut_characters": sum(line["end"] - line["start"] for line in lines),
    }
    return [None if row in removed else text for row, text in enumerate(texts)], lines, counts
