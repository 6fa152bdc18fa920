"""WORK: what is to be done, for all stages: a recipe and options, and what follows from them. It travels to every task."""

from dataclasses import dataclass, replace
from functools import cached_property

from neardup.errors import OptionError
from neardup.kernels.matching.similarities import BY_NORM
from neardup.matching.resolved_options import resolve
from neardup.matching.similarities.table import ElementMaker, maker_of
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import METHODS, Promise

HIGH = 0.75
"""A similarity from which shorter bitmaps tell most pairs of unlike texts."""


@dataclass(frozen=True)
class Work:
    """What is to be done.

    Attributes:
        recipe: how texts become fingerprints.
        options: how documents match, and which survive; of one thread, as engines run many tasks beside one another.
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
        documents: how many there are, about; keys of blocks are so long that few have one in common by chance.
    """

    recipe: Recipe
    options: DedupOptions
    min_tokens: int
    max_distance: int | None
    documents: int = 0

    @classmethod
    def of(cls, recipe: Recipe, options: DedupOptions) -> "Work":
        """For a recipe and options.

        Raises:
            OptionError: the method is left open, or the options do not go with the recipe.
        """
        resolved = resolve(recipe, options)
        method = resolved.options.taken()
        if resolved.method.promise is Promise.CHOSEN:
            given = ", ".join(name for name, row in METHODS.items() if row.promise is not Promise.CHOSEN)
            raise OptionError(
                f"`method={method!r}`: no engine looks at the corpus first to choose. Give one of {given}."
            )
        taken = replace(resolved.options, method=method, threads=1)
        return cls(recipe, taken, resolved.min_tokens, resolved.max_distance)

    @cached_property
    def similarity(self) -> ElementMaker:
        """What makes the elements that are compared."""
        return maker_of(self.options.compared_by)

    @property
    def bits_each(self) -> float:
        """Bits of a bitmap for each element; more for a low similarity, where less must be in common. 0: it would tell nothing."""
        if self.by_distance or self.similarity.code in BY_NORM:
            return 0.0
        return 0.85 if self.options.min_similarity >= HIGH else 1.7

    @property
    def by_distance(self) -> bool:
        """Whether distances decide alone, so that no text is compared."""
        return self.options.min_similarity == 0
