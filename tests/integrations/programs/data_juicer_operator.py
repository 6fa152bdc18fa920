"""The operator of data-juicer on Ray and on this machine, by its own executors' datasets. Prints the ids of both."""

import json
import sys

import pyarrow.json as pa_json

sys.modules.setdefault("av", None)  # data-juicer looks for what reads videos
from data_juicer.ops.base_op import OPERATORS  # noqa: E402

import neardup.integrations.data_juicer  # noqa: E402, F401 - registers the operator


def ids(samples):
    return sorted(sample["id"] for sample in samples)


if __name__ == "__main__":
    import ray
    from data_juicer.core.data.dj_dataset import NestedDataset
    from data_juicer.core.data.ray_dataset import RayDataset
    from datasets import Dataset

    given = {"options": {"min_similarity": 0.6}, "order_keys": ["n"], "work": "work"}
    operator = OPERATORS.modules["neardup_deduplicator"](**given)
    table = pa_json.read_json("all.jsonl")
    here = NestedDataset(Dataset(table)).process([operator])
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, log_to_driver=False)
    there = RayDataset(ray.data.read_json("all.jsonl"))
    there.process([operator])
    print(json.dumps([ids(here), ids(there.data.iter_rows())]))
