"""What is done with fingerprints: the same names in Python, as flags, in TOML and in JSON."""

from dataclasses import dataclass
from numbers import Integral, Real

from neardup.errors import OptionError
from neardup.recipe import Recipe, usual_distance
from neardup.threads import thread_count

METHODS = {"simhash": "every pair of fingerprints within the distance, verified by the similarity of the texts"}
SIMILARITIES = {"jaccard": "set Jaccard of shingles: 3 tokens from a word, 5 from a Han or Kana character"}
KEEPS = {
    "first": "the one that comes first in the input",
    "last": "the one that comes last",
    "longest": "the one with the most characters, then the first",
    "shortest": "the one with the fewest characters, then the first",
}
CLUSTERS = {
    "star": "a document survives unless it matches an earlier survivor; no duplicate is less similar to its survivor than asked",
    "components": "all that are connected by matches are one cluster, however long the chain",
}


@dataclass(frozen=True, kw_only=True)
class DedupOptions:
    """How near-duplicates are found and which of them survive.

    Attributes:
        method: how candidates are found: one of METHODS.
        min_similarity: from 0 to 1; a pair below it is no match. 0 matches by distance alone, and no text is read again.
        similarity: of texts: one of SIMILARITIES.
        max_distance: Hamming distance up to which fingerprints are candidates; the recipe's if not given.
        keep: which of two matching documents is preferred: one of KEEPS.
        cluster: one of CLUSTERS.
        threads: all processors if not given; never changes the result.
        temp_dir: folder for temporary files; the system's if not given.
    """

    method: str = "simhash"
    min_similarity: float = 0.8
    similarity: str = "jaccard"
    max_distance: int | None = None
    keep: str = "first"
    cluster: str = "star"
    threads: int | None = None
    temp_dir: str | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{name}={getattr(self, name)!r}: give one of {', '.join(table)}"
            for name, table in (
                ("method", METHODS),
                ("similarity", SIMILARITIES),
                ("keep", KEEPS),
                ("cluster", CLUSTERS),
            )
            if getattr(self, name) not in table
        ]
        least, far = self.min_similarity, self.max_distance
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1:
            problems.append(f"min_similarity={least!r}: give a number from 0 (by distance alone) to 1")
        else:
            object.__setattr__(self, "min_similarity", float(least))  # numpy's numbers are no JSON
        if far is not None and (isinstance(far, bool) or not isinstance(far, Integral) or far < 0):
            problems.append(f"max_distance={far!r}: give an integer from 0 to the number of bits of the recipe")
        elif far is not None:
            object.__setattr__(self, "max_distance", int(far))
        try:
            thread_count(self.threads)
        except OptionError as problem:
            problems.append(str(problem).rstrip("."))
        if problems:
            raise OptionError("; ".join(problems) + ".")


def distance_limit(recipe: Recipe, options: DedupOptions) -> int:
    """The distance asked for, or the recipe's."""
    far = options.max_distance if options.max_distance is not None else usual_distance(recipe)
    if far is None:
        raise OptionError(f"This recipe of {recipe.bits} bits has no distance of its own. Give max_distance.")
    if far > recipe.bits:
        raise OptionError(
            f"max_distance={far}: the recipe has {recipe.bits} bits; give an integer from 0 to {recipe.bits}."
        )
    return far
