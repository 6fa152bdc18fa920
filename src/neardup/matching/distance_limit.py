"""The Hamming distance that a run uses: what was asked for, or the recipe's, or the method's."""

from neardup.errors import OptionError
from neardup.options import DedupOptions
from neardup.recipe.presets import usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe

SIEVE_SHARE = 0.3
"""minhash does not verify candidates whose fingerprints differ in more of their bits: docs/decisions/0005-methods.md."""


def distance_limit(recipe: Recipe | VectorRecipe, options: DedupOptions, *, have_texts: bool = True) -> int | None:
    """The distance asked for, or what the method takes: the recipe's (simhash), the sieve's (minhash), None (exact).

    Raises:
        OptionError: the recipe has no distance of its own, or fewer bits.
    """
    far = options.max_distance
    if far is None and options.taken() == "simhash":
        far = usual_distance(recipe)
        if far is None:
            other = ", or another method" if have_texts else ""  # of fingerprints alone there is none
            raise OptionError(
                f"This recipe of {recipe.bits} bits has no distance of its own. Give max_distance{other}."
            )
    if far is None:
        return int(SIEVE_SHARE * recipe.bits) if options.taken() == "minhash" else None
    if far > recipe.bits:
        raise OptionError(
            f"max_distance={far}: the recipe has {recipe.bits} bits; give an integer from 0 to {recipe.bits}."
        )
    return far
