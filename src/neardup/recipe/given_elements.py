"""The recipe and the similarity of given sets and lists, whose elements are features and shingles as they are."""

import dataclasses

from neardup.display import as_code
from neardup.errors import OptionError
from neardup.recipe.kinds import ElementRecipe
from neardup.recipe.presets import usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity, measure_of
from neardup.recipe.tables.parts import OF_TEXTS
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName


def recipe_of_elements(recipe: Recipe) -> ElementRecipe:
    """The recipe of which each element is one feature; hash, bits, weights and distance are those of `recipe`.

    Raises:
        OptionError: the recipe says how texts are cut, which would be ignored.
    """
    made = dataclasses.replace(
        Recipe(), normalize=(), segmenter="whitespace", word_shingle=1, max_distance=usual_distance(recipe)
    )
    plain = Recipe()
    ignored = [name for name in OF_TEXTS if getattr(recipe, name) not in (getattr(plain, name), getattr(made, name))]
    if ignored:
        raise OptionError(
            f"Given elements are features as they are: {as_code(ignored, ' and ')} of this recipe would be ignored. Leave it out."
        )
    own = {field.name: getattr(recipe, field.name) for field in dataclasses.fields(recipe)}
    own |= {name: getattr(made, name) for name in (*OF_TEXTS, "max_distance")}
    return ElementRecipe(**own)


def similarity_of_elements(
    similarity: Similarity | SimilarityName, *, have_sets: bool = False
) -> Similarity | SimilarityName:
    """The similarity with the same measure that compares elements as they are given; of the recipe's features, the cosine.

    Raises:
        OptionError: it says how texts are cut, which would be ignored; or it compares the order of elements, and there are sets.
    """
    measure = measure_of(similarity)
    if have_sets and SIMILARITIES[measure].verified == "sequence":
        raise OptionError(f"`similarity={measure!r}` compares the order of elements, and sets have none. Give lists.")
    if SIMILARITIES[measure].shingles is None:
        return measure
    made = Similarity(measure=measure, word_shingle=1, segmenter="whitespace", normalize=())
    if isinstance(similarity, Similarity) and similarity != made:
        raise OptionError(
            f"`similarity={str(similarity)!r}`: given elements are compared as they are, and its shingles and normalizers would be "
            f"ignored. Give `similarity={measure!r}`."
        )
    return made
