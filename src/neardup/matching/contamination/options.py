"""When a document counts as contaminated: the options of `neardup decontaminate`."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, TypedDict

from neardup.errors import OptionError, is_integer
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import VERSION
from neardup.recipe.tables.similarities import CJK_SHINGLE, WORD_SHINGLE
from neardup.resources.resources import Resources

LEAST_TOKENS = max(WORD_SHINGLE, CJK_SHINGLE)
"""Items of fewer tokens may have no shingle."""
MANY_ITEMS = 10
"""A passage that stands in so many items may be what they share, such as an instruction; their shingles are no item's own."""


@dataclass(frozen=True, kw_only=True)
class DecontaminationOptions:
    """When a document counts as contaminated by an item.

    Attributes:
        min_share: the share of the item's shingles, from above 0 to 1, that one passage of the document must have. The passage
            is at most twice as long as the item.
        min_run: tokens, at least 5: a run of so many that stands in the item and in the document is enough.
        min_tokens: tokens, at least 5: shorter items are not checked, but listed.
        recipe: what the tokens are: "default", or "all-scripts" for Thai, Khmer and other scripts without spaces, and for emoji.
            Nothing else of a recipe matters here, so one with normalizers, shingles, stop words or a segmenter is refused.
        threads: the number of threads; all processors by default. It never changes the result.
        temp_dir, temp_limit: the folder for temporary files, and the bytes that these may take together; see `DedupOptions`.

    Raises:
        OptionError: a value is not allowed.
    """

    min_share: float = 0.8
    min_run: int = 50
    min_tokens: int = 8
    recipe: RecipeLike = "default"
    threads: int | None = None
    temp_dir: str | None = None
    temp_limit: int | str | None = None

    def __post_init__(self) -> None:
        problems = []
        share = self.min_share
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share <= 1:
            problems.append(f"`min_share={share!r}`: give a number above 0, up to 1")
        else:
            object.__setattr__(self, "min_share", float(share))  # JSON cannot hold numpy's numbers
        for name in ("min_run", "min_tokens"):
            given = getattr(self, name)
            if not is_integer(given) or given < LEAST_TOKENS:
                problems.append(
                    f"`{name}={given!r}`: give an integer from {LEAST_TOKENS}, the tokens of a shingle of Han characters"
                )
            else:
                object.__setattr__(self, name, int(given))
        found = recipe_of(self.recipe)
        if found.tokenization() != Recipe(version=found.version).tokenization():
            problems.append(
                f"`recipe={self.recipe!r}`: give 'default' or 'all-scripts'. Decontamination compares their words, and this recipe "
                "makes other ones"
            )
        try:
            self.resources  # noqa: B018 - made once, which checks its fields
        except OptionError as problem:
            problems.append(str(problem).rstrip("."))
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @cached_property
    def version(self) -> int:
        """That of the tokens, see `Recipe`."""
        return recipe_of(self.recipe).version

    @cached_property
    def resources(self) -> Resources:
        """Threads, and the folder and the limit of temporary files."""
        return Resources(threads=self.threads, temp_dir=self.temp_dir, temp_limit=self.temp_limit)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the version of the tokens if it is not 1."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "recipe"}
        return values if self.version == VERSION else values | {"version": self.version}


class DecontaminationOptionsDict(TypedDict, total=False):
    """The fields of `DecontaminationOptions`."""

    min_share: float
    min_run: int
    min_tokens: int
    recipe: RecipeLike
    threads: int | None
    temp_dir: str | None
    temp_limit: int | str | None
