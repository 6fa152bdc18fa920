"""Split texts in memory into sides, such as train and test."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from neardup.dedup import columns_with
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.jobs.splits.find import find_sides, summarize_split
from neardup.jobs.splits.matching import SplitMatching, matching_of
from neardup.jobs.splits.side_column import column_like
from neardup.options import refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.splits.options import Shares, SplitOptions

NAME = "side"
"""The name of the column."""


class SplitWarning(UserWarning):
    """A split is not what was asked for: matching documents that stay together decide a side, or a share was missed."""


def split(
    data: Any,
    shares: Shares,
    *,
    seed: int = 0,
    stratify: str | None = None,
    group: str | None = None,
    text: str | Iterable[str] = "text",
    elements: str | None = None,
    html: Html | None = None,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **options: Unpack[SplitMatching],
) -> Any:
    """Deal documents to sides, such as train and test, so that no two documents on different sides match.

    Documents that matches connect, however long the chain, go to one side, as do all with the same value of `group`. Matches are
    found by an exact join: none is missed. The sides depend on the texts, the shares and the seed, not on ids or on the order of
    rows.

    Args:
        data: the texts, of any type that `deduplicate` takes.
        shares: the share of each side: `{"train": 0.8, "val": 0.1, "test": 0.1}`, or `"train=0.8,val=0.1,test=0.1"`.
        seed, stratify, group: see `SplitOptions`; the latter two are columns.
        text, elements, html, recipe, progress: as in `deduplicate`.
        **options: min_similarity, similarity, within, threads, memory, temp_dir, temp_limit of `DedupOptions`.

    Returns:
        The name of the side of each row, as a column of the kind that the data has: a Series of pandas (with the data's index) or
        of polars, an array of NumPy or Arrow, or a list.

    Warns:
        SplitWarning: matching documents decide a side, or a share was missed by more than 1 % of the documents.

    Raises:
        OptionError: an option has a value that is not allowed, or the data has an unsupported type.
        InputError: a column does not exist.
        DataError: a text is null or not a string.

    >>> texts = ["A rose is a rose, said she.", "a rose is a rose said she", "A tulip.", "An oak.", "A fir.", "A lily."]
    >>> split(texts, {"train": 0.7, "test": 0.3})
    ['train', 'train', 'train', 'test', 'test', 'train']
    """
    refuse_unknown(options, split)
    how, shown = SplitOptions(shares=shares, seed=seed, stratify=stratify, group=group), progress_of(progress)
    chosen = matching_of(options)
    made_by = recipe_of(recipe, chosen.version)
    rows = data if not hasattr(data, "__next__") else list(data)  # an iterator is read once
    corpus = TableCorpus(
        rows,
        text=text,
        elements=elements,
        html=html,
        values=columns_with(chosen, how.columns),
        resources=chosen.resources,
        say=shown.say,
    )
    made_by, chosen = corpus.fitted(made_by, chosen)
    found = find_sides(corpus, made_by, chosen, how, shown)
    warn_of(summarize_split(found, made_by, chosen, shown, html=html).warnings, warnings.warn)
    names = how.sides
    return column_like(rows, [names[side] for side in found.sides.tolist()], NAME)


def warn_of(told: Iterable[str], warn: Callable[..., object]) -> None:
    """Tell what stood in the way, in the name of who called the public function."""
    for each in told:
        warn(each, SplitWarning, stacklevel=4)
