"""JOB OPTIONS: what is to be done, for all stages: a recipe and options, and what follows from them. It travels to every task."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from neardup.errors import OptionError
from neardup.kernels.matching.similarities import BY_NORM
from neardup.matching.resolved_options import resolve
from neardup.matching.similarities.table import ElementMaker, maker_of
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import METHODS, Promise

HIGH = 0.75
"""A similarity from which shorter bitmaps tell most pairs of unlike texts."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much tasks have at a time, and when large things are divided. Results are the same, whatever they are.

    Attributes:
        documents_per_group: of a group with a key in common whose pairs are looked at to choose whether it is large: two million
            pairs, some 10 ms.
        pairs_per_document: that a group may have, so that they are listed at once; those of other groups come in waves.
        pairs_per_document_refined: the same where other keys tell more of those of large groups.
        first_documents: of a group that are compared with all others in the first wave; wave_growth: how many times as many are in
            each further one. held_growth: the same where texts are held against each other, unless few of them match.
        listed_pairs: of a group that one task lists in the first wave: 64 MB.
        documents_per_block: two blocks of a large group are some 2 MB, and have up to 17 million pairs, a tenth of a second of
            comparisons; of a large home, some MB of what is known of them.
        rows_of_tiles: that are made at a time.
        pairs_per_chunk: of a home that is not divided, or of a chunk, which is else divided into runs of pairs.
        elements_per_block: of the texts of a block, where these are compared in chunks of two: some 13 MB of text.
        elements_held: of documents that are nearly alike, which are held against each other in tiles: 32 blocks.
        elements_per_site: of all its texts: some 25 MB of text.
        text_bytes: that are compared at a time, besides those of one site or chunk; and that are sent at a time, besides one text.
        matches_per_task: that one task decides by: some 300 MB.
        rounds, tries: before what is left goes by component; how often so many are made before a larger component is refused.
        matches_per_component: that one task decides by: some 1.2 GB.
        duplicates_per_share: of a survivor, in a bucket; those of one that has more are divided into shares.
        pairs_per_piece: of documents that are made together; those of a class that has more are divided into tiles.
        documents_per_side: of such a tile.
    """

    documents_per_group: int = 1 << 11
    pairs_per_document: int = 32
    pairs_per_document_refined: int = 1
    first_documents: int = 4
    wave_growth: int = 64
    held_growth: int = 8
    listed_pairs: int = 1 << 22
    documents_per_block: int = 1 << 12
    rows_of_tiles: int = 1 << 17
    pairs_per_chunk: int = 1 << 20
    elements_per_block: int = 1 << 21
    elements_held: int = 1 << 26
    elements_per_site: int = 1 << 22
    text_bytes: int = 1 << 25
    matches_per_task: int = 1 << 21
    rounds: int = 10
    tries: int = 10
    matches_per_component: int = 1 << 23
    duplicates_per_share: int = 64
    pairs_per_piece: int = 1 << 18
    documents_per_side: int = 1 << 10


@dataclass(frozen=True)
class Work:
    """What is to be done.

    Attributes:
        recipe: how texts become fingerprints.
        options: how documents match, and which survive; of one thread, as engines run many tasks beside one another.
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
        documents: how many there are, about; keys of blocks are so long that few have one in common by chance.
        limits: how much tasks have at a time.
    """

    recipe: Recipe
    options: DedupOptions
    min_tokens: int
    max_distance: int | None
    documents: int = 0
    limits: Limits = Limits()

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
    def deciding(self) -> dict[str, Any]:
        """The options that decide the result, and others, as plain values."""
        return self.options.as_dict()

    @property
    def by_distance(self) -> bool:
        """Whether distances decide alone, so that no text is compared."""
        return self.options.min_similarity == 0
