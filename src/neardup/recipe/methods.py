"""METHODS: one row for each method of finding candidates, with all that others ask of it: importing this loads no compiled code.

Another method is a row here, and a module of `neardup.matching.candidates` with its finder.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal, cast, get_args

Method = Literal["auto", "exact", "minhash", "simhash"]
MeasuredMethod = Literal["exact", "minhash", "simhash"]

FINDERS = "neardup.matching.candidates"


class Promise(Enum):
    """Which pairs a method gives to verification."""

    EXACT = "every pair that reaches the similarity, by theorem"
    PROBABLE = "a pair that reaches the similarity, but for a small probability"
    BY_DISTANCE = "every pair of fingerprints within a Hamming distance, whatever the similarity"
    CHOSEN = "what the method that it takes promises"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """What there is to know of a method.

    Attributes:
        meaning: in one sentence, for help and documentation.
        promise: which pairs it gives.
        finder: `module:function` in FINDERS, from a `Task` to what it `Found`; imported on use.
        miss_probability: of a pair exactly at the similarity asked for, where the promise is PROBABLE.
        serves: the similarities that the promise holds for; None: all.
        takes_distance: whether `max_distance` may be given.
        sieve_share: where no distance is given, candidates whose fingerprints differ in more than this share of their bits are
            not verified; None: there is no such sieve (docs/decisions/0005-methods.md).
        min_tokens: documents of fewer match equal ones alone; None: the recipe's.
        searches, why_missed: in words, where the promise is PROBABLE: by what it searches, and what a pair that it missed lacks.
        passes: stages that read every text again, by the names that progress has for them.
        keeps_elements: whether it joins elements, so that a first pass that keeps them spares these passes.
    """

    meaning: str
    promise: Promise
    finder: str
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
        """Whether fingerprints alone say what is a candidate."""
        return self.promise is Promise.BY_DISTANCE

    @property
    def needs_similarity(self) -> bool:
        """Whether it finds pairs by a similarity above 0."""
        return self.promise in (Promise.EXACT, Promise.PROBABLE)

    def tokens_needed(self, of_recipe: int) -> int:
        """Documents of fewer tokens match equal ones alone; `of_recipe`: as the recipe says."""
        return of_recipe if self.min_tokens is None else self.min_tokens

    def is_for(self, similarity: str) -> bool:
        """Whether the promise holds for a similarity."""
        return self.serves is None or similarity in self.serves


METHODS = {
    "auto": MethodRow(
        meaning="exact unless it would take more than twice as long as minhash and more than 5 s; simhash if a distance is "
        "asked for",
        promise=Promise.CHOSEN,
        finder="auto:find_by_choice",
        keeps_elements=True,
    ),
    "exact": MethodRow(
        meaning="every pair of at least the similarity, by theorem",
        promise=Promise.EXACT,
        finder="exact:find_exact",
        takes_distance=False,
        passes=("count", "prefixes"),
        keeps_elements=True,
    ),
    "minhash": MethodRow(
        meaning="pairs that share a band of their MinHash signatures; misses one in a thousand at the similarity, besides "
        "what its sieve of fingerprints drops",
        promise=Promise.PROBABLE,
        finder="minhash:find_by_minhash",
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
        finder="simhash:find_by_simhash",
        min_tokens=None,
    ),
}
BY_DISTANCE = cast(Method, next(name for name, row in METHODS.items() if row.is_by_distance))
"""The method that `auto` takes where a distance is asked for, or no similarity."""
MEASURED: tuple[MeasuredMethod, ...] = get_args(MeasuredMethod)
"""The methods proper; what chooses takes one of these."""
