"""REQUEST: what is asked of an evaluation, and what of it makes no sense."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from neardup.errors import OptionError
from neardup.judging.evaluation.labels import LabelRows, check_labels
from neardup.options import SAMPLE, DedupOptions
from neardup.recipe.methods import MEASURED, METHODS, MeasuredMethod


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What is asked of an evaluation, besides the recipe and the options of a join.

    Attributes:
        labels: pairs that are known to be near-duplicates or not; None: a sample says which are.
        complete: the labels have every near-duplicate, so whatever else is found is false.
        methods: to measure; all that serve the similarity if none is named.
        target_recall: what is recommended for, above 0 and up to 1.
        sample: how many documents are compared with all others.
        seed: of the sample.
    """

    labels: LabelRows | None = None
    complete: bool = False
    methods: MeasuredMethod | Sequence[MeasuredMethod] = ()
    target_recall: float = 0.99
    sample: int = SAMPLE
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(self.named_methods))  # an iterator is read once

    @property
    def named_methods(self) -> Sequence[MeasuredMethod]:
        """Those that were named, one or several."""
        return (self.methods,) if isinstance(self.methods, str) else self.methods

    def measured_methods(self, options: DedupOptions) -> Sequence[MeasuredMethod]:
        """Those that were named, else those that serve the similarity."""
        if self.named_methods:
            return self.named_methods
        rows = {name: METHODS[name] for name in MEASURED if METHODS[name].is_for(options.similarity)}
        return [name for name, row in rows.items() if options.min_similarity > 0 or not row.needs_similarity]

    def check(self, options: DedupOptions) -> None:
        """Look at all that is asked, and at the beginning of the labels, before a document is read.

        Raises:
            OptionError: a value is not allowed, or does not go with the options.
            InputError: there is no such file of labels, it is of another kind, or its columns name no pairs.
            DataError: its beginning cannot be read.
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
        for name, value, least in (("sample", self.sample, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                problems.append(f"`{name}={value!r}`: give an integer from {least} up")
        problems += [
            f"`methods={[name]!r}`: give one of {', '.join(MEASURED)}"
            for name in self.named_methods
            if name not in MEASURED
        ]
        if problems:
            raise OptionError("; ".join(problems) + ".")

    def _check_without_labels(self, options: DedupOptions) -> None:
        if options.min_similarity == 0:
            raise OptionError(
                "`min_similarity=0`: without labels the similarity says which pairs are near; give one above 0."
            )
        if options.similarity != "jaccard":
            raise OptionError(
                f"`similarity={options.similarity!r}`: without labels near-duplicates are looked for by jaccard. "
                "Give labels as `pairs`, or leave it out."
            )
        if self.complete:
            raise OptionError("`complete=True` is about labels, and none are given. Give `pairs`, or leave it out.")
