"""Tables of the documentation that are made of what the code declares, not of results."""

from typing import Any

from neardup.resources.shares import MEMORY_PARTS, SHARES
from neardup.survivors.contamination.columns import CONTAMINATION_COLUMNS
from neardup.survivors.records.audit_schema import (
    ANNOTATED,
    BY_INDEX,
    BY_STORE,
    COLUMNS,
    COMPONENTS,
    DOCUMENTS,
    FILTER_COLUMNS,
    LATER,
    REFERENCE,
    REPLACING,
    UNITS,
    Column,
)
from neardup.survivors.repeats.records.cut_log import CUT_COLUMNS, SEVERAL

WHERE = {
    ((DOCUMENTS, UNITS), ""): "every line",
    ((UNITS,), ""): "`--unit`",
    ((DOCUMENTS, UNITS), COMPONENTS): "`--cluster components`",
    ((UNITS,), COMPONENTS): "`--unit` with `--cluster components`",
    ((DOCUMENTS,), REFERENCE): "`--against`",
    ((BY_INDEX, BY_STORE, REPLACING), ""): "`neardup filter`",
    ((BY_INDEX,), ""): "`filter --index`",
    ((BY_INDEX, BY_STORE), ""): "`neardup filter`",
    ((BY_STORE,), ""): "`filter --store`",
    ((BY_STORE, REPLACING), ""): "`filter --store`",
    ((REPLACING,), ""): "`filter --store`, instead of `survivor_id`",
}
"""By the audits that have a column, and what it depends on."""


def _row(column: Column[Any]) -> str:
    audits = tuple(kind for kind in column.within if kind in (DOCUMENTS, UNITS, BY_INDEX, BY_STORE, REPLACING))
    where = [WHERE[audits, "" if column.only == LATER else column.only]] if audits else []
    where += ["`--annotate`"] if ANNOTATED in column.within else []
    return f"| `{column.name}` | {', '.join(where)} | {column.type.name} | {column.meaning} |"


def audit_columns() -> str:
    """The columns of audits, in their order, and then those of the audits of `filter`."""
    head = ["| Column | Where | Type | Meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *map(_row, COLUMNS), *map(_row, FILTER_COLUMNS)])


def contamination_columns() -> str:
    """The columns of the audit of `decontaminate`, and those that its `--annotate` adds."""
    head = ["| Column | Where | Type | Meaning |", "|---|---|---|---|"]
    rows = []
    for column in CONTAMINATION_COLUMNS:
        where = ["audit"] if DOCUMENTS in column.within else []
        where += ["`--annotate`"] if ANNOTATED in column.within else []
        rows.append(f"| `{column.name}` | {', '.join(where)} | {column.type.name} | {column.meaning} |")
    return "\n".join([*head, *rows])


def passage_columns() -> str:
    """The columns of the log of `passages`."""
    head = ["| Column | Where | Type | Meaning |", "|---|---|---|---|"]
    where = {"": "every line", SEVERAL: "several text columns", REFERENCE: "`--against`"}
    rows = [
        f"| `{column.name}` | {where[column.only]} | {column.type.name} | {column.meaning} |"
        for column in CUT_COLUMNS
        if DOCUMENTS in column.within
    ]
    return "\n".join([*head, *rows])


def memory_shares() -> str:
    """The shares of the memory, in their order."""
    head = ["| Use | Share | What does not fit |", "|---|---:|---|"]
    return "\n".join(
        [
            *head,
            *(
                f"| `{use}` ({share.holds}) | {share.parts}/{MEMORY_PARTS} | {share.beyond} |"
                for use, share in SHARES.items()
            ),
        ]
    )
