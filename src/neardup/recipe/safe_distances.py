"""The distances at which it is safe to call documents duplicates by their fingerprints alone, as measured.

Elsewhere the distance of a recipe only proposes candidates, which are verified. By it alone, unlike texts are duplicates, too.
`benchmarks/safe_distances.py` measures; decision 16 has the numbers.
"""

from neardup.recipe.presets import RECIPES
from neardup.recipe.recipe import Recipe

SAFE_DISTANCES: dict[str, int | None] = {
    "default": 3,
    "default-64": None,
    "all-scripts": 3,
    "all-scripts-64": None,
    "unmarked": 3,
    "textbook": 0,
    "cppjieba": None,
    "fnv1a": None,
    "go-fnv1a": None,
    "leonsim": None,
    "moz": 3,
    "moz-character": None,
    "mfonda": None,
    "mfonda-unicode": None,
    "mfonda-cjk": None,
    "ferd": None,
    "ferd-md5": None,
    "ferd-sha512": None,
    "ferd-phash": None,
    "clickhouse-ngram": None,
    "clickhouse-ngram-any-case": None,
    "clickhouse-ngram-utf8": None,
    "clickhouse-ngram-utf8-any-case": None,
    "clickhouse-words": None,
    "clickhouse-words-any-case": None,
    "data-juicer": 4,
    "data-juicer-character": None,
    "data-juicer-punctuation": None,
    "text-dedup-0.3.0": 3,
    "text-dedup-0.3.1": 1,
    "text-dedup-0.4.0": 1,
    "text-dedup-0.4.1": 3,
    "wayback": 2,
    "default-256": 10,
    "default-512": 24,
}
"""The largest distance at which 99 of 100 documents that were removed by it reach a Jaccard similarity of 0.8, in every corpus;
None where not even equal fingerprints do. By the name of the recipe."""
MEASURED = {name: named.recipe for name, named in RECIPES.items()} | {
    "default-256": Recipe(bits=256),
    "default-512": Recipe(bits=512),
}
"""The recipes that were measured; the last ones have no name elsewhere."""


def measured_as(recipe: Recipe) -> str | None:
    """The name under which the recipe was measured, or None."""
    digest = recipe.digest()
    return next((name for name, each in MEASURED.items() if each.digest() == digest), None)


def distance_alone(recipe: Recipe) -> int | None:
    """The distance for deciding by distance alone, unless another is asked for.

    The recipe's own, if it is not that of a named recipe; otherwise what is safe; None if nothing is known.
    """
    name = measured_as(recipe)
    if name is None or recipe.max_distance not in (None, MEASURED[name].max_distance):
        return recipe.max_distance
    return SAFE_DISTANCES[name] or 0
