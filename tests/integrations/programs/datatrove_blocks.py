"""The stages as blocks of datatrove, each by an executor with two tasks; then its reader reads what was kept. Prints the ids."""

import json
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader

from neardup.integrations.datatrove import Clusters, Fingerprint, Pairs, Survivors

if __name__ == "__main__":
    shards = sorted(map(str, Path("shards").glob("*.jsonl")))
    stages = [
        Fingerprint(shards, "dedup"),
        Pairs(shards, "dedup", method="exact", min_similarity=0.6),
        Clusters(shards, "dedup"),
        Survivors(shards, "dedup", "kept"),
    ]
    for number, stage in enumerate(stages):
        for again in range(2):  # what is done is left as it is
            tasks = 1 if isinstance(stage, Clusters) else 2
            LocalPipelineExecutor([stage], tasks=tasks, logging_dir=f"logs/{number}{again}").run()
    found = list(JsonlReader("kept", glob_pattern="[0-9].jsonl", compression=None)())
    print(json.dumps(sorted(document.id for document in found)))
