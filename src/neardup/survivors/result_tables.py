"""Results of texts in memory as Arrow tables; `ids` are those of the rows, followed by those of the reference if there is one."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.survivors.decisions import Decisions


def duplicates_table(decisions: Decisions, ids: Any, *, with_matched: bool, with_reference: bool) -> Any:
    """One row for each duplicate, with the columns of the audit."""
    rows, n = decisions.duplicates, len(decisions.survivor)
    survivors = decisions.survivor[rows]
    columns = {
        "id": ids.take(pa.array(rows)),
        "row": rows,
        "survivor_id": ids.take(pa.array(survivors)),
        "survivor_row": pa.array(survivors, mask=survivors >= n),
        "cluster_id": decisions.cluster[rows],
        "similarity": pa.array(decisions.similarity[rows], from_pandas=True),
        "distance": decisions.distance[rows],
        "exact": decisions.exact[rows],
    }
    if with_matched:
        columns["matched_id"] = ids.take(pa.array(decisions.matched[rows]))
        columns["matched_similarity"] = pa.array(decisions.matched_similarity[rows], from_pandas=True)
    if with_reference:
        columns["reference_row"] = pa.array(survivors - n, mask=survivors < n)
    return pa.table(columns)


def clusters_table(decisions: Decisions, ids: Any) -> Any:
    """One row for each document that is not alone."""
    rows = np.flatnonzero(decisions.cluster >= 0)
    return pa.table(
        {
            "id": ids.take(pa.array(rows)),
            "row": rows,
            "cluster_id": decisions.cluster[rows],
            "survivor_id": ids.take(pa.array(decisions.survivor[rows])),
        }
    )
