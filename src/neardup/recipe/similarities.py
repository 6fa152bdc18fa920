"""SIMILARITIES: one row for each similarity of texts, with every property that needs no compiled code.

Importing this module loads no compiled code. `neardup.kernels.matching.similarities` has the bounds, the comparison and the working
memory of each similarity under the same name; no other kernel distinguishes similarities. So a new similarity needs a row here, its
cases there, and its naive definition in the tests.
"""

from dataclasses import dataclass
from typing import Literal

Similarity = Literal["jaccard", "weighted", "containment", "cosine", "edit"]
WORD_SHINGLE, CJK_SHINGLE = 3, 5
"""The number of tokens of a shingle that starts at a word, and of one that starts at a Han or Kana character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityRow:
    """The properties of a similarity.

    Attributes:
        meaning: a description in one sentence, for help and documentation.
        shingles: the numbers of tokens of a shingle that starts at a word, and of one that starts at a Han or Kana character; None
            for the recipe's own features.
        joined: the elements that a join indexes, one of `neardup.kernels.matching.elements.FORMS` except `sequence`; bounds refer
            to these elements.
        verified: the elements that verification compares, one of FORMS.
        larger_first: whether a join processes sets from the largest to the smallest, and searches the larger sets for each.
            Otherwise it searches the smaller sets for each, and stops at the size where `sizes_may_match` is false.
    """

    meaning: str
    shingles: tuple[int, int] | None = (WORD_SHINGLE, CJK_SHINGLE)
    joined: str = "set"
    verified: str = "set"
    larger_first: bool = False

    @property
    def element_bytes(self) -> int:
        """Bytes of a stored element: its hash, and its weight if it has one."""
        return 16 if "weights" in (self.joined, self.verified) else 8


SIMILARITIES = {
    "jaccard": SimilarityRow(meaning="set Jaccard of shingles: 3 tokens from a word, 5 from a Han or Kana character"),
    "weighted": SimilarityRow(
        meaning="Jaccard of these shingles with their counts: repeated passages count",
        joined="occurrences",
        verified="occurrences",
    ),
    "containment": SimilarityRow(
        meaning="the fraction of the smaller set of shingles that is in the larger: finds excerpts",
        larger_first=True,
    ),
    "cosine": SimilarityRow(
        meaning="cosine of the weights that the recipe gives to its features: ignores the order of words",
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
