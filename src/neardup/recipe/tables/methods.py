"""METHODS: one row for each method of finding candidates, with every property that other modules need.

A new method needs a row here, and a module in `neardup.matching.candidates` with its opener. Importing this module loads no
compiled code.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal, cast, get_args

Method = Literal["auto", "exact", "minhash", "simhash"]
MeasuredMethod = Literal["exact", "minhash", "simhash"]

JOINS = "neardup.matching.candidates"


class Promise(Enum):
    """The pairs that a method passes to verification."""

    EXACT = "every pair that reaches the similarity, by theorem"
    PROBABLE = "a pair that reaches the similarity, but for a small probability"
    BY_DISTANCE = "every pair of fingerprints within a Hamming distance, whatever the similarity"
    CHOSEN = "what the method that it takes promises"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """The properties of a method.

    Attributes:
        meaning: a description in one sentence, for help and documentation.
        promise: the pairs that the method finds.
        opener: `module:function` in JOINS, from a `Task` to a context with its `CandidateJoin`; imported on use.
        miss_probability: the probability that a PROBABLE method misses a pair exactly at the threshold.
        serves: the similarities for which the promise holds; None for all.
        takes_distance: whether `max_distance` may be given.
        sieve_share: the default limit of the sieve: candidates whose fingerprints differ in more than this share of their bits are
            not verified. None for a method without a sieve (docs/decisions/0005-methods.md).
        min_tokens: documents with fewer tokens match only equal documents; None for the number of the recipe.
        searches, why_missed: texts for a PROBABLE method: the structures that it searches, and the reason why it missed a pair.
        passes: stages that read every text again, by their names in the progress.
        keeps_elements: whether the method joins elements. If a first pass keeps the elements, `passes` are unnecessary.
    """

    meaning: str
    promise: Promise
    opener: str
    miss_probability: float = 0.0
    serves: tuple[str, ...] | None = None
    takes_distance: bool = True
    sieve_share: float | None = None
    min_tokens: int | None = 1
    searches: str = "search"
    why_missed: str = ""
    passes: tuple[str, ...] = ()
    keeps_elements: bool = False

    @property
    def is_by_distance(self) -> bool:
        """Whether fingerprints alone decide the candidates."""
        return self.promise is Promise.BY_DISTANCE

    @property
    def needs_similarity(self) -> bool:
        """Whether the method needs a similarity threshold above 0."""
        return self.promise in (Promise.EXACT, Promise.PROBABLE)

    def tokens_needed(self, of_recipe: int) -> int:
        """The number of tokens below which a document matches only equal documents; `of_recipe` is the recipe's number."""
        return of_recipe if self.min_tokens is None else self.min_tokens

    def is_for(self, similarity: str) -> bool:
        """Whether the promise holds for a similarity."""
        return self.serves is None or similarity in self.serves


METHODS = {
    "auto": MethodRow(
        meaning="exact, unless it is estimated to take more than twice as long as minhash and more than 5 seconds; simhash if a "
        "distance is given",
        promise=Promise.CHOSEN,
        opener="auto:open_choice",
        keeps_elements=True,
    ),
    "exact": MethodRow(
        meaning="every pair at or above the similarity, by theorem",
        promise=Promise.EXACT,
        opener="exact:open_exact",
        takes_distance=False,
        passes=("count", "prefixes"),
        keeps_elements=True,
    ),
    "minhash": MethodRow(
        meaning="pairs that share a band of their MinHash signatures; misses one in a thousand at the similarity, plus "
        "those that its sieve of fingerprints drops",
        promise=Promise.PROBABLE,
        opener="minhash:open_minhash",
        miss_probability=1e-3,
        serves=("jaccard",),
        sieve_share=0.3,
        searches="bands",
        why_missed="no band of their signatures is equal",
        passes=("signatures",),
    ),
    "simhash": MethodRow(
        meaning="pairs of fingerprints within the distance",
        promise=Promise.BY_DISTANCE,
        opener="simhash:open_simhash",
        min_tokens=None,
    ),
}
BY_DISTANCE = cast(Method, next(name for name, row in METHODS.items() if row.is_by_distance))
"""The method that `auto` chooses if a distance, or no similarity, is asked for."""
MEASURED: tuple[MeasuredMethod, ...] = get_args(MeasuredMethod)
"""The methods that find candidates themselves; `auto` chooses one of them."""
