"""Which documents of a split match."""

from collections.abc import Callable, Mapping
from typing import Any

from neardup.errors import OptionError
from neardup.options import DedupOptions
from neardup.recipe.similarity import SimilarityLike
from neardup.resources.resources import ResourceOptions


class SplitMatching(ResourceOptions, total=False):
    """The options that say which documents match, and the resources of a split."""

    min_similarity: float
    similarity: SimilarityLike
    within: str | Callable[[str], Any] | None


def matching_of(given: Mapping[str, Any]) -> DedupOptions:
    """The options of the search for matches: it misses none, and connects them.

    Raises:
        OptionError: a value is not allowed.
    """
    if given.get("min_similarity") == 0:
        raise OptionError(
            f"`min_similarity={given['min_similarity']!r}`: every two documents would match. Give a number above 0, up to 1."
        )
    return DedupOptions(**given, method="exact", cluster="components")
