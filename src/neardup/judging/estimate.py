"""Estimate the memory, temporary files and time of a run over files, by running a sample on this machine."""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, cast

import pyarrow as pa

from neardup.dedup import find_duplicates, room_for_elements
from neardup.display import duration, size_text
from neardup.fingerprints.documents import read_documents
from neardup.hamming.block_plan import plan_join
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.reading import DedupFileOptions, recipe_for, split_options
from neardup.io.sample import Sample, read_sample
from neardup.io.table_corpus import TableCorpus
from neardup.matching.candidates.auto import Choice, choose
from neardup.matching.candidates.costs import COUNT_SECONDS, Estimate
from neardup.matching.candidates.task import Task
from neardup.matching.distance_limit import distance_limit
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.recipe_decides import options_by_recipe
from neardup.options import DedupOptions, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.methods import METHODS, Method, Promise
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarities import SIMILARITIES
from neardup.resources.limits import memory_bytes
from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.shares import share_of
from neardup.resources.threads import thread_count
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.decisions import Findings, in_order_of_preference

PILOT_DOCUMENTS = 1_000
"""Run first to exclude compilation and loading from the timing, and to estimate the number of pairs."""
MOST_PAIRS = 2_000_000
"""Samples expected to exceed this are thinned, to keep the estimate fast."""
DOCUMENT_BYTES = 230
"""Peak memory per document, without its fingerprint and id."""
BATCH_MEMORY = 64 << 20
"""Memory per thread for batches in flight and what is computed from them."""
UNREAD_SHARE = 0.2
"""Cost of skipping a row, as a share of the cost of reading it."""
COPY_SECONDS = 2.5e-9
"""Time to copy one byte of the survivors."""


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """What a run would take, estimated from a sample; times are for this machine and the same number of threads.

    Attributes:
        documents: number of rows in all inputs.
        input_bytes: total file size on disk; sampled_bytes: how much of it was read.
        sampled_documents: number of documents in the sample.
        method: the method that would run; reason: why `auto` chose it, if it did.
        memory_bytes: peak resident memory, without mapped pages of temporary files; `limit_bytes`: the `memory` option.
        temporary_bytes: peak size of temporary files.
        seconds: time by stage, and `total`.
    """

    documents: int
    input_bytes: int
    sampled_documents: int
    sampled_bytes: int
    method: str
    reason: str | None
    memory_bytes: int
    limit_bytes: int
    temporary_bytes: int
    seconds: dict[str, float]

    def __repr__(self) -> str:
        return f"CostEstimate({self})"

    def __str__(self) -> str:
        return (
            f"{self.documents:,} documents in {size_text(self.input_bytes)} take about {duration(self.seconds['total'])}, "
            f"{size_text(self.memory_bytes)} of memory and {size_text(self.temporary_bytes)} of temporary files, by method "
            f"{self.method}; from a sample of {self.sampled_documents:,} documents in {size_text(self.sampled_bytes)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


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
        **options: the fields of `neardup.io.reading.Reading` (text …) and of `DedupOptions`.

    Raises:
        InputError, OptionError, RowError, DataError: as `deduplicate_files`, for the sampled rows.
    """
    (reading, chosen), progress = split_options(options, estimate_files), progress_of(progress)
    with temporary_folder(chosen.temp_dir) as spool:
        corpus = open_corpus(
            inputs, reading, temporary=spool, on_error=on_error, progress=progress, resources=chosen.resources
        )
        corpus.check()
        with progress.stage("estimate"):
            return estimate_corpus(corpus, recipe_for(reading, recipe_of(recipe)), chosen)


def estimate_corpus(corpus: FileCorpus, recipe: Recipe, options: DedupOptions) -> CostEstimate:
    """Same as `estimate_files`, for files that were found and checked."""
    options = options_by_recipe(recipe, options)
    distance_limit(recipe, options)  # refuses bad options before any work
    threads = thread_count(options.threads)
    before = peak_memory_bytes()
    sample = read_sample(corpus)
    choice, choosing = None, Progress()
    method, reason = options.taken(), None
    if not METHODS[method].is_by_distance and options.min_similarity > 0:
        choice = choose_by_sample(sample, recipe, options, progress=choosing)[0]
        if METHODS[method].promise is Promise.CHOSEN:
            method, reason = cast(Method, choice.method), choice.reason
    progress = Progress()
    taken = dataclasses.replace(options, method=method)
    pilot = sample.thinned(max(1, len(sample) // PILOT_DOCUMENTS))
    seen = find_duplicates(_table(pilot, options), recipe, taken, Progress())
    kept_bytes = round(_element_bytes(seen, options) * pilot.growth)
    keeps = kept_bytes <= room_for_elements(options)
    part = _with_few_pairs(sample, len(pilot), _pairs(seen))
    findings = find_duplicates(_table(part, options), recipe, taken, progress, keep_elements=keeps)
    found = {each.method: each for each in choice.estimates}.get(method) if choice else None
    took = progress.seconds
    if reason is not None:  # timed on the whole sample, of which `part` may be a part
        took["choose"] = choosing.seconds["choose"] * len(part) / max(1, len(sample))
    cost = _Extrapolation(part, findings, took, found, recipe, taken, threads, kept_bytes if keeps else 0)
    return CostEstimate(
        documents=round(len(sample) * sample.growth),
        input_bytes=sample.total_bytes,
        sampled_documents=len(sample),
        sampled_bytes=sample.read_bytes,
        method=method,
        reason=reason,
        memory_bytes=before + cost.memory_bytes(),
        limit_bytes=memory_bytes(options.memory),
        temporary_bytes=cost.temporary_bytes(),
        seconds=cost.seconds(),
    )


def choose_by_sample(
    sample: Sample,
    recipe: Recipe,
    options: DedupOptions,
    *,
    documents: int | None = None,
    progress: Watcher = None,
) -> tuple[Choice, int]:
    """Estimate exact and minhash for all that the sample stands for, or for `documents`; also return how many texts were read."""
    progress = progress_of(progress)
    corpus = _table(sample, options)
    with progress.stage("fingerprint"):
        found = read_documents(corpus, recipe, progress=progress, resources=options.resources)
    rows = in_order_of_preference(found, DedupOptions())
    distinct = rows[exact_representatives(found, rows) == rows]
    task = Task(
        corpus=corpus,
        documents=found,
        rows=distinct,
        representative=distinct,
        recipe=recipe,
        options=options,
        progress=progress,
        survivors_first=options.cluster == "star",
    )
    task = task.at_least(task.min_tokens("auto"))
    if documents is None and sample.growth > 1:
        documents = round(sample.growth * len(task.rows))
    return choose(task, documents=documents), len(task.rows)


def _table(sample: Sample, options: DedupOptions) -> TableCorpus:
    return TableCorpus(pa.chunked_array(sample.texts, pa.large_string()), resources=options.resources)


def _with_few_pairs(sample: Sample, pilot_documents: int, pilot_pairs: float) -> Sample:
    """Return the sample, or a part of it if joining it would take long, to judge by the pairs of the pilot."""
    expected = pilot_pairs * (len(sample) / max(1, pilot_documents)) ** 2
    return sample if expected <= MOST_PAIRS else sample.thinned(math.ceil(math.sqrt(expected / MOST_PAIRS)))


def _element_bytes(findings: Findings, options: DedupOptions) -> int:
    """Approximate file size of the documents' elements."""
    tokens = findings.documents.tokens
    return int(tokens[tokens > 0].sum()) * SIMILARITIES[options.measure].element_bytes


def _pairs(findings: Findings) -> float:
    return len(findings.found.candidates.near) / 2


@dataclass(frozen=True, slots=True)
class _Extrapolation:
    """Extrapolation of a de-duplicated sample to the whole corpus."""

    sample: Sample
    findings: Findings
    took: dict[str, float]
    estimate: Estimate | None
    recipe: Recipe
    options: DedupOptions
    threads: int
    kept_bytes: int
    """Size of the elements of all texts, if the first pass keeps them; 0 if later passes read the texts again."""

    @property
    def documents(self) -> float:
        return len(self.sample) * self.sample.growth

    @property
    def pairs(self) -> float:
        """Estimated candidates among all documents."""
        seen = _pairs(self.findings)
        if self.estimate is None:  # by distance: grows with the square of the documents
            return seen * self.sample.growth**2
        return max(self.estimate.candidates, seen * self.sample.growth)

    def seconds(self) -> dict[str, float]:
        growth, reading = self.sample.growth, self.sample.seconds * self.sample.growth
        row = METHODS[self.options.method]
        passes = () if row.keeps_elements and self.kept_bytes else row.passes
        found = {}
        for name, seconds in self.took.items():
            found[name] = seconds * growth
            if name == "fingerprint" or name in passes:
                found[name] += reading
        found |= {name: found[row.passes[-1]] for name in row.passes if name not in found}
        if "read again" in found:
            found["read again"] += reading * UNREAD_SHARE
        found["join"] = max(found.get("join", 0.0), self._join_seconds())
        if "verify" in found and _pairs(self.findings):
            found["verify"] = max(found["verify"], self.took["verify"] * self.pairs / _pairs(self.findings))
        found["write"] = self.sample.total_bytes * COPY_SECONDS
        rounded = {name: round(seconds, 3) for name, seconds in found.items()}
        return rounded | {"total": round(sum(rounded.values()), 3)}

    def _join_seconds(self) -> float:
        """Join time by the constants of the estimates, scaled to this machine's speed in the sample."""
        if self.estimate is None:
            limit = distance_limit(self.recipe, self.options) or 0
            by_pairs = self.took.get("join", 0.0) * self.pairs / max(1.0, _pairs(self.findings))
            by_tables = plan_join(
                max(1, round(self.documents)),
                bits=64 * self.recipe.words,
                max_distance=limit,
                threads=self.options.threads,
            ).seconds
            return max(by_pairs if _pairs(self.findings) > len(self.sample) else 0.0, by_tables)
        return self.estimate.join_seconds * self._slowness / self.threads

    @property
    def _slowness(self) -> float:
        """Time per token here, divided by that of the machine the constants were measured on."""
        tokens = int(self.findings.documents.tokens[self.findings.documents.valid].sum())
        seconds = self.took.get("prefixes", self.took.get("signatures", 0.0)) * self.threads
        return seconds / (tokens * COUNT_SECONDS) if tokens and seconds else 1.0

    def memory_bytes(self) -> int:
        ids = self.sample.ids_bytes * self.sample.growth
        kept = self.documents * (DOCUMENT_BYTES + 16 * self.recipe.words) + ids
        limit = memory_bytes(self.options.memory)
        finding = min(limit, self._finding_bytes())
        return int(kept + finding + (self.threads + 1) * BATCH_MEMORY)

    def _finding_bytes(self) -> float:
        if self.estimate is not None:
            return self.estimate.memory_bytes
        return self.documents * 24 * self.recipe.words + self.pairs * PAIR_BYTES

    def temporary_bytes(self) -> int:
        limit, growth = memory_bytes(self.options.memory), self.sample.growth
        verified = self.findings.documents.tokens[self.findings.found.rows[self.findings.found.candidates.has_any]]
        sets = 8 * int(verified.sum()) * growth if self.options.min_similarity > 0 else 0
        spilled = PAIR_BYTES * self.pairs if self.pairs * PAIR_BYTES > share_of(limit, "pairs") else 0
        joined = self.estimate.disk_bytes if self.estimate else spilled
        return int(max(self.kept_bytes + joined, (self.kept_bytes or sets) + spilled))
