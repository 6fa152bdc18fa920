"""Plan a run: what all of it would take, and what each method would take of that; or a search of fingerprints."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError, is_integer
from neardup.fingerprints.files.fingerprint_file import read_fingerprint_file
from neardup.hamming.block_plan import BlockPlan, plan_join
from neardup.hamming.index.planning.index_plan import IndexPlan
from neardup.hamming.index.planning.plan_index import plan as plan_index
from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.reading import Reading, recipe_for, split_options
from neardup.io.corpora.sample import read_sample
from neardup.judging.estimate import choose_by_sample, demand_order, estimate_sample
from neardup.judging.evaluation.options import PlanFileOptions
from neardup.judging.extrapolation import DOCUMENT_BYTES, MEMORY_BYTES_PER_BATCH
from neardup.judging.passage_estimate import estimate_passages
from neardup.judging.run_cost import CostEstimate
from neardup.matching.candidates.auto import is_slow
from neardup.matching.candidates.costs import TYPICAL, Estimate, typical_estimates
from neardup.matching.resolved_options import resolve
from neardup.options import DedupOptions, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.tables.methods import BY_DISTANCE
from neardup.resources.limits import memory_bytes
from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.threads import thread_count
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.repeats.options import PassageOptions


@dataclass(frozen=True)
class JoinPlan:
    """The estimated cost of a run, or of a search of fingerprints.

    Attributes:
        documents: the number of documents that are planned for.
        based_on: source of the estimates, in words.
        estimates: what each method would take to find and to verify the pairs, on one processor of the reference machine; empty for
            a join of fingerprints.
        method: the method that `auto` would choose.
        reason: why; None without texts.
        fingerprints: the plan for joining fingerprints, if a distance was given, or the recipe brings one.
        index: the estimated cost of an index of the fingerprints, by method, if a distance was given.
        different_texts: how many of the documents have different texts; None without texts.
        run: what the whole run would take; None for fingerprints. With texts, its times are of this machine, as those of
            `estimate_files`; without, of the reference machine.
        slowness: how many times as long as on the reference machine work takes on that of `run`.
        advice: for scripts of the texts, in a sentence; None if there is none.
    """

    documents: int
    based_on: str
    estimates: tuple[Estimate, ...]
    method: str | None
    reason: str | None
    fingerprints: BlockPlan | None
    index: IndexPlan | None = None
    different_texts: int | None = None
    run: CostEstimate | None = None
    slowness: float = 1.0
    advice: str | None = None

    def method_seconds(self, threads: int) -> dict[str, float]:
        """For each of `estimates`, the seconds that the method takes of the run, on so many threads of the machine of `run`."""
        found = {each.method: each.seconds * self.slowness / threads for each in self.estimates}
        if self.run is not None and self.run.method in found:
            found[self.run.method] = self.run.parts["method"]
        return found

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)


def plan_files(
    inputs: str | Path | Sequence[str | Path] = (),
    *,
    documents: int | None = None,
    min_tokens: int | None = None,
    bits: int | None = None,
    fingerprints: Sequence[str | Path] = (),
    check: bool = False,
    recipe: RecipeLike | None = None,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[PlanFileOptions],
) -> JoinPlan:
    """Estimate the time, memory and disk that a run takes, as `neardup plan` does.

    With `max_distance`, the plan is for fingerprints: a join within this distance, and an index by each method. Otherwise it is for
    a run over texts by their similarity: what all of it takes, as `estimate_files` says, and what each method takes of that. With
    `min_tokens`, it is for a run that cuts repeated passages.

    Args:
        inputs: texts, as in `deduplicate_files`; about 32 MB of them are read and de-duplicated on this machine. Without texts, the
            figures of a known corpus are extrapolated, for the machine of the benchmarks.
        documents: the number of documents to plan for; by default, that of the inputs or of the fingerprints.
        min_tokens: plan a run of `passages_files`, which cuts passages of so many tokens; for `inputs`.
        bits: the bits of the fingerprints, for `max_distance`; by default those of the files, or 128.
        fingerprints: fingerprint files, for `max_distance`. The plan of an index is based on the distances among them.
        check: measure this machine and an index of a sample, for `max_distance`; see `neardup.plan`.
        recipe, on_error, progress: as in `deduplicate_files`; rows that are skipped are left out of the sample.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text …);
            min_similarity, similarity, max_distance, threads, memory, temp_dir, temp_limit of `DedupOptions`, and those that
            choose survivors: guard, keep, within, cluster, prefer_source.

    Raises:
        OptionError: neither texts nor fingerprints nor a number of documents are given, or a value is not allowed.
        InputError, DataError: as in `deduplicate_files`.
    """
    (reading, chosen), progress = split_options(options, plan_files), progress_of(progress)
    if documents is not None and (not is_integer(documents) or documents < 1):
        raise OptionError(f"`documents={documents!r}`: give an integer from 1 up.")
    documents = None if documents is None else int(documents)  # JSON cannot hold numpy's
    if min_tokens is not None:
        given = {
            "documents": documents,
            "max_distance": chosen.max_distance,
            "bits": bits,
            "fingerprints": fingerprints,
            "check": check,
        }
        defaults = DedupOptions()
        given |= {
            name: getattr(chosen, name)
            for name in ("min_similarity", "cluster")
            if getattr(chosen, name) != getattr(defaults, name)
        }
        if unfit := [name for name, value in given.items() if value not in (None, (), False)]:
            names = ", ".join(f"`{name}`" for name in unfit)
            raise OptionError(
                f"`min_tokens={min_tokens!r}` plans a run that cuts passages, which has no {names}. Leave one of them out."
            )
        if not inputs:
            raise OptionError(
                f"`min_tokens={min_tokens!r}`: a run that cuts passages is planned by a sample. Give texts as `inputs`."
            )
        return _of_passages(inputs, min_tokens, reading, recipe, chosen, on_error, progress)
    if chosen.max_distance is None and (fingerprints or check):
        raise OptionError(
            "`fingerprints` and `check` are for the plan of an index. Give `max_distance`, or leave them out."
        )
    if not inputs and not fingerprints and documents is None:
        raise OptionError("Give texts to sample as `inputs`, or their number as `documents`.")
    if chosen.max_distance is None:
        return _of_texts(inputs, documents, reading, recipe, chosen, on_error, progress)
    if inputs:
        raise OptionError(
            "A plan for `max_distance` needs the number of documents, not their texts. Give `documents`, or leave out "
            "`max_distance`."
        )
    rows = _fingerprints(fingerprints) if fingerprints else None
    index = plan_index(
        documents, max_distance=chosen.max_distance, bits=bits, memory=chosen.memory, fingerprints=rows, check=check
    )
    blocks = plan_join(index.documents, bits=index.bits, max_distance=index.max_distance, threads=chosen.threads)
    return JoinPlan(index.documents, "fingerprints whose bits are independent", (), BY_DISTANCE, None, blocks, index)


def _of_texts(
    inputs: str | Path | Sequence[str | Path],
    documents: int | None,
    reading: Reading,
    recipe: RecipeLike | None,
    options: DedupOptions,
    on_error: OnError,
    progress: Progress,
) -> JoinPlan:
    """Plan a join of texts by similarity, from a sample of the inputs if there are any."""
    if options.min_similarity == 0:
        raise OptionError(
            "`min_similarity=0.0`: a join of texts is by its similarity. Give one above 0, or `max_distance` for fingerprints."
        )
    made_by = recipe_for(reading, recipe_of(recipe, options.version))
    if not inputs:
        return _typical(documents or 1, made_by, options)
    return _sampled(inputs, documents, reading, made_by, options, on_error, progress)


def _of_passages(
    inputs: str | Path | Sequence[str | Path],
    min_tokens: int,
    reading: Reading,
    recipe: RecipeLike | None,
    options: DedupOptions,
    on_error: OnError,
    progress: Progress,
) -> JoinPlan:
    """Plan a run that cuts passages, from a sample of the inputs."""
    names = ("similarity", "keep", "keep_as", "within", "prefer_source", "threads", "memory", "temp_dir", "temp_limit")
    chosen = PassageOptions(min_tokens=min_tokens, **{name: getattr(options, name) for name in names})
    with temporary_folder(chosen.resources.files) as spool:
        corpus = open_corpus(
            inputs,
            reading,
            temporary=spool,
            values=chosen.order.columns,
            asked_by=chosen.order.columns_asked_by,
            on_error=on_error,
            resources=chosen.resources,
        )
        corpus.check()
        with progress.stage("estimate"):
            run = estimate_passages(corpus, None, recipe_of(recipe), chosen, 1)  # several columns take as long as one
    return JoinPlan(
        run.documents, f"a sample of {counted(run.sampled_documents, 'document')}", (), None, None, None, run=run
    )


def _fingerprints(paths: Sequence[str | Path]) -> Array:
    """Read the fingerprints of all files: uint64[n, words]."""
    files = [read_fingerprint_file(path) for path in paths]
    for path, file in zip(paths, files, strict=True):
        check_same(files[0].recipe, file.recipe, str(path), f"that of {paths[0]}")
    return np.concatenate([file.documents.fingerprints for file in files])


def _typical(documents: int, recipe: Recipe, options: DedupOptions) -> JoinPlan:
    """Plan from the measurements of a known corpus.

    Raises:
        OptionError: the options are not those of the measurements.
    """
    if options.similarity != "jaccard":
        raise OptionError(
            f"`similarity={str(options.compared_by)!r}`: without texts only jaccard is known. Give texts."
        )
    if options.min_similarity != TYPICAL.min_similarity:
        raise OptionError(
            f"`min_similarity={options.min_similarity}`: without texts only {TYPICAL.min_similarity} is known. Give texts."
        )
    low, high = TYPICAL.measured
    based_on = "pieces of 3 KB of the texts of Python packages"
    if not low <= documents <= high:
        based_on += f"; an extrapolation, measured from {low:,} to {high:,} documents"
    estimates = typical_estimates(documents, memory=memory_bytes(options.memory))
    exact, minhash = estimates
    taken = minhash if is_slow(exact, minhash) else exact
    run = _typical_run(documents, taken, recipe, options)
    return JoinPlan(documents, based_on, estimates, taken.method, None, None, run=run)


def _sampled(
    inputs: str | Path | Sequence[str | Path],
    documents: int | None,
    reading: Reading,
    recipe: Recipe,
    options: DedupOptions,
    on_error: OnError,
    progress: Progress,
) -> JoinPlan:
    resolved = resolve(recipe, options)
    with temporary_folder(options.resources.files) as spool:
        corpus = open_corpus(
            inputs,
            reading,
            temporary=spool,
            values=options.columns,
            asked_by=options.columns_asked_by,
            on_error=on_error,
            resources=options.resources,
        )
        corpus.check()
        corpus.check_sources(tuple(options.prefer_source))
        before = peak_memory_bytes()
        sample = read_sample(corpus)
        demand_order(sample, options, skips=corpus.skips)
        planned = sample if documents is None else sample.standing_for(documents)
        chosen = choose_by_sample(planned, recipe, options, progress=progress)
        by_distance = resolved.method.is_by_distance
        with progress.stage("estimate"):
            shown = None if by_distance else chosen
            run, slowness = estimate_sample(planned, recipe, resolved.options, shown, before=before)
    choice = chosen.choice
    based_on = f"a sample of {counted(run.sampled_documents, 'document')} of {counted(chosen.texts, 'different text')}"
    plan = JoinPlan(
        run.documents,
        based_on,
        choice.estimates,
        choice.method,
        choice.reason,
        None,
        different_texts=choice.documents,
        run=run,
        slowness=slowness,
        advice=chosen.advice,
    )
    if not by_distance:
        return plan
    limit = resolved.max_distance or 0
    blocks = plan_join(choice.documents, bits=64 * recipe.words, max_distance=limit, threads=options.threads)
    return dataclasses.replace(plan, method=BY_DISTANCE, reason=resolved.note, fingerprints=blocks)


def _typical_run(documents: int, estimate: Estimate, recipe: Recipe, options: DedupOptions) -> CostEstimate:
    """What a run takes on the machine of the benchmarks; `estimate`: of the method that it would take."""
    count, tokens = thread_count(options.threads), TYPICAL.at(TYPICAL.tokens, documents)
    size = round(tokens * TYPICAL.token_bytes)
    seconds = {
        "fingerprint": round(tokens * TYPICAL.read_seconds / count, 3),
        "join": round(estimate.seconds / count, 3),
        "write": round(size * TYPICAL.write_seconds, 3),
    }
    kept = documents * (DOCUMENT_BYTES + 16 * recipe.words)
    return CostEstimate(
        documents=documents,
        input_bytes=size,
        sampled_documents=0,
        sampled_bytes=0,
        method=estimate.method,
        reason=None,
        memory_bytes=kept + estimate.memory_bytes + (count + 1) * MEMORY_BYTES_PER_BATCH,
        limit_bytes=memory_bytes(options.memory),
        temporary_bytes=estimate.disk_bytes,
        temporary_limit_bytes=options.resources.files.limit,
        seconds=seconds | {"total": round(sum(seconds.values()), 3)},
    )
