"""The options of `evaluate` and `evaluate_files`. Importing this module loads no compiled code."""

from neardup.io.corpora.reading import ReadingDict
from neardup.options import Guard, SurvivorOptions
from neardup.recipe.similarity import SimilarityLike
from neardup.resources.resources import ResourceOptions

SAMPLE = 4000
"""The number of documents that an evaluation compares with all others.

For a million documents and one recipe, this takes about 12 s on one thread.
"""

TARGET_RECALL, MIN_PRECISION = 0.99, 0.9
"""The recall that recommended options reach, and the precision that they keep."""


class EvaluateOptions(ResourceOptions, total=False):
    """The options of `evaluate`."""

    min_similarity: float
    similarity: SimilarityLike
    max_distance: int | None


class EvaluateFileOptions(ReadingDict, EvaluateOptions, total=False):
    """The options of `evaluate_files`."""


class PlanFileOptions(SurvivorOptions, EvaluateFileOptions, total=False):
    """The options of `plan_files`."""

    guard: Guard | None
