"""A workflow and a stage for NeMo Curator: near-duplicates found by verified similarity on its cluster of Ray, without GPUs.

    found = NeardupWorkflow("in/", "dedup/", id_field="url", order=["fetched"], min_similarity=0.8).run()
    Pipeline("clean", stages=[ParquetReader("in/"), RemoveDuplicates("dedup/duplicates", id_field="url"), ParquetWriter("out/")])

The workflow finds what is removed and why, as Curator's own workflows of identification do; the stage removes it, batch by batch.
Who wants the survivors at once has them in `dedup/survivors`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pa_dataset
from nemo_curator.pipeline.workflow import WorkflowBase, WorkflowRunResult
from nemo_curator.stages.base import ProcessingStage
from nemo_curator.tasks import DocumentBatch

from neardup.io.storage.places import place_of

TESTED = "1.4.0"
"""The version of NeMo Curator that this was tested with."""


class NeardupWorkflow(WorkflowBase):  # type: ignore[misc]
    """`neardup.ray.deduplicate` on files of Parquet or JSON lines."""

    def __init__(
        self,
        input_path: str | Sequence[str],
        output_path: str,
        *,
        input_filetype: str = "parquet",
        text_field: str = "text",
        id_field: str = "id",
        order: str | Sequence[str] = (),
        work: str | None = None,
        **options: Any,
    ) -> None:
        """See `neardup.ray.deduplicate`.

        Args:
            input_path: files or folders that all nodes read.
            output_path: a folder: `duplicates` in it has a row for each removed document, `survivors` the documents that stay.
            input_filetype: "parquet" or "jsonl".
            text_field, id_field, order, work, **options: as `text`, `id` and the others there.
        """
        self.input_path, self.output_path, self.input_filetype = input_path, output_path.rstrip("/"), input_filetype
        self.given = {"text": text_field, "id": id_field, "order": order, "work": work, **options}

    def run(self, **_: Any) -> WorkflowRunResult:
        """Find and remove near-duplicates. The metadata of the result has the counts and the seconds."""
        import ray

        from neardup import ray as on_ray

        begun = time.monotonic()
        read = ray.data.read_parquet if self.input_filetype == "parquet" else ray.data.read_json
        done = on_ray.deduplicate(read(self.input_path), **self.given)
        done.duplicates.write_parquet(f"{self.output_path}/duplicates")
        done.survivors.write_parquet(f"{self.output_path}/survivors")
        result = WorkflowRunResult(workflow_name="neardup")
        counts = {name: value for name, value in done.summary.as_dict().items() if name != "stages"}
        result.extend_metadata({**counts, "total_time": time.monotonic() - begun})
        return result


@dataclass
class RemoveDuplicates(ProcessingStage[DocumentBatch, DocumentBatch]):  # type: ignore[misc]
    """Removes the documents whose ids a folder of duplicates names, as `NeardupWorkflow`, Ray, Spark or `neardup dedup` wrote it.

    Each worker holds these ids, some 50 bytes each.
    """

    duplicates: str
    id_field: str = "id"
    name: str = "neardup_remove_duplicates"
    _ids: Any = field(default=None, init=False, repr=False)

    def inputs(self) -> tuple[list[str], list[str]]:
        """What a batch needs."""
        return ["data"], [self.id_field]

    def outputs(self) -> tuple[list[str], list[str]]:
        """What a batch has."""
        return ["data"], [self.id_field]

    def setup(self, worker_metadata: Any = None) -> None:  # noqa: ARG002
        """Read the ids, once for each worker."""
        place = place_of(self.duplicates)
        table = pa_dataset.dataset(str(place), format="parquet").to_table(columns=["id"])
        self._ids = table.column("id").combine_chunks()

    def process(self, task: DocumentBatch) -> DocumentBatch:
        """A batch without the documents that are named."""
        if self._ids is None:
            self.setup()
        rows: pa.Table = task.to_pyarrow()
        stays = pc.invert(pc.is_in(rows.column(self.id_field).cast(self._ids.type), value_set=self._ids))
        return DocumentBatch(dataset_name=task.dataset_name, data=rows.filter(stays), _metadata=task._metadata)
