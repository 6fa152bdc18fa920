"""The choice between EXACT and MINHASH, by a sample of the documents."""

import dataclasses
import shutil
import tempfile
from dataclasses import dataclass

from neardup.display import counted
from neardup.errors import OptionError
from neardup.matching.candidates.estimates import Estimate, estimate_exact, estimate_minhash
from neardup.matching.candidates.exact import count_elements, join_counted
from neardup.matching.candidates.minhash import find_by_minhash, needed_bytes
from neardup.matching.candidates.task import Found, Task
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.recipe.methods import METHODS
from neardup.resources.limits import memory_bytes
from neardup.resources.pair_spool import PAIR_BYTES

SLOWER, PATIENCE_SECONDS = 4.0, 60.0
"""Exact is taken while it takes no more than so many times as long as minhash, or so few seconds."""
SAMPLED_DOCUMENTS = 2_000


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, and why.

    Attributes:
        method: exact or minhash.
        reason: in a line.
        estimates: of the methods that can serve the similarity.
        documents: for how many.
        counts: of the documents' elements, for exact.
    """

    method: str
    reason: str
    estimates: tuple[Estimate, ...]
    documents: int
    counts: ElementCounts


def choose(task: Task, *, documents: int | None = None) -> Choice:
    """Count elements, sample documents, and say what exact and minhash would take; one pass over the corpus.

    `documents`: for so many of the same kind, if not for those that there are.
    """
    counts, sample = count_elements(task, sampled=SAMPLED_DOCUMENTS)
    wanted, options = task.wanted, task.options
    counted_documents = int(wanted.sum())
    growth = 1.0 if documents is None else documents / max(1, counted_documents)
    size = {
        "documents": documents or counted_documents,
        "tokens": int(growth * int(task.documents.tokens[wanted].sum())),
    }
    least, code = options.min_similarity, SIMILARITY_TABLE[options.similarity].code
    memory = memory_bytes(options.memory)
    exact = estimate_exact(sample, counts, **size, code=code, least=least, memory=memory, growth=growth)
    if not METHODS["minhash"].is_for(options.similarity):
        reason = f"{_shown(exact)}; no other method serves {options.similarity}"
        return Choice("exact", reason, (exact,), size["documents"], counts)
    try:
        minhash = estimate_minhash(sample, **size, least=least, near_pairs=exact.candidates, memory=memory)
    except OptionError:  # no bands serve so low a similarity
        return Choice("exact", f"{_shown(exact)}; no bands serve {least}", (exact,), size["documents"], counts)
    estimates = f"{_shown(exact)}; {_shown(minhash)}"
    method, reason = "exact", f"it misses no pair and is affordable; {estimates}"
    if needed_bytes(size["documents"], task.recipe.words) > memory:
        reason = f"{estimates}; minhash needs more than {memory / 2**20:,.0f} MiB"
    elif exact.disk_bytes > shutil.disk_usage(options.temp_dir or tempfile.gettempdir()).free:
        method, reason = "minhash", f"{estimates}; exact needs {exact.disk_bytes / 2**30:.1f} GiB of temporary files"
    elif exact.candidates * PAIR_BYTES > memory // 2 > minhash.candidates * PAIR_BYTES:
        method, reason = "minhash", f"{estimates}; exact would propose more pairs than fit {memory / 2**20:,.0f} MiB"
    elif exact.seconds > max(SLOWER * minhash.seconds, PATIENCE_SECONDS):
        method, reason = "minhash", f"{estimates}; exact would take {exact.seconds / minhash.seconds:.0f} times as long"
    return Choice(method, reason, (exact, minhash), size["documents"], counts)


def find_by_choice(task: Task) -> Found:
    """Candidates by exact, or by minhash where exact would take much longer or more room than there is."""
    task = task.at_least(task.min_tokens("auto"))
    choice = choose(task)
    task.progress.say(f"method {choice.method}: {choice.reason}")
    found = join_counted(task, choice.counts) if choice.method == "exact" else find_by_minhash(task)
    return dataclasses.replace(found, reason=choice.reason)


def _shown(estimate: Estimate) -> str:
    """One method's estimate in a line; without seconds, which differ between machines."""
    details = f"{counted(estimate.candidates, 'candidate')}"
    if estimate.postings:
        details = f"{counted(estimate.postings, 'posting')}, {counted(estimate.visits, 'visit')}, {details}"
    return f"{estimate.method} by estimate {details}, {estimate.memory_bytes / 2**20:,.0f} MiB"
