"""The cluster file: Parquet with one row per document in a cluster; its metadata holds what else `neardup apply` needs.

Columns: `id`, `id_is_string`, `cluster_id`, `survivor_id`; `row` and `survivor_row`, counted over all shards from 0; the same
places as `file`, `file_row`, `survivor_file`, `survivor_file_row`; `similarity`, `distance`, `exact` as in the audit;
`matched_row`, `matched_similarity`: the match that brought the document in. A survivor names itself;
where none stays (`drop_matched`), the survivor is null.

The metadata holds `neardup.clusters` (JSON): the format (1), the shards in the order of the rows, the rejected rows, and the
summary. docs/formats/clusters.md describes every column and every key.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS, DataError
from neardup.io.corpora.stored_shards import StoredShard, starts_of
from neardup.io.ids import plain_ids, tokens_of_ids
from neardup.io.outputs.sealed_parquet import SealedWriter, read_sealed
from neardup.io.storage.places import Place, parquet_source, place_of
from neardup.survivors.decisions import DROPPED, NONE, Decisions
from neardup.survivors.outcomes import DocumentNames, Outcomes
from neardup.survivors.records.audit_schema import columns_named
from neardup.survivors.records.result_tables import table_of

KEY = "neardup.clusters"
FORMAT = 1
ROWS_PER_GROUP = 1 << 18
"""Rows of a row group."""

AS_IN_AUDITS = ("similarity", "distance", "exact", "matched_row", "matched_similarity")
"""Columns shared with audits; a survivor has no distance and no match."""


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """The contents of a cluster file.

    Attributes:
        decisions: for all rows of all shards.
        ids: Arrow large_string[rows], each a JSON value; null for documents in no cluster.
        shards: in the order of the rows.
        short, repeated_ids: int64[shards], documents per shard; see `neardup.survivors.records.summary.Summary`.
        summary: the summary of the run over all shards, as plain values.
    """

    decisions: Decisions
    ids: Any
    shards: tuple[StoredShard, ...]
    short: Array
    repeated_ids: Array
    summary: dict[str, Any]


def write_cluster_file(path: Path, clusters: ClusterFile) -> None:
    """Write the documents that are in a cluster."""
    decisions, starts = clusters.decisions, starts_of(clusters.shards)
    rows = np.flatnonzero(decisions.cluster >= 0)
    outcomes = Outcomes(decisions, rows, DocumentNames(clusters.ids, len(decisions.survivor)))
    of_audit = table_of(columns_named(*AS_IN_AUDITS), outcomes)
    ids = clusters.ids.take(pa.array(rows))
    names = pa.array([shard.name for shard in clusters.shards], pa.string())

    def places(of: Array) -> tuple[Any, Any]:
        files, none = np.searchsorted(starts, np.maximum(of, 0), "right") - 1, of < 0
        numbers = pa.array(files.astype(np.int32), mask=none)
        return pa.DictionaryArray.from_arrays(numbers, names), pa.array(of - starts[files], mask=none)

    file, file_row = places(rows)
    survivor_file, survivor_file_row = places(outcomes.survivors)
    columns = {
        "id": plain_ids(ids),
        "cluster_id": pa.array(decisions.cluster[rows]),
        "survivor_id": plain_ids(outcomes.names.ids(outcomes.survivors)),
        "id_is_string": pc.starts_with(ids, '"'),
        "row": pa.array(rows),
        "survivor_row": pa.array(outcomes.survivors, mask=outcomes.survivors < 0),
        "file": file,
        "file_row": file_row,
        "survivor_file": survivor_file,
        "survivor_file_row": survivor_file_row,
        **{name: of_audit[name] for name in AS_IN_AUDITS},
    }
    said = {
        "format": FORMAT,
        "shards": [shard.as_dict() for shard in clusters.shards],
        "short": clusters.short.tolist(),
        "repeated_ids": clusters.repeated_ids.tolist(),
        "rejected": np.flatnonzero(decisions.survivor == NONE).tolist(),
        "summary": clusters.summary,
    }
    table = pa.table(columns)
    writer = SealedWriter(path, table.schema)
    for batch in table.to_batches(ROWS_PER_GROUP):
        writer.write(batch)
    writer.close({KEY: json.dumps(said)})


def is_cluster_file(path: str | Path) -> bool:
    """Whether `path` is a Parquet file whose metadata declares clusters."""
    import pyarrow.parquet as pq

    try:
        return KEY.encode() in (pq.read_metadata(parquet_source(Path(path))).metadata or {})
    except (OSError, pa.ArrowException, *DECODER_ERRORS):
        return False


def read_cluster_file(path: str | Place) -> ClusterFile:
    """Read a cluster file.

    Raises:
        DataError: the file is damaged, or not a cluster file.
    """
    try:
        table, metadata = read_sealed(place_of(path))
        said = json.loads(metadata.get(KEY, "{}"))
        if said.get("format") != FORMAT:
            raise ValueError(f"it is no cluster file of format {FORMAT}")
        shards = tuple(StoredShard(**shard) for shard in said["shards"])
        n = int(starts_of(shards)[-1])
        decisions = _decisions(table, n, said["rejected"])
        ids = tokens_of_ids(table.column("id").combine_chunks(), table.column("id_is_string").combine_chunks())
        place = np.full(n, NONE, np.int64)
        place[table.column("row").to_numpy()] = np.arange(len(table))
        return ClusterFile(
            decisions,
            ids.take(pa.array(place, mask=place < 0)),
            shards,
            np.array(said["short"], np.int64),
            np.array(said["repeated_ids"], np.int64),
            said["summary"],
        )
    except (OSError, pa.ArrowException, *DECODER_ERRORS) as problem:
        raise DataError(
            f"{path} cannot be used: {str(problem).rstrip('.')}. Make it with `neardup clusters`."
        ) from None


def _decisions(table: Any, n: int, rejected: Sequence[int]) -> Decisions:
    rows = table.column("row").to_numpy()

    def by_row(name: str, otherwise: Any, kind: Any) -> Array:
        values = np.full(n, otherwise, kind)
        values[rows] = pc.fill_null(table.column(name), otherwise).to_numpy()
        return values

    survivor = np.arange(n)
    survivor[rows] = pc.fill_null(table.column("survivor_row"), DROPPED).to_numpy()
    survivor[np.array(rejected, np.int64)] = NONE
    size = np.ones(n, np.int64)
    clusters = table.column("cluster_id").to_numpy()
    size[rows] = np.bincount(clusters, minlength=n)[clusters] if len(rows) else 0
    size[survivor == NONE] = 0
    return Decisions(
        survivor,
        by_row("similarity", np.nan, np.float64),
        by_row("distance", NONE, np.int64),
        by_row("exact", False, np.bool_),
        by_row("cluster_id", NONE, np.int64),
        size,
        by_row("matched_row", NONE, np.int64),
        by_row("matched_similarity", np.nan, np.float64),
        np.where(by_row("exact", False, np.bool_), 0, NONE).astype(np.int32),  # no text is at hand
    )
