"""The workflow of NeMo Curator, and then the stage in a pipeline of Curator's own readers. Prints the ids of both."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import ray

from neardup.integrations.curator import NeardupWorkflow, RemoveDuplicates

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, log_to_driver=False)
    result = NeardupWorkflow("in", "dedup", order="n", work="work", min_similarity=0.6).run()
    found = sorted(pq.read_table("dedup/survivors").column("id").to_pylist())
    ray.shutdown()
    from nemo_curator.backends.ray_data import RayDataExecutor
    from nemo_curator.pipeline import Pipeline
    from nemo_curator.stages.text.io.reader import ParquetReader
    from nemo_curator.stages.text.io.writer import ParquetWriter

    stages = [ParquetReader("in"), RemoveDuplicates(str(Path("dedup/duplicates").resolve())), ParquetWriter("out")]
    Pipeline("remove", stages=stages).run(RayDataExecutor())
    rows = sorted(pq.read_table("out").column("id").to_pylist())
    print(json.dumps([found, rows, result.metadata["survivors"]]))
