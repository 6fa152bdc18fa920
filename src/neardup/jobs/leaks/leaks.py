"""Leaks between texts in memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, html_table
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.jobs.leaks.find import NONE, find_leaks, leak_columns, summarize_leaks
from neardup.jobs.leaks.options import LeakOptions, options_of_leaks
from neardup.options import refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.survivors.leaks.summary import LeakSummary
from neardup.survivors.records.result_tables import with_pandas_types


@dataclass(frozen=True)
class LeakResult:
    """The result of `leaks`. Call `.to_pandas()` on the table for a data frame.

    Attributes:
        items: Arrow table with a row for each test document that is in the training set: id, row, strength (exact, near or
            contained), train_id, train_row, start and end (where it stands there, in characters; null if only the document is
            known), similarity (of near ones), item_share, item_run and passage (of contained ones).
        leaked: bool[rows of the test set], whether each is in the training set.
        summary: the counts and seconds.
    """

    items: Any
    leaked: Array
    summary: LeakSummary

    def __repr__(self) -> str:
        return f"LeakResult({self.summary.in_a_line()})"

    def _repr_html_(self) -> str:
        shown = self.items.slice(0, SHOWN_ROWS)
        return self.summary._repr_html_() + html_table(
            shown.column_names, zip(*(column.to_pylist() for column in shown.columns), strict=True), self.items.num_rows
        )


def leaks(
    train: Any,
    test: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    html: Html | None = None,
    test_text: str | Iterable[str] | None = None,
    test_id: str | None = None,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **options: Unpack[LeakOptions],
) -> LeakResult:
    """Find what of a test set is in a training set: copies, near-duplicates, and documents of which a passage is there.

    Each test document is looked for by itself. Copies have equal normalized texts. Near-duplicates are at least as similar as
    `min_similarity`; none is missed. A test document is contained if a passage of a training document has `min_share` of its
    shingles, or if both have a run of `min_run` tokens; see `decontaminate`.

    Args:
        train, test: the texts, of any type that `deduplicate` takes.
        text, id, html, recipe, progress: as in `deduplicate`.
        test_text, test_id: the columns of the test set; by default those of the training set.
        **options: min_similarity, similarity, threads, memory, temp_dir, temp_limit of `DedupOptions`; min_share, min_run,
            min_tokens of `DecontaminationOptions`.

    Raises:
        OptionError: an option has a value that is not allowed, or the data has an unsupported type.
        InputError: a column does not exist.
        DataError: a text is null or not a string.

    >>> train = ["A quiz for bakers. How many grams of salt go into the plain loaf? Ten, as ever.", "An oak stood in the yard."]
    >>> found = leaks(train, ["An Oak stood in the yard.", "How many grams of salt go into the plain loaf?", "A tulip."])
    >>> found.items.select(["row", "strength", "train_row", "start", "end"]).to_pylist()[1]
    {'row': 1, 'strength': 'contained', 'train_row': 0, 'start': 19, 'end': 65}
    >>> found.summary.in_a_line()
    '2 of 3 test documents are in the training set: 1 exact, 0 near, 1 contained'
    """
    refuse_unknown(options, leaks)
    (near, passages, made_by), shown = options_of_leaks(options, recipe), progress_of(progress)
    corpus, tests = (
        TableCorpus(
            data,
            text=columns,
            id=name,
            html=html,
            called=called,
            names_are_optional=called == "test",
            resources=near.resources,
            say=shown.say,
        )
        for called, data, columns, name in (
            ("train", train, text, id),
            ("test", test, text if test_text is None else test_text, id if test_id is None else test_id),
        )
    )
    corpus.demand_texts("train")
    tests.demand_texts("test")
    found = find_leaks(corpus, tests, made_by, near, passages, shown)
    rows = slice(0, len(found.strength))
    return LeakResult(
        items=with_pandas_types(leak_columns(found, (tests.ids, corpus.ids))),
        leaked=found.strength != NONE,
        summary=summarize_leaks(found, made_by, near, passages, shown, tests=[("test", rows)], html=html),
    )
