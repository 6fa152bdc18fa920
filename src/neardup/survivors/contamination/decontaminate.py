"""Remove documents that hold items of benchmarks from texts in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, Unpack, overload

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, html_table
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.matching.contamination.items import Items
from neardup.matching.contamination.options import DecontaminationOptions, DecontaminationOptionsDict
from neardup.matching.contamination.scan import Scanned
from neardup.options import refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.survivors.contamination.columns import contamination_columns
from neardup.survivors.contamination.decide import Benchmarks, Contamination, outcomes_of_batch, read_benchmark
from neardup.survivors.contamination.summary import DecontaminationSummary, summarize_contamination
from neardup.survivors.dedup_result import Survivors
from neardup.survivors.records.audit_schema import RESULTS
from neardup.survivors.records.result_tables import table_of, with_pandas_types
from neardup.text.frame_types import Item, Rows, Streamed

if TYPE_CHECKING:
    import pyarrow

UNNAMED = "against"
"""The name of a benchmark that was given without one."""


@dataclass(frozen=True)
class DecontaminationResult(Generic[Survivors]):
    """The result of `decontaminate`.

    Attributes:
        clean: the documents that hold no item, in input order and of the same type as the input.
        contaminated: Arrow table with one row for each removed document: id, row, item_id, item_row, benchmark, item_share,
            item_run, items, passage_items, passage, passage_characters.
        items: one dict for each item: id, benchmark, row, tokens, is_checked, reason, is_contaminated, documents, item_share,
            item_run, passage_items, strongest.
        annotations: Arrow table with one row for each row of the data: is_contaminated, item_id, benchmark, item_share, item_run.
        kept: bool[rows], whether each row is clean.
        summary: the counts and seconds of the run.
    """

    clean: Survivors
    contaminated: Any
    items: list[dict[str, Any]]
    annotations: Any
    kept: Array
    summary: DecontaminationSummary

    def __repr__(self) -> str:
        return f"DecontaminationResult({self.summary.in_a_line()})"

    def _repr_html_(self) -> str:
        shown = self.contaminated.slice(0, SHOWN_ROWS)
        return self.summary._repr_html_() + html_table(
            shown.column_names,
            zip(*(column.to_pylist() for column in shown.columns), strict=True),
            self.contaminated.num_rows,
        )


class DecontaminateOptions(DecontaminationOptionsDict, total=False):
    """All keyword arguments of `decontaminate`, but for `against`."""

    text: str | Iterable[str]
    id: str | None
    html: Html | None
    against_text: str | Iterable[str] | None
    against_id: str | None
    progress: Watcher


@overload
def decontaminate(
    data: list[Item], *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult[list[Item]]: ...
@overload
def decontaminate(
    data: tuple[Item, ...], *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult[tuple[Item, ...]]: ...
@overload
def decontaminate(
    data: Rows, *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult[Rows]: ...
@overload
def decontaminate(
    data: Streamed, *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult["pyarrow.Table"]: ...
@overload
def decontaminate(
    data: Iterator[Item], *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult[list[Item]]: ...
@overload
def decontaminate(
    data: Iterable[Item], *, against: Any, **options: Unpack[DecontaminateOptions]
) -> DecontaminationResult[Sequence[Item]]: ...
def decontaminate(
    data: Any,
    *,
    against: Any,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    html: Html | None = None,
    against_text: str | Iterable[str] | None = None,
    against_id: str | None = None,
    progress: Watcher = None,
    **options: Unpack[DecontaminationOptionsDict],
) -> DecontaminationResult[Any]:
    """Remove the documents that hold an item of a benchmark, whole or nearly; compare them with nothing else.

    A document holds an item if one of its passages has at least `min_share` of the item's shingles, or if a run of `min_run`
    tokens stands in both. A passage is at most twice as long as the item.

    Args:
        data: the documents, of any type that `deduplicate` takes.
        against: the benchmark, of any of these types; or a dict with the names of several benchmarks and their data.
        text: the column of the texts; several are joined by a newline.
        id: the column of the ids; `id` by default, or else the numbers of the rows.
        html: the documents are HTML: `main` or `whole`. Items are plain texts.
        against_text, against_id: the columns of the benchmarks; by default those of the data.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`.
        **options: the fields of `DecontaminationOptions`: min_share, min_run, min_tokens, recipe, threads, temp_dir, temp_limit.

    Raises:
        OptionError: an option has a value that is not allowed, or the data has an unsupported type.
        InputError: a column does not exist.
        DataError: a text is null or not a string.

    >>> question = "What is the boiling point of water on Mount Everest?"
    >>> found = decontaminate(["A quiz: what is the boiling point of water on Mount Everest? 71 °C!", "Tea."], against=[question])
    >>> found.clean
    ['Tea.']
    >>> found.contaminated["passage"].to_pylist()
    ['what is the boiling point of water on Mount Everest?']
    """
    refuse_unknown(options, decontaminate)
    chosen, shown = DecontaminationOptions(**options), progress_of(progress)
    corpus = TableCorpus(data, text=text, id=id, html=html, resources=chosen.resources, say=shown.say)
    corpus.demand_texts("data")
    given = dict(against) if isinstance(against, Mapping) else {UNNAMED: against}
    corpora = [
        TableCorpus(
            each,
            text=text if against_text is None else against_text,
            id=id if against_id is None else against_id,
            called=UNNAMED if name == UNNAMED else f"against[{name!r}]",
            names_are_optional=True,
            resources=chosen.resources,
            say=shown.say,
        )
        for name, each in given.items()
    ]
    for each in corpora:
        each.demand_texts("against")
    with shown.stage("benchmarks"):
        parts = [part for each in corpora for part in read_benchmark(each, chosen, shown)]
        items = Items.of(parts, _all_ids([each.ids for each in corpora]), chosen)
    starts = np.array([0, *accumulate(len(each.ids) for each in corpora)], np.int64)
    benchmarks = Benchmarks(tuple(map(str, given)), starts, items, {})
    found, tables = Contamination(benchmarks), []

    def take(first: int, scanned: Scanned) -> list[Any]:
        ids = corpus.ids.take(pa.array([first + each.row for each in scanned.contaminated], pa.int64()))
        tables.append(table_of(columns, outcomes_of_batch(benchmarks, first, scanned, ids)))
        return list(ids.to_pylist())

    columns = contamination_columns(RESULTS)
    nothing = Scanned(np.empty(0, np.bool_), None, [])
    take(0, nothing)  # so that there is a table, even without texts
    with shown.stage("scan", len(corpus.ids)):
        found.scan(corpus, chosen, shown, take)
    kept = found.kept(slice(0, len(found.valid)))
    return DecontaminationResult(
        clean=corpus.keep(kept),
        contaminated=pa.concat_tables(tables).combine_chunks(),
        items=list(found.item_records(chosen.min_tokens, ids=items.ids.to_pylist())),
        annotations=with_pandas_types(found.annotations(slice(0, len(kept)), ids_are_json=False)),
        kept=kept,
        summary=summarize_contamination(found, chosen, shown, html=html),
    )


def _all_ids(ids: Sequence[Any]) -> Any:
    """The ids of all benchmarks in one Arrow array; as strings if their types differ."""
    if not ids:
        return pa.array([], pa.large_string())
    same = all(each.type == ids[0].type for each in ids)
    return pa.concat_arrays(list(ids) if same else [each.cast(pa.large_string()) for each in ids])
