"""The schema of audits: one row per column, with its type, its meaning, where it appears, and how its values are computed.

Everything else follows from it: the lines of audits (`audit.py`, `unit_audit.py`), their reader (`audit_reader.py`), tables of
results and the columns that `--annotate` adds (`result_tables.py`), and the table in the documentation. To add a column, add a row
to `COLUMNS`, and run `make docs`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from neardup.arrays import Array
    from neardup.survivors.outcomes import FilterOutcomes, Outcomes

Source = TypeVar("Source")


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column's values.

    Attributes:
        name: as sentences in the documentation call it.
        parsed: the Python type of a JSON value.
        tokens: turns the values of a column into JSON tokens.
        arrow: turns the values of a column into an Arrow array.
    """

    name: str
    parsed: Any
    tokens: Callable[[Any], Iterable[Any]]
    arrow: Callable[[Any], Any]


def _integer_tokens(values: "Array") -> list[Any]:
    integers: list[Any] = values.tolist()
    return ["null" if value < 0 else value for value in integers] if (values < 0).any() else integers


def _number_tokens(values: "Array") -> list[str]:
    return ["null" if value != value else repr(value) for value in values.tolist()]


def _string_tokens(values: Sequence[str | None]) -> list[str]:
    from neardup.io.formats.json.json_values import quote

    return ["null" if value is None else quote(value) for value in values]


def _id_tokens(ids: Sequence[int | str]) -> Any:
    """Ids as JSON values."""
    return _strings([json.dumps(id_, ensure_ascii=False) for id_ in ids])


def _arrow(values: Any, **options: Any) -> Any:
    """An Arrow array. Arrow is loaded here, not with this module: audits can be read without it."""
    import pyarrow as pa

    return pa.array(values, **options)


def _strings(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.large_string())


ID = ColumnType(
    "string or integer",
    int | str,
    lambda ids: (
        ["null" if value is None else value for value in ids.to_pylist()] if ids.null_count else ids.to_pylist()
    ),
    lambda ids: ids,
)
"""Values: an Arrow array; for JSON, an Arrow array of JSON values."""

INTEGER = ColumnType("integer", int, _integer_tokens, lambda values: _arrow(values, mask=values < 0))
"""Values: int64[n], null where negative."""

NUMBER = ColumnType("number", float, _number_tokens, lambda values: _arrow(values, from_pandas=True))
"""Values: float64[n], null where NaN."""

BOOLEAN = ColumnType(
    "true or false", bool, lambda values: ["true" if value else "false" for value in values.tolist()], _arrow
)
"""Values: bool[n]."""

MAYBE = ColumnType(
    "true or false",
    bool,
    lambda values: [("null", "false", "true")[value + 1] for value in values.tolist()],
    lambda values: _arrow(values == 1, mask=values < 0),
)
"""Values: int32[n], 1 or 0, null where negative."""

STRING = ColumnType("string", str, _string_tokens, _strings)
"""Values: strings; null where None."""


DOCUMENTS, UNITS, RESULTS, ANNOTATED = "documents", "units", "results", "annotated"
"""Where columns appear: audits of documents; audits of lines or paragraphs; result tables in memory; annotated rows."""

COMPONENTS, REFERENCE = "components", "reference"
"""COMPONENTS: only where clusters are connected components. REFERENCE: only in runs against a reference."""
LATER = "later"
"""In all audits since the column exists; earlier ones are read without it."""

REMOVALS = (DOCUMENTS, UNITS, RESULTS)


@dataclass(frozen=True, slots=True)
class Column(Generic[Source]):
    """A column of audits.

    Attributes:
        name: the column's name in files.
        type: the type of its values.
        meaning: a sentence for the documentation.
        within: where the column appears: some of DOCUMENTS, UNITS, RESULTS and ANNOTATED.
        value: computes the values from outcomes, in the form that the type expects.
        only: COMPONENTS or REFERENCE, if the column is not always present; LATER, if older audits lack it.
        nullable: its values may be null in an audit.
    """

    name: str
    type: ColumnType
    meaning: str
    within: tuple[str, ...]
    value: Callable[[Source], Any]
    only: str = ""
    nullable: bool = False


def _digits_of_filter(outcomes: "FilterOutcomes") -> "Array":
    import numpy as np

    return np.full(len(outcomes.rows), -1, np.int32) if outcomes.only_digits is None else outcomes.only_digits


# fmt: off
COLUMNS: "tuple[Column[Outcomes], ...]" = (
    Column("id", ID, "Id of the removed document.", REMOVALS,
           lambda outcomes: outcomes.names.ids(outcomes.rows)),
    Column("row", INTEGER, "Its row over all inputs, counted from 0.", REMOVALS,
           lambda outcomes: outcomes.names.document_rows(outcomes.rows)),
    Column("unit", INTEGER, "Number of the removed line or paragraph in its document, counted from 0.", (UNITS,),
           lambda outcomes: outcomes.names.units(outcomes.rows)),
    Column("survivor_id", ID, "Id of the document that stays; null with `drop_matched`, of which none stays.", REMOVALS,
           lambda outcomes: outcomes.names.ids(outcomes.survivors), nullable=True),
    Column("survivor_row", INTEGER, "Row of that document; null if it is in the reference, or none stays.", REMOVALS,
           lambda outcomes: outcomes.names.document_rows(outcomes.survivors), nullable=True),
    Column("survivor_unit", INTEGER, "Number of the line or paragraph that stays.", (UNITS,),
           lambda outcomes: outcomes.names.units(outcomes.survivors)),
    Column("cluster_id", INTEGER,
           "Number shared by the members of a cluster: for documents, the smallest row among them, its own if it is alone.",
           (*REMOVALS, ANNOTATED), lambda outcomes: outcomes.clusters),
    Column("cluster_size", INTEGER, "Number of documents in the cluster, including removed ones; 1 without matches.", (ANNOTATED,),
           lambda outcomes: outcomes.of(outcomes.decisions.cluster_size)),
    Column("is_duplicate", BOOLEAN, "The document is a duplicate.", (ANNOTATED,),
           lambda outcomes: outcomes.removed),
    Column("duplicate_of", ID, "Id of the survivor that it duplicates; null if it is not a duplicate.", (ANNOTATED,),
           lambda outcomes: outcomes.names.ids(outcomes.survivors_of_removed)),
    Column("similarity", NUMBER, "Similarity to the survivor; null where it was not computed.", (*REMOVALS, ANNOTATED),
           lambda outcomes: outcomes.of(outcomes.decisions.similarity), nullable=True),
    Column("distance", INTEGER, "Hamming distance of the fingerprints to the survivor's; null if none stays.",
           (*REMOVALS, ANNOTATED),
           lambda outcomes: outcomes.of(outcomes.decisions.distance), nullable=True),
    Column("exact", BOOLEAN, "The normalized texts of the two are equal.", REMOVALS,
           lambda outcomes: outcomes.of(outcomes.decisions.exact)),
    Column("only_digits", MAYBE,
           "The normalized texts of the two are equal but for their digits; null if only a fingerprint is known of one: in stages, "
           "and of a reference that is fingerprint files or a store without texts.",
           REMOVALS, lambda outcomes: outcomes.of(outcomes.decisions.only_digits), only=LATER, nullable=True),
    Column("emptied", BOOLEAN, "Nothing is left of the document, so it is in no output.", (UNITS,),
           lambda outcomes: outcomes.emptied),
    Column("text", STRING, "Beginning of the removed line or paragraph: 80 characters.", (UNITS,),
           lambda outcomes: outcomes.texts),
    Column("matched_id", ID, "Id of the document whose match brought this one into the cluster.", REMOVALS,
           lambda outcomes: outcomes.names.ids(outcomes.matched), only=COMPONENTS),
    Column("matched_row", INTEGER, "Row of that document.", (UNITS,),
           lambda outcomes: outcomes.names.document_rows(outcomes.matched), only=COMPONENTS),
    Column("matched_unit", INTEGER, "Number of the line or paragraph that matched.", (UNITS,),
           lambda outcomes: outcomes.names.units(outcomes.matched), only=COMPONENTS),
    Column("matched_similarity", NUMBER, "Similarity to the match; null where it was not computed.", REMOVALS,
           lambda outcomes: outcomes.of(outcomes.decisions.matched_similarity), only=COMPONENTS, nullable=True),
    Column("reference", STRING, "Reference file with the survivor; null if the survivor is in the inputs.", (DOCUMENTS,),
           lambda outcomes: outcomes.references[0], only=REFERENCE, nullable=True),
    Column("reference_row", INTEGER, "Row of the survivor in that file; null if the survivor is in the inputs.",
           (DOCUMENTS, RESULTS), lambda outcomes: outcomes.references[1], only=REFERENCE, nullable=True),
)
"""All columns except those of `filter`, in the order of writing."""

BY_INDEX, BY_STORE, REPLACING = "by index", "by store", "replacing"
"""Audits of `neardup filter`. REPLACING: its lines about documents that replaced others, by the `keep` of a store."""

FILTER_COLUMNS: "tuple[Column[FilterOutcomes], ...]" = (
    Column("id", ID, "Id of the document that was not passed on; with `replaced_id`, of one that was.",
           (BY_INDEX, BY_STORE, REPLACING),
           lambda outcomes: outcomes.ids),
    Column("row", INTEGER, "Its row over all inputs, counted from 0.", (BY_INDEX, BY_STORE, REPLACING),
           lambda outcomes: outcomes.rows),
    Column("matched_id", ID,
           "Id of the nearest document that was passed on before; a string, unless the ids of the index are integers.", (BY_INDEX,),
           lambda outcomes: _id_tokens(outcomes.matched)),
    Column("survivor_id", ID,
           "Id of the most similar document that was passed on before; of a copy of a removed text, that of the first copy.",
           (BY_STORE,),
           lambda outcomes: _id_tokens(outcomes.matched)),
    Column("replaced_id", ID,
           "Id of the document that this one replaces: one that is not as good, by the `keep` of the store, or an earlier text of "
           "the same id.",
           (REPLACING,), lambda outcomes: _id_tokens(outcomes.matched)),
    Column("similarity", NUMBER, "Similarity to that document; null if the store decides by distance alone.", (BY_STORE, REPLACING),
           lambda outcomes: outcomes.similarities, nullable=True),
    Column("distance", INTEGER, "Hamming distance of the fingerprints of the two.", (BY_INDEX, BY_STORE, REPLACING),
           lambda outcomes: outcomes.distances),
    Column("exact", BOOLEAN, "The normalized texts of the two are equal.", (BY_STORE,),
           lambda outcomes: outcomes.exact),
    Column("only_digits", MAYBE,
           "The normalized texts of the two are equal but for their digits; null with an index, and with a store without texts.",
           (BY_INDEX, BY_STORE), _digits_of_filter, only=LATER, nullable=True),
    Column("status", STRING,
           "What became of the document: duplicate; unchanged if the store has it with an equal text; of one that replaces others, "
           "new, updated or duplicate.",
           (BY_STORE, REPLACING), lambda outcomes: outcomes.status, only=LATER),
)
"""The columns of the audits of `neardup filter`."""
# fmt: on


def columns_within(
    columns: "Iterable[Column[Source]]", kind: str, absent: Mapping[Any, bool]
) -> "tuple[Column[Source], ...]":
    """The columns of one kind of table, without those for the cases that are `absent`."""
    return tuple(column for column in columns if kind in column.within and not absent.get(column.only, False))


def columns_of(
    kind: str, *, with_matched: bool = False, with_reference: bool = False, with_later: bool = True
) -> "tuple[Column[Outcomes], ...]":
    """The columns of one kind of table: DOCUMENTS, UNITS, RESULTS or ANNOTATED.

    `with_matched`: clusters are connected components. `with_reference`: the run is against a reference.
    `with_later`: with the columns that older audits lack.
    """
    absent = {COMPONENTS: not with_matched, REFERENCE: not with_reference, LATER: not with_later}
    return columns_within(COLUMNS, kind, absent)


def columns_of_filter(kind: str, *, with_later: bool = True) -> "tuple[Column[FilterOutcomes], ...]":
    """The columns of one of the audits of `neardup filter`: BY_INDEX or BY_STORE; or of the lines REPLACING in the latter."""
    return columns_within(FILTER_COLUMNS, kind, {LATER: not with_later})


def columns_named(*names: str) -> "tuple[Column[Outcomes], ...]":
    """The columns with these names, in this order."""
    by_name = {column.name: column for column in COLUMNS}
    return tuple(by_name[name] for name in names)
