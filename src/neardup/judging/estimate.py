"""Estimate the memory, temporary files and time of a run over files, by running a sample on this machine."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack, cast

from neardup.dedup import find_duplicates, room_for_elements
from neardup.fingerprints.documents import FirstPass, read_documents
from neardup.io.corpora.file_corpus import FileCorpus, open_corpus
from neardup.io.corpora.reading import DedupFileOptions, recipe_for, split_options
from neardup.io.corpora.sample import Sample, SampledCorpus, read_sample
from neardup.judging.extrapolation import Extrapolation, pairs_of
from neardup.judging.run_cost import CostEstimate
from neardup.matching.candidates.auto import Choice, choose, needless_for
from neardup.matching.candidates.costs import Size
from neardup.matching.candidates.task import Task
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.resolved_options import resolve
from neardup.matching.similarities.element_store import ElementStore
from neardup.options import DedupOptions, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import METHODS, Method, Promise
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.resources.limits import memory_bytes
from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.threads import thread_count
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.decisions import Findings, in_order_of_preference
from neardup.text.preference import Kinds, kinds_in
from neardup.text.scripts import ScriptCount

PILOT_DOCUMENTS = 1_000
"""Run first to exclude compilation and loading from the timing, and to estimate the number of pairs."""
MAX_PAIRS = 2_000_000
"""Samples expected to exceed this are thinned, to keep the estimate fast."""


def estimate_files(
    inputs: str | Path | Sequence[str | Path],
    *,
    recipe: RecipeLike | None = None,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[DedupFileOptions],
) -> CostEstimate:
    """Estimate what `deduplicate_files` takes, from about 32 MB of the inputs: the first rows of shards spread over them.

    The sample is de-duplicated on this machine, timed by stage, and extrapolated by bytes. The number of pairs is estimated
    as in `neardup plan`. A sample seldom has both of two near-duplicates that lie far apart, so a corpus with many of them
    takes longer than estimated.

    Args:
        inputs, recipe, on_error, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text …) and of `DedupOptions`.

    Raises:
        InputError, OptionError, RowError, DataError: as `deduplicate_files`, for the sampled rows.
    """
    (reading, chosen), progress = split_options(options, estimate_files), progress_of(progress)
    with temporary_folder(chosen.resources.files) as spool:
        corpus = open_corpus(
            inputs,
            reading,
            temporary=spool,
            values=chosen.columns,
            asked_by=chosen.columns_asked_by,
            on_error=on_error,
            progress=progress,
            resources=chosen.resources,
        )
        corpus.check()
        with progress.stage("estimate"):
            return estimate_corpus(corpus, recipe_for(reading, recipe_of(recipe, chosen.version)), chosen)


def estimate_corpus(corpus: FileCorpus, recipe: Recipe, options: DedupOptions) -> CostEstimate:
    """Same as `estimate_files`, for files that were found and checked, and are read with the values of `options.columns`."""
    options = resolve(recipe, options).options
    corpus.check_sources(tuple(options.prefer_source))
    method, before = options.taken(), peak_memory_bytes()
    sample = read_sample(corpus)
    demand_order(sample, options, skips=corpus.skips)
    is_joined = not METHODS[method].is_by_distance and options.min_similarity > 0
    chosen = choose_by_sample(sample, recipe, options) if is_joined else None
    return estimate_sample(sample, recipe, options, chosen, before=before)[0]


def estimate_sample(
    sample: Sample, recipe: Recipe, options: DedupOptions, chosen: "SampledChoice | None", *, before: int
) -> tuple[CostEstimate, float]:
    """What a run over all that a sample stands for takes, and how many times as long as on the reference machine work takes here.

    Args:
        sample: will be de-duplicated.
        recipe, options: of the run, with the method that the recipe brings.
        chosen: the choice by the same sample, if the method joins by similarity.
        before: the peak memory of the process before the sample was read.
    """
    threads, method, reason = thread_count(options.threads), options.taken(), None
    choice = None if chosen is None else chosen.choice
    if choice is not None and METHODS[method].promise is Promise.CHOSEN:
        method, reason = cast(Method, choice.method), choice.reason
    progress = Progress()
    taken = options.changed(method=method)
    pilot = sample.thinned(max(1, len(sample) // PILOT_DOCUMENTS))
    seen = find_duplicates(_corpus_of(pilot, options), recipe, taken, Progress())
    kept_bytes = round(_element_bytes(seen, options) * pilot.growth)
    keeps = kept_bytes <= room_for_elements(options)
    part = _with_few_pairs(sample, len(pilot), pairs_of(seen))
    findings = find_duplicates(_corpus_of(part, options), recipe, taken, progress, keep_elements=keeps)
    found = {each.method: each for each in choice.estimates}.get(method) if choice else None
    took = progress.seconds
    if reason is not None and chosen is not None:  # timed on the whole sample, of which `part` may be a part
        took["choose"] = chosen.seconds * len(part) / max(1, len(sample))
    cost = Extrapolation(part, findings, took, found, recipe, taken, threads, kept_bytes if keeps else 0)
    estimate = CostEstimate(
        documents=round(len(sample) * sample.growth),
        input_bytes=sample.total_bytes,
        sampled_documents=len(sample),
        sampled_bytes=sample.read_bytes,
        method=method,
        reason=reason,
        memory_bytes=before + cost.memory_bytes(),
        limit_bytes=memory_bytes(options.memory),
        temporary_bytes=cost.temporary_bytes(),
        temporary_limit_bytes=options.resources.files.limit,
        seconds=cost.seconds(),
    )
    return estimate, cost.slowness


class SampledChoice(NamedTuple):
    """A choice between methods by a sample.

    Attributes:
        choice: for all that the sample stands for.
        texts: how many different texts were read.
        seconds: what choosing took; 0 if a run need not look at the texts to choose.
        advice: for scripts of the texts, or None.
    """

    choice: Choice
    texts: int
    seconds: float
    advice: str | None = None


def choose_by_sample(
    sample: Sample, recipe: Recipe, options: DedupOptions, *, progress: Progress | None = None
) -> SampledChoice:
    """Estimate exact and minhash for all that the sample stands for."""
    progress = progress or Progress()
    corpus, room = _corpus_of(sample, options, with_values=False), room_for_elements(options)
    scripts = ScriptCount.wanted(recipe, options.compared_by)
    with ElementStore.of_join(options.compared_by, recipe, resources=options.resources, room=room) as kept:
        with progress.stage("fingerprint"):
            how = FirstPass(side_pass=kept, scripts=scripts)
            read = read_documents(corpus, recipe, progress=progress, resources=options.resources, how=how)
        if not kept.is_full:
            kept.finish(len(read))
        rows = in_order_of_preference(read, DedupOptions())
        distinct = rows[exact_representatives(read, rows) == rows]
        task = Task(
            corpus=corpus,
            documents=read,
            rows=distinct,
            representative=distinct,
            recipe=recipe,
            options=options,
            progress=progress,
            kept=None if kept.is_full else kept,  # as in a run that has room for them
            survivors_first=options.cluster == "star",
        )
        task = task.at_least(task.min_tokens("auto"))
        documents = round(sample.growth * len(task.rows)) if sample.growth > 1 else None
        found = choose(task, documents=documents)
        tokens = round(sample.growth * int(read.tokens[task.rows].sum()))
    looked_at = needless_for(options, Size(found.documents, tokens)) is None
    advice = None if scripts is None else scripts.advice(recipe)
    return SampledChoice(found, len(task.rows), progress.seconds["choose"] if looked_at else 0.0, advice)


def _corpus_of(sample: Sample, options: DedupOptions, *, with_values: bool = True) -> SampledCorpus:
    return SampledCorpus(sample, with_values=with_values, resources=options.resources)


def _place(ids: Any, row: int) -> str:
    return f"id {ids[row].as_py()}"


def demand_order(sample: Sample, options: DedupOptions, *, skips: bool | None) -> None:
    """Refuse values without an order by the ids of their documents: rows of a sample have other numbers than those of the corpus.

    Raises:
        DataError: values that `keep` compares do not fit `keep_as`, or one another.
    """
    column = options.preferred_by
    if column is None or column not in options.columns or (skips and options.keep_as is not None):
        return
    at, kinds = options.columns.index(column), Kinds()
    for batch in sample.batches:
        kinds |= kinds_in(batch.values[at], partial(_place, batch.ids))
    kinds.compared_as(column, options.keep_as, can_skip=skips is not None)


def _with_few_pairs(sample: Sample, pilot_documents: int, pilot_pairs: float) -> Sample:
    """Return the sample, or a part of it if joining it would take long, to judge by the pairs of the pilot."""
    expected = pilot_pairs * (len(sample) / max(1, pilot_documents)) ** 2
    return sample if expected <= MAX_PAIRS else sample.thinned(math.ceil(math.sqrt(expected / MAX_PAIRS)))


def _element_bytes(findings: Findings, options: DedupOptions) -> int:
    """Approximate file size of the documents' elements."""
    tokens = findings.documents.tokens
    return int(tokens[tokens > 0].sum()) * SIMILARITIES[options.measure].element_bytes
