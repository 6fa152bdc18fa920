"""Folds for scikit-learn, of which no two have documents that match."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError, is_integer
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.jobs.splits.find import find_sides
from neardup.jobs.splits.matching import SplitMatching, matching_of
from neardup.options import refuse_unknown
from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.splits.options import SplitOptions

_MOST_FOLDS = 10_000


class GroupSplitter:
    """A cross-validator for scikit-learn: no document of a fold matches a document of another fold.

    Pass it as `cv` to `cross_val_score`, `GridSearchCV` and the like, with texts as X: `cross_val_score(pipeline, texts, labels,
    cv=GroupSplitter(5))`. The vectorizer belongs into the pipeline. `groups`, if they are given, stay together, too.

    Args:
        n_splits: the number of folds, at least 2. They have nearly as many documents each; see `split`.
        text, elements, html, recipe: as in `split`, where X is a table.
        stratify: whether each fold gets its share of each value of y.
        seed: see `SplitOptions`.
        **options: min_similarity, similarity, within, threads, memory, temp_dir, temp_limit of `DedupOptions`.

    Raises:
        OptionError: an option has a value that is not allowed.

    >>> texts = ["A rose is a rose, said she.", "A tulip.", "a rose is a rose said she", "An oak."]
    >>> [test.tolist() for _, test in GroupSplitter(2).split(texts)]
    [[0, 2], [1, 3]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        text: str | Iterable[str] = "text",
        elements: str | None = None,
        html: Html | None = None,
        recipe: RecipeLike | None = None,
        stratify: bool = False,
        seed: int = 0,
        **options: Unpack[SplitMatching],
    ) -> None:
        refuse_unknown(options, GroupSplitter.__init__, "GroupSplitter")
        if not is_integer(n_splits) or not 2 <= n_splits <= _MOST_FOLDS:
            raise OptionError(f"`n_splits={n_splits!r}`: give a number of folds, from 2 to {_MOST_FOLDS:,}.")
        if not isinstance(stratify, bool):
            raise OptionError(f"`stratify={stratify!r}`: give True, to share out the values of y, or False.")
        self.n_splits, self.stratify, self.seed = int(n_splits), stratify, seed
        self._reading: dict[str, Any] = {"text": text, "elements": elements, "html": html}
        self._how = SplitOptions(
            shares={f"fold{number}": 1 / self.n_splits for number in range(self.n_splits)}, seed=seed
        )
        self._options, self._recipe = dict(options), recipe
        chosen = matching_of(options)
        recipe_of(recipe, chosen.version)

    def __repr__(self) -> str:
        given = {"stratify": self.stratify, "seed": self.seed} | self._options
        return f"GroupSplitter({self.n_splits}, {', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803, ARG002 - scikit-learn's names
        """The number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:  # noqa: N803
        """Yield the rows to train on and those to test on, int64 each, fold by fold.

        Args:
            X: the texts, of any type that `deduplicate` takes.
            y: the labels; needed if `stratify`.
            groups: rows of equal values stay together; None and NaN are no group.

        Raises:
            OptionError: X has no texts, y or groups have another length, or there are fewer sets of documents than folds.
            DataError: a text is null or not a string.
        """
        chosen, made_by = matching_of(self._options), None
        made_by = recipe_of(self._recipe, chosen.version)
        _refuse_features(X)
        corpus = TableCorpus(X, **self._reading, values=chosen.columns, called="X", resources=chosen.resources)
        made_by, chosen = corpus.fitted(made_by, chosen)
        rows = len(corpus.ids)
        if self.stratify and y is None:
            raise OptionError(
                "`stratify=True` shares out the values of `y`, which is not given. Pass y, or leave it out."
            )
        strata = _numbered(y, "y", rows)[0] if self.stratify else None
        known = None if groups is None else _numbered(groups, "groups", rows)
        found = find_sides(
            corpus,
            made_by,
            chosen,
            self._how,
            Progress(),
            groups=None if known is None else np.where(known[1], -1, known[0]),
            strata=strata,
        )
        sets = len(np.unique(found.labels))
        if sets < self.n_splits:
            raise OptionError(
                f"`n_splits={self.n_splits}`: X has {counted(sets, 'set')} of documents that stay together, and each fold "
                "needs one. Give fewer folds, or a larger `min_similarity`."
            )
        for fold in range(self.n_splits):
            yield np.flatnonzero(found.sides != fold), np.flatnonzero(found.sides == fold)


def _refuse_features(data: Any) -> None:
    """Refuse a matrix: texts have been turned into features, which are not compared."""
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) == 2 and not hasattr(data, "columns"):
        raise OptionError(
            f"X is a matrix of {shape[0]:,} rows and {shape[1]:,} columns; texts are needed. Put the vectorizer into a Pipeline, "
            "and pass the texts as X. Or keep the matrix, and pass scikit-learn's GroupKFold the clusters: "
            "`groups=nd.deduplicate(texts, cluster='components').annotations['cluster_id'].to_numpy()`."
        )


def _numbered(values: Any, name: str, rows: int) -> tuple[Array, Array]:
    """int64[rows]: equal for equal values; and bool[rows]: whether each is missing."""
    tolist: Callable[[], list[Any]] | None = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    given = list(values) if tolist is None else tolist()
    if len(given) != rows:
        raise OptionError(
            f"`{name}` has {counted(len(given), 'value')}, and X has {counted(rows, 'row')}. Give as many."
        )
    numbers: dict[Any, int] = {}
    missing = [value is None or value != value for value in given]
    found = [
        numbers.setdefault(None if none else value, len(numbers)) for value, none in zip(given, missing, strict=True)
    ]
    return np.array(found, np.int64), np.array(missing, np.bool_)
