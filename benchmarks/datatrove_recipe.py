"""datatrove's MinHash de-duplication, its four stages one after another; run by an interpreter that has datatrove.

    python benchmarks/datatrove_recipe.py FOLDER LANGUAGE SHINGLE TASKS

FOLDER/in has a file of JSON lines for each task; FOLDER/kept and FOLDER/removed get the documents, with the number of the cluster.
All but the length of the shingles is as its documentation has it: 14 bands of 8 hashes of 64 bits, its own normalization and words.
"""

import sys
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter


def main() -> None:
    """Run the stages."""
    folder, language, shingle, tasks = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    config = MinhashConfig(n_grams=shingle)
    signatures, buckets, clusters = (str(folder / name) for name in ("signatures", "buckets", "clusters"))
    kept, removed = (JsonlWriter(str(folder / name), compression=None) for name in ("kept", "removed"))

    def read() -> JsonlReader:
        return JsonlReader(str(folder / "in"))

    stages = (
        (tasks, [read(), MinhashDedupSignature(signatures, config=config, language=language)]),
        (config.num_buckets, [MinhashDedupBuckets(signatures, buckets, config=config)]),
        (1, [MinhashDedupCluster(buckets, clusters, config=config, save_cluster_id=True)]),
        (tasks, [read(), MinhashDedupFilter(clusters, exclusion_writer=removed, load_cluster_ids=True), kept]),
    )
    for number, (parts, steps) in enumerate(stages):
        LocalPipelineExecutor(
            pipeline=steps,
            tasks=parts,
            workers=min(parts, tasks),
            logging_dir=str(folder / f"log{number}"),
            start_method="fork",  # of the processes of a fork server the system does not count the memory
        ).run()


if __name__ == "__main__":
    main()
