"""The columns of audits of contaminated documents, and of what `--annotate` adds; like those of `audit_schema.py`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from neardup.arrays import Array
from neardup.survivors.records.audit_schema import (
    ANNOTATED,
    BOOLEAN,
    DOCUMENTS,
    ID,
    INTEGER,
    NUMBER,
    RESULTS,
    STRING,
    Column,
)


class ContaminationOutcomes(NamedTuple):
    """What was found of n documents.

    Attributes:
        ids: Arrow array[n], the ids of the documents.
        rows: int64[n], their rows over all inputs.
        item_ids: Arrow array[n], the id of the strongest item of each; null for a clean document.
        item_rows: int64[n], its row in its benchmark; -1 for none.
        benchmarks: the benchmark of each; None for none.
        shares: float64[n], the share of the item that the document holds; NaN for none.
        runs: int64[n], the longest run of tokens that both have; -1 for none.
        items: int64[n], how many items the document holds; equal items count once.
        shared: int64[n], in how many items the passage of each stands.
        matched_texts: the text of each that matches its item, as it stands there.
        characters: int64[n], the length of the whole matched text.
    """

    ids: Any
    rows: Array
    item_ids: Any
    item_rows: Array
    benchmarks: Sequence[str | None]
    shares: Array
    runs: Array
    items: Array
    shared: Array | None = None
    matched_texts: Sequence[str] = ()
    characters: Array | None = None


REMOVALS, EVERYWHERE = (DOCUMENTS, RESULTS), (DOCUMENTS, RESULTS, ANNOTATED)

# fmt: off
CONTAMINATION_COLUMNS: "tuple[Column[ContaminationOutcomes], ...]" = (
    Column("id", ID, "Id of the contaminated document.", REMOVALS,
           lambda found: found.ids),
    Column("row", INTEGER, "Its row over all inputs, counted from 0.", REMOVALS,
           lambda found: found.rows),
    Column("is_contaminated", BOOLEAN, "The document holds an item.", (ANNOTATED,),
           lambda found: found.items > 0),
    Column("item_id", ID, "Id of the item of which it holds most: by share, then by run.", EVERYWHERE,
           lambda found: found.item_ids),
    Column("item_row", INTEGER, "Row of that item in its benchmark, counted from 0.", REMOVALS,
           lambda found: found.item_rows),
    Column("benchmark", STRING, "The benchmark: the name of its file.", EVERYWHERE,
           lambda found: found.benchmarks),
    Column("item_share", NUMBER, "Share of the item's shingles that a passage of the document has.", EVERYWHERE,
           lambda found: found.shares),
    Column("item_run", INTEGER, "Tokens of the longest run that stands in the item and in the document; 0 if under 5.", EVERYWHERE,
           lambda found: found.runs),
    Column("items", INTEGER, "Number of items that the document holds; equal ones count once.", REMOVALS,
           lambda found: found.items),
    Column("passage_items", INTEGER, "Number of items in which the passage stands: many, if it is an instruction that they share.",
           REMOVALS, lambda found: found.shared),
    Column("passage", STRING, "The passage, as it stands in the document: its first 300 characters.", REMOVALS,
           lambda found: found.matched_texts),
    Column("passage_characters", INTEGER, "Length of the whole passage.", REMOVALS,
           lambda found: found.characters),
)
"""All columns, in the order of writing."""
# fmt: on


def contamination_columns(kind: str) -> "tuple[Column[ContaminationOutcomes], ...]":
    """The columns of one kind of table: DOCUMENTS, RESULTS or ANNOTATED."""
    return tuple(column for column in CONTAMINATION_COLUMNS if kind in column.within)


CONTAMINATION_ANNOTATIONS = tuple(column.name for column in contamination_columns(ANNOTATED))
"""The columns that `annotate` adds."""
