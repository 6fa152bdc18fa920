"""SIMILARITIES: one row for each similarity of texts, with every property that needs no compiled code.

Importing this module loads no compiled code. `neardup.kernels.matching.similarities` has the bounds, the comparison and the working
memory of each similarity under the same name; no other kernel distinguishes similarities. So a new similarity needs a row here, its
cases there, and its naive definition in the tests.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from neardup.display import as_code
from neardup.errors import OptionError
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import FOLDING

SimilarityName = Literal["jaccard", "weighted", "containment", "cosine", "edit"]
WORD_SHINGLE, CJK_SHINGLE = 3, 5
"""The number of tokens of a shingle that starts at a word, and of one that starts at a Han or Kana character."""
_OF_FINGERPRINTS = ("normalize", "version", "hash", "bits", "min_tokens", "max_distance")
"""Fields of a recipe that say nothing about what a similarity compares, and the two that say what all of them compare."""


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


def normalizers_only(recipe: Recipe, what: str) -> tuple[Any, ...]:
    """The normalizers of a recipe, where its other parts have no use because shingles are fixed.

    Args:
        recipe: the recipe.
        what: what has fixed shingles, with its verb, for the message.

    Raises:
        OptionError: the recipe asks for features of its own, which would be ignored.
    """
    plain = {field.name: field.default for field in dataclasses.fields(recipe)}
    ignored = [name for name in plain if name not in _OF_FINGERPRINTS and getattr(recipe, name) != plain[name]]
    if ignored:
        steps = ", ".join(map(repr, recipe.normalize))
        raise OptionError(
            f"{what} of shingles that no recipe changes: {as_code(ignored, ' and ')} of this one would be ignored; only its "
            f"`normalize` and `version` count. Give `Recipe(normalize=[{steps}])`, or no recipe. For other shingles or tokens, "
            "give them to `similarity=Similarity(…)`."
        )
    return tuple(recipe.normalize)


def similarity_mark(recipe: Mapping[str, Any]) -> str | None:
    """What files record as `similarity_of`: older versions lack it, whose similarities ignored further normalizers.

    `recipe`: the result of `as_dict`. None without further normalizers, for which nothing has changed.
    """
    return None if tuple(recipe.get("normalize", FOLDING)) in ((), FOLDING) else "normalized texts"


def is_of_older_similarity(recorded: Mapping[str, Any]) -> bool:
    """Whether the record of a run lacks the mark of its recipe, although the run computed similarities."""
    return recorded["min_similarity"] > 0 and recorded.get("similarity_of") != similarity_mark(recorded["recipe"])
