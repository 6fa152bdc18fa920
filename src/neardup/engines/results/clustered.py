"""CLUSTERED: the survivors of clusters, each once; as stages on the rows of results."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engines.packing import ints
from neardup.engines.schemas import INT, of_reference
from neardup.engines.stages import Engine, Found, Output, Stage

CLUSTERED = Output(
    pa.schema({"survivor": INT, "survivor_id": pa.large_string(), "cluster_id": pa.large_string()}), ("survivor",)
)


def survivors_of_clusters(engine: Engine, results: Any) -> Any:
    """Rows of CLUSTERED, of documents that are none of a reference."""
    found = engine.run(_TELL, results)["clustered"]
    return engine.run(_ONCE, found)["clustered"]


def _tell(results: pa.Table) -> Found:
    rows = results.select(CLUSTERED.schema.names)
    yield from _once(rows.filter(pa.array(~of_reference(ints(rows, "survivor")[0]))))


def _once(rows: pa.Table) -> Found:
    if len(rows):
        _, first = np.unique(ints(rows, "survivor")[0], return_index=True)
        yield "clustered", rows.take(pa.array(first))


_TELL = Stage("survivors of clusters", _tell, {"clustered": CLUSTERED})
_ONCE = Stage("survivors once", _once, {"clustered": CLUSTERED})
