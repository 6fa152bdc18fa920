"""What became of each row, as columns beside it."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.formats.json_values import JSON_TOKEN
from neardup.survivors.decisions import Decisions

ANNOTATIONS = ("cluster_id", "cluster_size", "is_duplicate", "duplicate_of", "similarity", "distance")
"""The columns that `annotate` adds."""


def annotations(decisions: Decisions, ids: Any, rows: slice, *, ids_are_json: bool = True) -> Any:
    """The added columns of some rows; `ids`: of all rows, an Arrow array, of JSON values or of anything."""
    removed = (decisions.survivor[rows] >= 0) & (decisions.survivor[rows] != np.arange(rows.start, rows.stop))
    survivor = pa.array(decisions.survivor[rows], mask=~removed)
    cluster = decisions.cluster[rows]
    columns = [
        pa.array(cluster, mask=cluster < 0),
        pa.array(decisions.cluster_size[rows]),
        pa.array(removed),
        ids.take(survivor),
        pa.array(decisions.similarity[rows], from_pandas=True),
        pa.array(decisions.distance[rows], mask=~removed),
    ]
    fields = [
        pa.field(name, column.type, metadata=JSON_TOKEN if name == "duplicate_of" and ids_are_json else None)
        for name, column in zip(ANNOTATIONS, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))
