"""COMPARED: pairs of the held documents by one similarity, and what each of its thresholds finds of all pairs."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.scoring.held import Held
from neardup.judging.evaluation.scoring.intervals import UNKNOWN, Share, f1_of, wilson
from neardup.judging.evaluation.scoring.scores import ThresholdScore, Trial
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.kernels.matching.similarities import similarities_of
from neardup.matching.matches import Matches
from neardup.matching.similarities.table import Elements, maker_of
from neardup.recipe.similarity import Similarity, measure_of
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.threads import in_order, thread_count

STEPS = 100
"""Thresholds that are scored: hundredths."""
COMPARE_SECONDS = 0.5
"""What the pairs of one similarity may take, in seconds of the reference machine; so the same is compared on every machine."""
MAX_PAIRS = 4_000_000
PAIR_SECONDS, ELEMENT_SECONDS, WORD_SECONDS = 4e-8, 2.7e-9, 5e-9
"""A pair; an element of one of its texts; an edit distance, for 64 tokens of one text beside one of the other."""
FEWEST = 100
"""A sample of fewer documents says too little of all pairs."""
LISTED_FROM = 0.1
"""The pairs of at least this similarity are kept, if all were compared."""
PAIRS_AT_A_TIME = 1 << 17


class TakesLongError(Exception):
    """The pairs that must be compared take too long; the message says how long, in words."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What the thresholds 0.01 to 1 of a similarity find.

    Attributes:
        similarity: the similarity.
        true, false: int64[100], labeled pairs at each threshold or above: those that are near-duplicates, and those that are not.
        others: float64[100], the other pairs, estimated unless `is_exact`.
        labeled: share of the labeled pairs that were compared.
        is_exact: whether every pair of the corpus was compared.
        least: the lowest threshold that is scored.
        matches: all pairs of at least LISTED_FROM or `least`; None unless all are known.
        all_seconds: what it takes to compare all pairs, in seconds of the reference machine; infinite where they are not held.
    """

    similarity: Similarity | SimilarityName
    true: Array
    false: Array
    others: Array
    positives: int
    labeled: float
    is_exact: bool
    matches: Matches | None
    least: float = 1 / STEPS
    all_seconds: float = math.inf

    def listed(self, matches: Matches, least: float) -> "Compared":
        """The same with all pairs of at least `least`, which a run found."""
        exact = _reaching(matches.similarity) - (self.true + self.false) / (self.labeled or 1.0)
        return dataclasses.replace(
            self, others=np.maximum(exact, 0), is_exact=self.labeled == 1, matches=matches, least=least
        )

    def found(self, least: float) -> float:
        """How many pairs there are of at least a threshold."""
        step = round(least * STEPS) - 1
        return float(self.others[step]) + int(self.true[step] + self.false[step]) / (self.labeled or 1.0)

    def scores(self, truth: Truth) -> list[tuple[float, Share, Share, Share, int, int]]:
        """Threshold, recall, precision, F1, found and unlabeled of each threshold, the highest first."""
        any_false = truth.complete or not truth.positive.all()
        rows = []
        for step in range(STEPS - 1, round(self.least * STEPS) - 2, -1):
            right, wrong, others = int(self.true[step]), int(self.false[step]), float(self.others[step])
            labeled = right + wrong
            known = labeled + (round(others * self.labeled) if truth.complete else 0)
            found = round(labeled / self.labeled + others) if self.labeled else round(others)
            rows.append(
                (
                    (step + 1) / STEPS,
                    wilson(right, self.positives),
                    wilson(right, known) if any_false else UNKNOWN,
                    f1_of(wilson(right, known + self.positives - right)) if any_false else UNKNOWN,
                    found,
                    0 if truth.complete else round(others),
                )
            )
        return rows

    def trials(self, truth: Truth, recipe: str, bits: int) -> list[Trial]:
        """A trial of `exact` for each threshold, the highest first."""
        return [
            Trial(
                method="exact",
                similarity=self.similarity,
                min_similarity=threshold,
                recipe=recipe,
                bits=bits,
                max_distance=None,
                recall=recall,
                precision=precision,
                f1=f1,
                found=found,
                unlabeled=unlabeled,
            )
            for threshold, recall, precision, f1, found, unlabeled in self.scores(truth)
        ]

    def thresholds(self, truth: Truth) -> tuple[ThresholdScore, ...]:
        """The scores of each threshold, the lowest first."""
        return tuple(ThresholdScore(*row) for row in reversed(self.scores(truth)))


def compare(
    held: Held, truth: Truth, similarity: Similarity | SimilarityName, seconds: float | None = None
) -> Compared:
    """Compare the labeled pairs, and as many pairs of the drawn documents as `seconds` allow, by default COMPARE_SECONDS.

    Raises:
        OptionError: the similarity does not go with the recipe.
        TakesLongError: it takes too long to compare the labeled pairs, or a sample that says something.
    """
    elements = held.elements(similarity)
    sizes = np.diff(elements.offsets)
    each = seconds_of_pair(similarity, sizes)
    if each * len(held.judged) > COMPARE_SECONDS:
        raise TakesLongError(
            f"the labeled pairs alone take {each * len(held.judged):,.0f} s of the reference machine, more than {COMPARE_SECONDS:g}"
        )
    most = min(MAX_PAIRS, (COMPARE_SECONDS if seconds is None else seconds) / each)
    drawn = held.drawn[: int((1 + (1 + 8 * most) ** 0.5) / 2)]
    n, m = held.population, len(drawn)
    if m < min(n, FEWEST):
        raise TakesLongError(f"in {COMPARE_SECONDS:g} s of the reference machine, it compares only {m} documents")
    is_exact = m == n
    comparison = _Comparison(elements, similarity, held.classes, thread_count(held.corpus.options.threads))
    left, right = (np.searchsorted(held.rows, side[held.judged]) for side in (truth.left, truth.right))
    judged = comparison.of_pairs(left, right)
    positive = truth.positive[held.judged]
    among = np.zeros(len(held.rows), np.bool_)
    among[drawn] = True
    both = among[left] & among[right]
    counts, kept = comparison.of_all(np.sort(drawn), keep=is_exact)
    others = counts - _reaching(judged[both])
    scale = n * (n - 1) / (m * (m - 1)) if m > 1 else 1.0
    matches = None
    if is_exact:
        rows = held.rows[kept[0]], held.rows[kept[1]]
        matches = Matches(*rows, np.zeros(len(rows[0]), np.int64), kept[2])
    return Compared(
        similarity=similarity,
        true=_reaching(judged[positive]),
        false=_reaching(judged[~positive]),
        others=np.maximum(others, 0) * scale,
        positives=int(positive.sum()),
        labeled=len(held.judged) / len(truth) if len(truth) else 1.0,
        is_exact=is_exact,
        matches=matches,
        all_seconds=each * n * n / 2 if len(held.drawn) == n and n * n / 2 <= MAX_PAIRS else math.inf,
    )


def seconds_of_pair(similarity: Similarity | SimilarityName, sizes: Array) -> float:
    """What a pair takes on the reference machine, on average; `sizes`: int64[n], elements of the texts."""
    if not len(sizes):
        return PAIR_SECONDS
    if measure_of(similarity) == "edit":
        return PAIR_SECONDS + float((sizes.astype(np.float64) ** 2).mean()) / 64 * WORD_SECONDS
    return PAIR_SECONDS + 2 * float(sizes.mean()) * ELEMENT_SECONDS


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares texts by places; `classes` are equal for equal texts."""

    elements: Elements
    similarity: Similarity | SimilarityName
    classes: Array
    threads: int

    def of_pairs(self, left: Array, right: Array) -> Array:
        """float64[p]: the similarity of each pair."""
        code = maker_of(self.similarity).code
        out = np.empty(len(left))
        similarities_of(self.elements.stored(code), left, right, 0.0, out)
        sizes = np.diff(self.elements.offsets)
        bare = np.flatnonzero((sizes[left] == 0) & (sizes[right] == 0))
        out[bare] = self.classes[left[bare]] == self.classes[right[bare]]
        return out

    def of_all(self, chosen: Array, *, keep: bool) -> tuple[Array, tuple[Array, Array, Array]]:
        """How many pairs of `chosen` reach each threshold, int64[100]; with `keep`, also those of LISTED_FROM or more."""
        m = len(chosen)
        step = max(1, PAIRS_AT_A_TIME // max(1, m))

        def work(first: int) -> tuple[Array, Array, Array, Array]:
            rows = np.arange(first, min(first + step, m))
            lengths = m - 1 - rows
            left = np.repeat(rows, lengths)
            right = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + left + 1
            left, right = chosen[left], chosen[right]
            found = self.of_pairs(left, right)
            these = np.flatnonzero(found >= LISTED_FROM) if keep else np.empty(0, np.int64)
            return _reaching(found), left[these], right[these], found[these]

        parts = list(in_order(work, range(0, m, step), self.threads))
        counts = _reaching(np.empty(0))
        for part in parts:
            counts = counts + part[0]
        left, right = (np.concatenate([np.empty(0, np.int64), *(part[i] for part in parts)]) for i in (1, 2))
        return counts, (left, right, np.concatenate([np.empty(0), *(part[3] for part in parts)]))


GRID = np.array([(step + 1) / STEPS for step in range(STEPS)])


def _reaching(similarity: Array) -> Array:
    """int64[100]: how many reach each threshold of the grid."""
    reached = np.searchsorted(GRID, similarity, side="right")
    counts = np.bincount(reached, minlength=STEPS + 1)
    found: Array = counts[::-1].cumsum()[::-1][1:]
    return found
