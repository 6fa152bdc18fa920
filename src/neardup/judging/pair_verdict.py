"""VERDICT on two texts: whether `dedup` would take them for near-duplicates, and why."""

from dataclasses import dataclass

import pyarrow as pa

from neardup.display import similarity_text, threshold_text
from neardup.fingerprints.simhash import fingerprint_array
from neardup.judging.comparison import Comparison
from neardup.matching.resolved_options import resolve
from neardup.matching.similarities.compare_texts import similarities_to
from neardup.options import DedupOptions
from neardup.recipe.kinds import few_tokens
from neardup.recipe.recipe import Recipe


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Whether two texts match.

    Attributes:
        matches: whether they do.
        reasons: why, as ends of a sentence: if they match, all that they meet; else what they miss.
    """

    matches: bool
    reasons: tuple[str, ...]


def pair_verdict(left: str, right: str, found: Comparison, recipe: Recipe, options: DedupOptions) -> PairVerdict:
    """Decide as `dedup` with this recipe and these options decides a pair that its method finds.

    A recipe that brings a distance decides by that, too. `found`: the comparison of the two texts.

    Raises:
        OptionError: the similarity does not go with the recipe, or no distance is known where it alone decides.
    """
    resolved = resolve(recipe, options)
    row, limit, least = resolved.method, resolved.max_distance, options.min_similarity
    met, missed = list[str](), list[str]()
    if row.is_by_distance and limit is not None:
        (met if found.distance <= limit else missed).append(
            f"distance {found.distance} is {'within' if found.distance <= limit else 'above'} {limit}"
        )
    alike = _alike(left, right, found, recipe, options)
    if least > 0:
        reached = "reaches" if alike >= least else "is below"
        shown = similarity_text(alike, least)
        (met if alike >= least else missed).append(f"{options.compared_by} {shown} {reached} {threshold_text(least)}")
    few = resolved.min_tokens
    if row.is_by_distance and alike < 1 and fewest_tokens(left, right, recipe) < few:
        missed.append(f"one of the two has {few_tokens(few)}, so only equal texts match")
    return PairVerdict(not missed, tuple(missed or met))


def fewest_tokens(left: str, right: str, recipe: Recipe) -> int:
    """The number of tokens of the text that has fewer; 0 if no feature votes in one of them."""
    return int(fingerprint_array(pa.array([left, right], pa.large_string()), recipe).tokens.min())


def _alike(left: str, right: str, found: Comparison, recipe: Recipe, options: DedupOptions) -> float:
    known = found.similarities or {}
    if isinstance(options.compared_by, str) and options.compared_by in known:
        return known[options.compared_by]
    other = pa.array([right], pa.large_string())
    return float(similarities_to(left, other, similarity=options.compared_by, recipe=recipe)[0])
