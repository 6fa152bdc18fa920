"""Estimate what cutting the repeated passages of files takes, by cutting those of a sample on this machine."""

import dataclasses

from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.sample import Sample, SampledCorpus, read_sample
from neardup.judging.estimate import PILOT_DOCUMENTS, demand_order
from neardup.judging.extrapolation import COMPRESS_SECONDS, COPY_SECONDS, UNREAD_SHARE
from neardup.judging.run_cost import CostEstimate
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.resources.limits import memory_bytes
from neardup.resources.memory_use import peak_memory_bytes
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.outcomes import Passages, find_passages

PASSES = {"read": 1.0, "windows": 1.0, "cut": UNREAD_SHARE}
"""How much of the time to read all texts goes into a stage."""
SEGMENT_BYTES = 600
"""Memory for each passage that is cut."""
DOCUMENT_BYTES = 250
"""Memory per document, without its id."""


def estimate_passages(
    corpus: FileCorpus, reference: FileCorpus | None, recipe: Recipe, options: PassageOptions, columns: int
) -> CostEstimate:
    """What a run over files that were found and checked takes.

    Both passes over the texts grow with their bytes, and so do the temporary files as long as the same share of the tokens is
    repeated. A sample has fewer of the repeats than the whole corpus: temporary files may be larger than estimated, at most by what
    all tokens would take.

    Args:
        corpus, reference: what is read.
        recipe, options: of the run.
        columns: how many text columns there are.
    """
    corpus.check_sources(tuple(options.order.prefer_source))
    before = peak_memory_bytes()
    sample = read_sample(corpus)
    demand_order(sample, options.order, skips=corpus.skips)
    others = None if reference is None else read_sample(reference)
    step = max(1, len(sample) // PILOT_DOCUMENTS)
    _cut(sample.thinned(step), others and others.thinned(step), recipe, options, columns)  # compiles, loads tables
    progress, taken, found = _cut(sample, others, recipe, options, columns)
    samples = [sample] if others is None else [sample, others]
    read_bytes, total_bytes = (sum(getattr(each, name) for each in samples) for name in ("read_bytes", "total_bytes"))
    growth = max(1.0, total_bytes / read_bytes) if read_bytes else 1.0
    reading = sum(each.seconds for each in samples) * growth
    seconds = {name: took * growth + PASSES.get(name, 0.0) * reading for name, took in progress.seconds.items()}
    packed = sum(COMPRESS_SECONDS.get(name, 0.0) * share for name, share in sample.compressions.items())
    seconds["write"] = sample.seconds * sample.growth + sample.total_bytes * COPY_SECONDS
    seconds["write"] += sample.text_bytes * sample.growth * packed
    rounded = {name: round(each, 3) for name, each in seconds.items()}
    return CostEstimate(
        documents=round(len(sample) * sample.growth),
        input_bytes=total_bytes,
        sampled_documents=sum(map(len, samples)),
        sampled_bytes=read_bytes,
        method="",
        reason=None,
        memory_bytes=max(before, peak_memory_bytes()) + _more_memory(samples, taken, found, growth),
        limit_bytes=memory_bytes(options.memory),
        temporary_bytes=round(taken.resources.files.peak * growth),
        temporary_limit_bytes=options.resources.files.limit,
        seconds=rounded | {"total": round(sum(rounded.values()), 3)},
    )


def _cut(
    sample: Sample, others: Sample | None, recipe: Recipe, options: PassageOptions, columns: int
) -> tuple[Progress, PassageOptions, Passages]:
    """Cut the passages of a sample: what it took, the options whose resources were used, and what was found."""
    taken, progress = dataclasses.replace(options), Progress()
    resources = taken.resources
    corpus = SampledCorpus(sample, with_values=True, resources=resources)
    reference = None if others is None else SampledCorpus(others, with_values=True, resources=resources)
    found = find_passages(corpus, recipe, taken, progress, reference=reference, columns=columns)
    return progress, taken, found


def _more_memory(samples: list[Sample], taken: PassageOptions, found: Passages, growth: float) -> int:
    """What the whole corpus takes more than its sample, each use within its share."""
    shares = taken.resources.as_dict()["shares"].values()
    more = sum(min(each["used"] * growth, each["bytes"]) - min(each["used"], each["bytes"]) for each in shares)
    rows = sum(len(each) * DOCUMENT_BYTES + each.ids_bytes for each in samples)
    return int(more + (growth - 1) * (rows + SEGMENT_BYTES * len(found.cut.segments)))
