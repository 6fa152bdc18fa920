"""REQUEST: what an evaluation is asked to do, and the checks that refuse a request that makes no sense."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, get_args

from neardup.errors import OptionError, is_integer
from neardup.judging.evaluation.labels import LabelRows, check_labels
from neardup.judging.evaluation.options import MIN_PRECISION, SAMPLE, TARGET_RECALL
from neardup.options import DedupOptions
from neardup.recipe.given_elements import similarity_of_elements
from neardup.recipe.similarity import Similarity, SimilarityLike, similarity_of
from neardup.recipe.tables.methods import MEASURED, METHODS, MeasuredMethod
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName
from neardup.recipe.tables.spellings import one_of

_MEASURES = [name for name in get_args(SimilarityName) if SIMILARITIES[name].shingles not in (None, (1, 1))]
OTHER_SHINGLES = (
    *(Similarity(measure=name, word_shingle=size, cjk_shingle=size) for size in (1, 2) for name in _MEASURES),
    *(Similarity(measure=name, segmenter="characters", word_shingle=size) for size in (3, 4, 5) for name in _MEASURES),
    Similarity(measure="edit", segmenter="characters"),
)
"""Similarities that are tried with labels besides those that have names: of shorter shingles, and of characters."""


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What an evaluation is asked to do, in addition to the recipe and the options of a join.

    Attributes:
        labels: pairs known to be near-duplicates or not; None to learn them from a sample.
        complete: the labels include every near-duplicate, so any other pair found is false.
        methods: the methods to measure; if none is named, all that serve the similarity.
        similarities: the similarities to try; if none is given, all that have names, and OTHER_SHINGLES. Without labels the only
            one is that of the options, a Jaccard coefficient.
        target_recall: the recall that the recommendation should reach, above 0 and up to 1.
        min_precision: the least precision that it should keep where precision is known, from 0 to 1.
        of_elements: the documents are given sets or lists: recipes of texts are not tried, and elements are compared as they are.
        have_sets: some of them are sets, which have no order.
        sample: how many documents are compared with all others.
        seed: seed of the sample.
    """

    labels: LabelRows | None = None
    complete: bool = False
    methods: MeasuredMethod | Sequence[MeasuredMethod] = ()
    similarities: Sequence[SimilarityLike] = ()
    target_recall: float = TARGET_RECALL
    min_precision: float = MIN_PRECISION
    of_elements: bool = False
    have_sets: bool = False
    sample: int = SAMPLE
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.methods, Iterable):
            raise OptionError(f"`methods={self.methods!r}`: give names of methods.")
        object.__setattr__(self, "methods", tuple(self.named_methods))  # an iterator is read once

    @property
    def named_methods(self) -> Sequence[MeasuredMethod]:
        """The methods that were named, one or several."""
        return (self.methods,) if isinstance(self.methods, str) else self.methods

    def measured_methods(self, options: DedupOptions) -> Sequence[MeasuredMethod]:
        """The methods that were named, else those that serve the similarity."""
        if self.named_methods:
            return self.named_methods
        rows = {name: METHODS[name] for name in MEASURED if METHODS[name].is_for(options.measure)}
        return [name for name, row in rows.items() if options.min_similarity > 0 or not row.needs_similarity]

    def tried_similarities(self) -> tuple[Similarity | SimilarityName, ...]:
        """The similarities to try, with labels."""
        names: tuple[SimilarityLike, ...] = tuple(self.similarities) or get_args(SimilarityName)
        if not self.of_elements:
            return tuple(map(similarity_of, names if self.similarities else (*names, *OTHER_SHINGLES)))
        if self.have_sets:
            names = tuple(name for name in names if name != "edit")
        return tuple(similarity_of_elements(similarity_of(name), have_sets=self.have_sets) for name in names)

    def check(self, options: DedupOptions) -> None:
        """Check the whole request, and the beginning of the labels, before any document is read.

        Raises:
            OptionError: a value is not allowed, or contradicts the options.
            InputError: there is no such file of labels, it is of another format, or its columns name no pairs.
            DataError: the beginning of the labels cannot be read.
        """
        self._check_values()
        if self.labels is None:
            self._check_without_labels(options)
        else:
            check_labels(self.labels)

    def _check_values(self) -> None:
        problems, target = [], self.target_recall
        if isinstance(target, bool) or not isinstance(target, Real) or not 0 < target <= 1:
            problems.append(f"`target_recall={target!r}`: give a number above 0, up to 1")
        least = self.min_precision
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1:
            problems.append(f"`min_precision={least!r}`: give a number from 0 to 1")
        for name, value, lowest in (("sample", self.sample, 1), ("seed", self.seed, 0)):
            if not is_integer(value) or value < lowest:
                problems.append(f"`{name}={value!r}`: give an integer from {lowest} up")
        problems += [one_of("methods", [name], MEASURED) for name in self.named_methods if name not in MEASURED]
        if problems:
            raise OptionError("; ".join(problems) + ".")

    def _check_without_labels(self, options: DedupOptions) -> None:
        if options.min_similarity == 0:
            raise OptionError(
                "`min_similarity=0`: without labels the similarity says which pairs are near; give one above 0."
            )
        if options.measure != "jaccard":
            raise OptionError(
                f"`similarity={str(options.compared_by)!r}`: without labels near-duplicates are looked for by jaccard. "
                "Give labels as `pairs`, or leave it out."
            )
        if self.complete:
            raise OptionError("`complete=True` is about labels, and none are given. Give `pairs`, or leave it out.")


def similarities_of(options: Mapping[str, Any]) -> tuple[SimilarityLike, ...]:
    """The similarity among the options that a function received; empty if it was not given, which is to try all."""
    return (options["similarity"],) if "similarity" in options else ()
