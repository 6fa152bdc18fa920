"""Decisions as Arrow tables: columns of the audit schema, the result tables for texts in memory, and the columns of `annotate`."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.formats.json.json_values import JSON_TOKEN
from neardup.survivors.decisions import Decisions
from neardup.survivors.outcomes import DocumentNames, Outcomes
from neardup.survivors.records.audit_schema import ANNOTATED, ID, RESULTS, Column, Source, columns_named, columns_of


def table_of(columns: Iterable[Column[Source]], outcomes: Source, *, ids_are_json: bool = False) -> Any:
    """An Arrow table with one row per outcome. With `ids_are_json`, the ids are JSON values and are marked as such."""
    arrays, fields = [], []
    for column in columns:
        arrays.append(column.type.arrow(column.value(outcomes)))
        metadata = JSON_TOKEN if ids_are_json and column.type is ID else None
        fields.append(pa.field(column.name, arrays[-1].type, metadata=metadata))
    return pa.table(arrays, schema=pa.schema(fields))


MAYBE_MISSING = (
    "cluster_id",
    "survivor_row",
    "copy_row",
    "reference_row",
    "distance",
    "duplicate_of",
    "item_id",
    "item_run",
    "start",
    "end",
)
"""Columns that may be null. Integer columns among them become `Int64` in pandas, not floats with NaN."""


def with_pandas_types(table: Any) -> Any:
    """Record in the table's schema which pandas types its columns have; `to_pandas` follows that record.

    It uses the schema metadata that pandas itself writes to Arrow tables.
    """
    columns = [
        {
            "name": field.name,
            "field_name": field.name,
            "pandas_type": str(field.type),
            "numpy_type": str(field.type).replace("i", "I").replace("u", "U"),
            "metadata": None,
        }
        for field in table.schema
        if field.name in MAYBE_MISSING and pa.types.is_integer(field.type)
    ]
    note = {"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": "1.4.0"}
    return table.replace_schema_metadata({"pandas": json.dumps(note)})


def duplicates_table(decisions: Decisions, ids: Any, *, with_matched: bool, with_reference: bool) -> Any:
    """One row per duplicate. `ids`: an Arrow array with the ids of all rows, followed by those of the reference if there is one."""
    columns = columns_of(RESULTS, with_matched=with_matched, with_reference=with_reference)
    names = DocumentNames(ids, len(decisions.survivor))
    return with_pandas_types(table_of(columns, Outcomes(decisions, decisions.duplicates, names)))


def clusters_table(decisions: Decisions, ids: Any) -> Any:
    """One row per document in a cluster: id, row, cluster_id, survivor_id. `ids`: as in `duplicates_table`."""
    rows = np.flatnonzero(decisions.cluster >= 0)
    columns = columns_named("id", "row", "cluster_id", "survivor_id")
    return with_pandas_types(table_of(columns, Outcomes(decisions, rows, DocumentNames(ids, len(decisions.survivor)))))


ANNOTATIONS = tuple(column.name for column in columns_of(ANNOTATED))
"""The columns that `annotate` adds."""


def annotations(decisions: Decisions, ids: Any, rows: slice, *, ids_are_json: bool = True) -> Any:
    """The added columns of some rows. `ids`: the ids of all rows, as an Arrow array of JSON values or of any type."""
    outcomes = Outcomes(decisions, rows, DocumentNames(ids, len(decisions.survivor)))
    return with_pandas_types(table_of(columns_of(ANNOTATED), outcomes, ids_are_json=ids_are_json))
