"""The outcome of each row, as columns added to the row."""

from typing import Any

from neardup.survivors.decisions import Decisions
from neardup.survivors.outcomes import DocumentNames, Outcomes
from neardup.survivors.records.audit_schema import ANNOTATED, columns_of
from neardup.survivors.records.result_tables import table_of, with_pandas_types

ANNOTATIONS = tuple(column.name for column in columns_of(ANNOTATED))
"""The columns that `annotate` adds."""


def annotations(decisions: Decisions, ids: Any, rows: slice, *, ids_are_json: bool = True) -> Any:
    """The added columns of some rows. `ids`: the ids of all rows, as an Arrow array of JSON values or of any type."""
    outcomes = Outcomes(decisions, rows, DocumentNames(ids, len(decisions.survivor)))
    return with_pandas_types(table_of(columns_of(ANNOTATED), outcomes, ids_are_json=ids_are_json))
