"""Cut repeated passages out of texts in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, Unpack, overload

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, html_table
from neardup.errors import OptionError, column_names
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.options import refuse_unknown
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.dedup_result import Survivors
from neardup.survivors.records.result_tables import with_pandas_types
from neardup.survivors.repeats.options import PassageOptions, PassageOptionsDict, column_problems
from neardup.survivors.repeats.outcomes import Passages, find_passages
from neardup.survivors.repeats.records.cut_log import CutSegments, Spans, cut_table
from neardup.survivors.repeats.records.repeated import ListedPlaces, list_repeated
from neardup.survivors.repeats.records.summary import PassagesSummary, summarize_passages
from neardup.survivors.repeats.token_stream import SEPARATOR
from neardup.text.frame_types import Item, Rows, Streamed

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class PassagesResult(Generic[Survivors]):
    """The result of `passages`.

    Attributes:
        texts: the data without the passages that are cut and without the documents that are removed, in input order and of the
            same type as the input. With `html`, the texts are those of the pages.
        spans: for each row of the data, what is cut: text column, first character and end of each, in a list.
        cuts: Arrow table with one row for each passage that is cut: id, row, start, end, tokens, copy_id, copy_row, copy_start,
            copy_end, copy_is_cut, separator, document_removed. With several text columns, it also has column and copy_column;
            with a reference, reference_row.
        kept: bool[rows], whether each row stays.
        summary: the counts and seconds of the run.
    """

    texts: Survivors
    spans: list[list[tuple[int, int, int]]]
    cuts: Any
    kept: Array
    summary: PassagesSummary
    _list: Callable[[], Any] = field(repr=False, compare=False, kw_only=True)

    @cached_property
    def repeated(self) -> Any:
        """Arrow table with one row for each passage, the most repeated first: count, tokens, total (the product of both), text, and
        places, of which the first is the copy that stays: id, row, start, end, is_cut. Made when it is asked for.
        """
        return self._list()

    def __repr__(self) -> str:
        return f"PassagesResult({self.summary.in_a_line()})"

    def _repr_html_(self) -> str:
        shown = self.cuts.slice(0, SHOWN_ROWS)
        return self.summary._repr_html_() + html_table(
            shown.column_names, zip(*(column.to_pylist() for column in shown.columns), strict=True), self.cuts.num_rows
        )


class PassagesOptions(PassageOptionsDict, total=False):
    """All keyword arguments of `passages`."""

    text: str | Iterable[str]
    id: str | None
    html: Html | None
    against: Any
    source: str | None
    recipe: RecipeLike | None
    progress: Watcher


@overload
def passages(data: list[Item], **options: Unpack[PassagesOptions]) -> PassagesResult[list[Item]]: ...
@overload
def passages(data: tuple[Item, ...], **options: Unpack[PassagesOptions]) -> PassagesResult[tuple[Item, ...]]: ...
@overload
def passages(data: Rows, **options: Unpack[PassagesOptions]) -> PassagesResult[Rows]: ...  # type: ignore[overload-overlap]
@overload
def passages(data: Streamed, **options: Unpack[PassagesOptions]) -> PassagesResult["pyarrow.Table"]: ...
@overload
def passages(data: Iterator[Item], **options: Unpack[PassagesOptions]) -> PassagesResult[list[Item]]: ...
@overload
def passages(data: Iterable[Item], **options: Unpack[PassagesOptions]) -> PassagesResult[Sequence[Item]]: ...
def passages(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    html: Html | None = None,
    against: Any = None,
    source: str | None = None,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **options: Unpack[PassageOptionsDict],
) -> PassagesResult[Any]:
    """Cut repeated passages out of texts: every run of tokens that stood earlier; one copy stays.

    A passage is a run of at least `min_tokens` tokens that stood earlier: in a document that comes first, or in the same one.
    Every token that is cut also stands in a text that is kept. A document with fewer than `min_left` tokens left is removed, unless
    something is left to which a cut refers.

    Args:
        data: the texts, of any type that `deduplicate` takes.
        text: the column of the texts. With several columns, passages are cut out of each; none goes on from one into the next.
        id: the column of the ids; `id` by default, or else the numbers of the rows.
        html: the texts are HTML: `main` or `whole`. All texts that stay become those of the pages.
        against: a reference of any of these types; its columns have the same names. What stands in it counts as earlier. It is not
            changed.
        source: the column that names the source of each row; for `prefer_source`.
        recipe: its normalizers are applied before texts are cut into tokens.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`.
        **options: the fields of `PassageOptions`: min_tokens, scope, align, min_left, similarity, keep, within, threads …

    Raises:
        OptionError: an option has a value that is not allowed, or the data has an unsupported type.
        InputError: a column does not exist.
        DataError: a text is null or not a string.

    >>> notice = "All rights reserved by the paper."
    >>> found = passages([f"The ferry left. {notice}", f"The loaf is plain. {notice}"], min_tokens=5)
    >>> found.texts
    ['The ferry left. All rights reserved by the paper.', 'The loaf is plain. .']
    >>> found.cuts.select(["row", "start", "end", "copy_row", "copy_start"]).to_pylist()
    [{'row': 1, 'start': 19, 'end': 51, 'copy_row': 0, 'copy_start': 16}]
    """
    refuse_unknown(options, passages)
    chosen, made_by, shown = PassageOptions(**options), recipe_of(recipe), progress_of(progress)
    names = column_names(text)
    if problems := column_problems(names, html):
        raise OptionError("; ".join(problems) + ".")
    if source is not None and not chosen.order.prefer_source:
        raise OptionError(
            f"`source={source!r}`: it is for `prefer_source`, which is not given. Give that, or leave out `source`."
        )
    open_table = partial(
        TableCorpus,
        text=names,
        id=id,
        html=html,
        separator=SEPARATOR if len(names) > 1 else "\n",
        resources=chosen.resources,
        say=shown.say,
    )
    corpus = open_table(data, values=chosen.order.columns, source=source)
    corpus.demand_texts("data")
    reference = None
    if against is not None:
        within = [name for name in chosen.order.columns if name == chosen.order.grouped_by]
        reference = open_table(against, values=within, called="against", names_are_optional=len(names) == 1)
        reference.demand_texts("against")
    found = find_passages(corpus, made_by, chosen, shown, reference=reference, columns=len(names))
    return _result(found, corpus, reference, names, made_by, chosen, shown, html)


def _result(
    found: Passages,
    corpus: TableCorpus,
    reference: TableCorpus | None,
    names: Sequence[str],
    recipe: Any,
    options: PassageOptions,
    progress: Progress,
    html: str | None,
) -> PassagesResult[Any]:
    spans, ids, stream = Spans(found.cut), corpus.ids_with(reference), found.repeats.stream

    def rest(row: int, text: str) -> list[str]:
        return spans.rest(row, stream.columns_of(text))

    def repeated() -> Any:
        places = ListedPlaces.none(found, ids, names)
        with list_repeated(found, places, reference, options.resources, Progress()) as listed:
            return with_pandas_types(listed.table(with_reference=reference is not None))

    return PassagesResult(
        texts=corpus.keep_rewritten(found.kept, spans.changed(found.repeats.inputs, every=html is not None), rest),
        spans=[
            [(column, first, end) for column, first, end, _ in spans.of(row)] for row in range(found.repeats.inputs)
        ],
        cuts=with_pandas_types(cut_table(CutSegments.of(found, ids, names), with_reference=reference is not None)),
        kept=found.kept,
        summary=summarize_passages(
            found, len(names), recipe, options, progress, repeated_ids=corpus.repeated_ids, html=html
        ),
        _list=repeated,
    )
