"""The choice between EXACT and MINHASH: a matter of the corpus and of what is asked for, alike on every machine.

A sample of the documents, and the frequencies of its elements among all, say how long either takes on a reference machine. Neither
the memory, the threads nor the disk of the machine at work have a say: where the method does not fit them, it is refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from neardup.display import counted
from neardup.errors import OptionError
from neardup.matching.candidates.candidate_join import CandidateJoin
from neardup.matching.candidates.costs import Estimate, Size, exact_at_most
from neardup.matching.candidates.estimates import estimate_exact, estimate_minhash
from neardup.matching.candidates.exact import open_exact
from neardup.matching.candidates.minhash import open_minhash
from neardup.matching.candidates.sampled_sets import sample_of
from neardup.matching.candidates.task import Task
from neardup.matching.similarities.table import maker_of
from neardup.options import DedupOptions
from neardup.recipe.tables.methods import METHODS

TIMES_SLOWER, PATIENCE_SECONDS = 2.0, 5.0
"""Exact is taken unless by estimate it takes more than so many times as long as minhash, and more than so many seconds."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A method, and why.

    Attributes:
        method: exact or minhash.
        reason: in a line.
        estimates: of the methods that can serve the similarity.
        documents: for how many.
    """

    method: str
    reason: str
    estimates: tuple[Estimate, ...]
    documents: int

    @property
    def estimate(self) -> Estimate:
        """Of the method."""
        return next(each for each in self.estimates if each.method == self.method)


def choose(task: Task, *, documents: int | None = None) -> Choice:
    """Sample documents, count their elements among all, and say what exact and minhash would take; two passes over the corpus.

    `documents`: for so many of the same kind, if not for those that there are.
    """
    options, read = task.options, int(task.wanted.sum())
    growth = 1.0 if documents is None else documents / max(1, read)
    tokens = int(task.documents.tokens[task.wanted].sum())
    size = Size(documents or read, int(growth * tokens), growth)
    with task.progress.stage("choose", read):
        sample = sample_of(task, size)
        code, memory, first = (
            maker_of(options.compared_by).code,
            task.resources.memory_bytes,
            task.survivors_first,
        )
        min_similarity = options.min_similarity
        exact = estimate_exact(
            sample, size, code=code, min_similarity=min_similarity, memory=memory, survivors_first=first
        )
        if not METHODS["minhash"].is_for(options.measure):
            return Choice(
                "exact", f"{_shown(exact)}; no other method serves {options.measure}", (exact,), size.documents
            )
        try:
            minhash = estimate_minhash(
                sample, size, min_similarity=min_similarity, memory=memory, survivors_first=first
            )
        except OptionError:  # no bands serve so low a similarity
            reason = f"{_shown(exact)}; no bands serve {min_similarity}"
            return Choice("exact", reason, (exact,), size.documents)
    slow = is_slow(exact, minhash)
    rule = f"take more than {TIMES_SLOWER:g} times as long as minhash and more than {PATIENCE_SECONDS:g} s on the reference machine"
    reason = f"exact would {'' if slow else 'not '}{rule}; {_shown(exact)}; {_shown(minhash)}"
    return Choice("minhash" if slow else "exact", reason, (exact, minhash), size.documents)


def is_slow(exact: Estimate, minhash: Estimate) -> bool:
    """Whether exact would take so much longer than minhash that this is taken."""
    return exact.seconds > max(TIMES_SLOWER * minhash.seconds, PATIENCE_SECONDS)


def needless(task: Task) -> str | None:
    """Why exact is taken whatever the texts have in common; None if that must be looked at."""
    return needless_for(task.options, Size(int(task.wanted.sum()), int(task.documents.tokens[task.wanted].sum())))


def needless_for(options: DedupOptions, size: Size) -> str | None:
    """The same, for so much text."""
    if not METHODS["minhash"].is_for(options.measure):
        return f"no other method serves {options.measure}"
    is_quick = exact_at_most(size) < PATIENCE_SECONDS
    return f"exact takes no more than {PATIENCE_SECONDS:g} s on the reference machine" if is_quick else None


@contextmanager
def open_choice(task: Task) -> Iterator[CandidateJoin]:
    """Prepare exact, or minhash where exact would take much longer.

    Raises:
        OptionError: the temporary files of the method would not fit where they go.
    """
    task = task.at_least(task.min_tokens("auto"))
    reason = needless(task)
    if reason is not None:
        with task.progress.stage("choose"):
            task.progress.note(f"method exact: {reason}")
        with open_exact(task) as join:
            join.reason = reason
            yield join
        return
    choice = choose(task)
    task.progress.note(f"method {choice.method}: {choice.reason}")
    task.resources.check_room(
        choice.estimate.disk_bytes,
        work=f"`method={choice.method!r}`, which auto takes for this corpus,",
        instead="a higher `min_similarity`",
    )
    with open_exact(task) if choice.method == "exact" else open_minhash(task) as join:
        join.reason = choice.reason
        yield join


def _shown(estimate: Estimate) -> str:
    """One method's estimate in a line; as on every machine."""
    details = counted(estimate.candidates, "candidate")
    if estimate.method == "exact":
        details = f"{counted(estimate.postings, 'posting')}, {counted(estimate.visits, 'visit')}, {details}"
    return f"{estimate.method} by estimate {details}, {estimate.seconds:.2g} s"
