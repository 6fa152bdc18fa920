"""SUPERSEDED: the documents of a reference that do not stay, because the run preferred others: a list to delete by.

It is there if a run orders the documents of the reference and of the inputs together (`prefer="best"`). Its lines have the columns
of the audit of such a run; `file` and `row` say where the document is in the reference. docs/corpus.md tells what to do with it.
"""

from collections.abc import Iterator
from typing import Any

from neardup.survivors.decisions import Findings
from neardup.survivors.outcomes import DocumentNames, Locate, Outcomes
from neardup.survivors.records.audit import CHUNK_ROWS, lines_of
from neardup.survivors.records.audit_schema import DOCUMENTS, INTEGER, RESULTS, STRING, Column, columns_of
from neardup.survivors.records.result_tables import table_of, with_pandas_types


def _place(outcomes: Outcomes) -> tuple[Any, Any]:
    """The files of the rows, and their rows there; over the whole reference, if it has no files."""
    assert outcomes.inputs is not None
    rows = outcomes.rows - outcomes.inputs
    return ([], rows) if outcomes.locate is None else outcomes.locate(rows)


_FILE: Column[Outcomes] = Column(
    "file", STRING, "File of the reference with the document.", (DOCUMENTS,), lambda outcomes: _place(outcomes)[0]
)
_ROW: Column[Outcomes] = Column(
    "row", INTEGER, "Its row in that file, counted from 0.", (DOCUMENTS, RESULTS), lambda outcomes: _place(outcomes)[1]
)


def _columns(kind: str, *, with_matched: bool) -> list[Column[Outcomes]]:
    """The columns of the audit, with the place of the document in the reference in that of its row in the inputs."""
    found: list[Column[Outcomes]] = []
    for column in columns_of(kind, with_matched=with_matched, with_reference=True):
        if column.name == "row":
            found += [_FILE, _ROW] if kind == DOCUMENTS else [_ROW]
        else:
            found.append(column)
    return found


def superseded_lines(findings: Findings, *, with_matched: bool, locate: Locate) -> Iterator[str]:
    """The lines of the list, in the order of the reference. `locate`: maps rows of the reference to its files and rows there."""
    columns, every = _columns(DOCUMENTS, with_matched=with_matched), findings.superseded
    names = DocumentNames(findings.documents.ids, findings.inputs)
    for first in range(0, len(every), CHUNK_ROWS):
        rows = every[first : first + CHUNK_ROWS]
        yield from lines_of(columns, Outcomes(findings.decisions, rows, names, locate, inputs=findings.inputs))


def superseded_table(findings: Findings, ids: Any, *, with_matched: bool) -> Any:
    """The list as an Arrow table, of a reference in memory. `ids`: of the data, followed by those of the reference."""
    names = DocumentNames(ids, findings.inputs)
    outcomes = Outcomes(findings.decisions, findings.superseded, names, inputs=findings.inputs)
    return with_pandas_types(table_of(_columns(RESULTS, with_matched=with_matched), outcomes))
