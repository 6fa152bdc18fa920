"""A TYPICAL RUN: what de-duplicating texts takes of which only the number is known, as if they were those of a known corpus."""

from neardup.judging.extrapolation import BATCH_MEMORY, DOCUMENT_BYTES
from neardup.judging.run_cost import CostEstimate
from neardup.matching.candidates.costs import TYPICAL, Estimate
from neardup.recipe.recipe import Recipe
from neardup.resources.limits import memory_bytes
from neardup.resources.threads import thread_count


def typical_run(
    documents: int, estimate: Estimate, recipe: Recipe, *, threads: int | None, memory: int | str | None
) -> CostEstimate:
    """What a run takes on the machine of the benchmarks; `estimate`: of the method that it would take."""
    count, tokens = thread_count(threads), TYPICAL.at(TYPICAL.tokens, documents)
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
        memory_bytes=kept + estimate.memory_bytes + (count + 1) * BATCH_MEMORY,
        limit_bytes=memory_bytes(memory),
        temporary_bytes=estimate.disk_bytes,
        seconds=seconds | {"total": round(sum(seconds.values()), 3)},
    )
