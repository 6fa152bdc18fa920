"""The choice between EXACT and MINHASH, by a sample of the documents."""

import shutil
import tempfile

from neardup.candidates.estimates import Estimate, estimate_exact, estimate_minhash
from neardup.candidates.exact import MIN_TOKENS, count_elements, join_counted
from neardup.candidates.minhash import find_by_minhash
from neardup.candidates.task import Found, Task
from neardup.options import memory_bytes
from neardup.similarities import SIMILARITY_TABLE
from neardup.wording import counted

SLOWER, PATIENCE_SECONDS = 4.0, 60.0
"""Exact is taken while it takes no more than so many times as long as minhash, or so few seconds."""
SAMPLED_DOCUMENTS = 2_000


def find_by_choice(task: Task) -> Found:
    """Candidates by exact, or by minhash where exact would take much longer or more room than there is."""
    task = task.at_least(MIN_TOKENS)
    counts, sample = count_elements(task, sampled=SAMPLED_DOCUMENTS)
    wanted = task.wanted
    similarity, memory = SIMILARITY_TABLE[task.options.similarity], memory_bytes(task.options.memory)
    size = {"documents": int(wanted.sum()), "tokens": int(task.documents.tokens[wanted].sum())}
    exact = estimate_exact(
        sample, counts, **size, code=similarity.code, least=task.options.min_similarity, memory=memory
    )
    if task.options.similarity != "jaccard":
        return _taken(join_counted(task, counts), f"only exact cannot miss a pair by {task.options.similarity}", task)
    minhash = estimate_minhash(sample, **size, least=task.options.min_similarity)
    free = shutil.disk_usage(task.options.temp_dir or tempfile.gettempdir()).free
    reason = f"{_shown(exact)}; {_shown(minhash)}"
    if exact.disk_bytes > free:
        return _taken(
            find_by_minhash(task), f"{reason}; exact needs {exact.disk_bytes / 2**30:.1f} GiB of temporary files", task
        )
    if exact.seconds > max(SLOWER * minhash.seconds, PATIENCE_SECONDS):
        return _taken(find_by_minhash(task), reason, task)
    return _taken(join_counted(task, counts), reason, task)


def _shown(estimate: Estimate) -> str:
    """One method's estimate in a line; without seconds, which differ between machines."""
    details = f"{counted(estimate.candidates, 'candidate')}"
    if estimate.postings:
        details = f"{counted(estimate.postings, 'posting')}, {counted(estimate.visits, 'visit')}, {details}"
    return f"{estimate.method} by estimate {details}, {estimate.memory_bytes / 2**20:,.0f} MiB"


def _taken(found: Found, reason: str, task: Task) -> Found:
    task.progress.say(f"method {found.method}: {reason}")
    return Found(found.rows, found.candidates, found.min_tokens, found.method, reason, found.max_distance, found.costs)
