"""The audit of units: one JSON line for each line or paragraph that was removed, naming the one that stays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.batch import Batch
from neardup.io.formats.json_values import quote
from neardup.survivors.audit import AuditChunk
from neardup.survivors.decisions import Decisions
from neardup.text.units import split

COLUMNS = (
    "id", "row", "unit", "survivor_id", "survivor_row", "survivor_unit", "cluster_id", "similarity", "distance", "exact",
    "emptied", "text",
)  # fmt: skip
"""In every line; the columns MATCHED_COLUMNS follow where clusters are connected components."""

MATCHED_COLUMNS = ("matched_id", "matched_row", "matched_unit", "matched_similarity")

SHOWN = 80
"""Characters of the text that are shown."""


def emptied_rows(corpus: UnitCorpus, removed: Array) -> Array:
    """bool[rows]: documents that had units with tokens, and have none left without the units `removed` (int64)."""
    rows = corpus.row_of(removed)
    lost = np.bincount(rows, minlength=len(corpus.firsts) - 1)
    found: Array = (lost > 0) & (lost == np.diff(corpus.firsts))
    return found


def unit_audit_lines(
    corpus: UnitCorpus, decisions: Decisions, *, unit: str, with_matched: bool
) -> Iterator[AuditChunk]:
    """The lines of the audit, by row and unit; documents that lose units are read again for their texts."""
    removed = decisions.duplicates
    rows = corpus.row_of(removed)
    emptied = emptied_rows(corpus, removed)
    wanted = np.zeros(len(corpus.firsts) - 1, np.bool_)
    wanted[rows] = True
    starts = corpus.documents.starts or [0]
    names = COLUMNS + (MATCHED_COLUMNS if with_matched else ())
    line = ("{{" + ", ".join(f'"{name}": {{}}' for name in names) + "}}\n").format

    def read(number: int, batch: Batch) -> AuditChunk:
        first = starts[number] + batch.row
        some = slice(*np.searchsorted(rows, [first, first + len(batch.texts)]).tolist())
        units, found = removed[some], split(batch.texts, unit)
        places = found.firsts[rows[some] - first] + corpus.numbers[units]
        texts = [found.data[found.starts[u] : found.ends[u]][: 4 * SHOWN].tobytes() for u in places.tolist()]
        columns = [
            *_places(corpus, units),
            *_places(corpus, decisions.survivor[units]),
            decisions.cluster[units].tolist(),
            _numbers(decisions.similarity[units]),
            decisions.distance[units].tolist(),
            np.where(decisions.exact[units], "true", "false").tolist(),
            np.where(emptied[rows[some]], "true", "false").tolist(),
            [quote(text.decode("utf-8", "ignore")[:SHOWN]) for text in texts],
        ]
        if with_matched:
            columns += [*_places(corpus, decisions.matched[units]), _numbers(decisions.matched_similarity[units])]
        return rows[some], list(map(line, *columns))

    for _, chunk in corpus.documents.map_shards(read, wanted=wanted, name="audit"):
        yield chunk


def _places(corpus: UnitCorpus, units: Array) -> tuple[list[Any], ...]:
    """Id, row and number of some units."""
    rows = corpus.row_of(units)
    return corpus.ids.take(pa.array(rows)).to_pylist(), rows.tolist(), corpus.numbers[units].tolist()


def _numbers(values: Array) -> list[str]:
    return ["null" if value != value else repr(value) for value in values.tolist()]
