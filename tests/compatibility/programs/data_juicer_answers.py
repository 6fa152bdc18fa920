"""data-juicer: the windows that its SimHash operator hashes, the fingerprints, its pairs, and which texts it keeps.

The operator's own modules are those of the release. The base class of all operators, which would import models, Ray and more, is a
stand-in, and so are the packages around it.
"""

import importlib
import json
import sys
import types

question = json.load(sys.stdin)


class Deduplicator:
    text_key = "text"

    def __init__(self, *args, **options):
        pass


class Dataset(list):
    """As much of a dataset as the operator uses."""

    def __getitem__(self, place):
        return [row[place] for row in self] if isinstance(place, str) else super().__getitem__(place)

    def filter(self, function, fn_kwargs, **_):
        return Dataset(row for row in self if function(row, **fn_kwargs))


for name in ("data_juicer", "data_juicer.ops", "data_juicer.ops.deduplicator"):
    package = types.ModuleType(name)
    package.__path__ = [question["releases"] + "/" + name.replace(".", "/")]
    sys.modules[name] = package
base = types.ModuleType("data_juicer.ops.base_op")
base.Deduplicator = Deduplicator
base.OPERATORS = types.SimpleNamespace(register_module=lambda name: lambda operator: operator)
sys.modules[base.__name__] = base
module = importlib.import_module("data_juicer.ops.deduplicator.document_simhash_deduplicator")

import simhash  # noqa: E402

hashed = []


def remembered(feature):
    hashed.append(feature.decode())
    return simhash.unsigned_hash(feature)


module.simhash = types.SimpleNamespace(compute=simhash.compute, unsigned_hash=remembered, find_all=simhash.find_all)
operator = module.DocumentSimhashDeduplicator(**question["options"])
rows, features = [], []
for i, text in enumerate(question["texts"]):
    hashed.clear()
    rows.append(operator.compute_hash({"row": i, "text": text}))
    features.append(list(hashed))
values = [int(row["__dj__simhash"]) for row in rows]
found = {"features": features, "values": [str(value) for value in values]}
if question.get("pairs"):
    pairs = simhash.find_all(sorted(set(values)), operator.num_blocks, operator.hamming_distance)
    found["pairs"] = sorted([str(min(pair)), str(max(pair))] for pair in pairs)
    found["kept"] = [row["row"] for row in operator.process(Dataset(rows))[0]]
print(json.dumps(found))
