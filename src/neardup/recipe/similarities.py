"""SIMILARITIES: one row for each similarity of texts, with all that is not compiled: importing this loads no compiled code.

Its bounds, its comparison and their working memory are in `neardup.kernels.matching.similarities`, by the same name, in which alone
kernels tell similarities apart. So another similarity is a row here, its cases there, and its naive definition in the tests.
"""

from dataclasses import dataclass
from typing import Literal

Similarity = Literal["jaccard", "weighted", "containment", "cosine", "edit"]
WORD_SHINGLE, CJK_SHINGLE = 3, 5
"""Tokens of a shingle that starts at a word, at a Han or Kana character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityRow:
    """What there is to know of a similarity.

    Attributes:
        meaning: in one sentence, for help and documentation.
        shingles: tokens of a shingle that starts at a word, at a Han or Kana character; None: as the recipe cuts its features.
        joined: which elements a join indexes, one of `neardup.kernels.matching.elements.FORMS` but `sequence`; bounds are of these.
        verified: which elements verification compares: one of FORMS.
        larger_first: whether a join goes from the largest set to the smallest, each looking among the larger; else each looks
            among the smaller, by whose sizes it stops where `sizes_may_match` says so.
    """

    meaning: str
    shingles: tuple[int, int] | None = (WORD_SHINGLE, CJK_SHINGLE)
    joined: str = "set"
    verified: str = "set"
    larger_first: bool = False

    @property
    def element_bytes(self) -> int:
        """What an element takes where it is kept: its hash, and its weight if it has one."""
        return 16 if "weights" in (self.joined, self.verified) else 8


SIMILARITIES = {
    "jaccard": SimilarityRow(meaning="set Jaccard of shingles: 3 tokens from a word, 5 from a Han or Kana character"),
    "weighted": SimilarityRow(
        meaning="Jaccard of these shingles with their counts: repeating a passage makes a difference",
        joined="occurrences",
        verified="occurrences",
    ),
    "containment": SimilarityRow(
        meaning="the part of the smaller set of shingles that is in the larger: finds excerpts",
        larger_first=True,
    ),
    "cosine": SimilarityRow(
        meaning="cosine of the weights that the recipe gives to its features: the order of words is free",
        shingles=None,
        joined="weights",
        verified="weights",
    ),
    "edit": SimilarityRow(
        meaning="1 - Levenshtein distance of the tokens / the longer's: the order of all tokens counts",
        shingles=(1, 1),
        joined="occurrences",
        verified="sequence",
    ),
}
