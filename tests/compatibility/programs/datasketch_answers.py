"""datasketch: signatures of sets of features in hexadecimal, and estimates of their similarity."""

import json
import sys
from itertools import pairwise

import numpy

numpy.float = float  # releases before 1.5 take it from there, and NumPy 1.24 removed it
question = json.load(sys.stdin)
sys.path.insert(0, question["releases"])

from datasketch import MinHash  # noqa: E402


def answer(num_perm, seed):
    made = []
    for features in question["features"]:
        signature = MinHash(num_perm=num_perm, seed=seed, **question["options"])
        for feature in features:
            signature.update(bytes.fromhex(feature))
        made.append(signature)
    return {
        "signatures": [[str(value) for value in each.hashvalues] for each in made],
        "similarities": [float(left.jaccard(right)) for left, right in pairwise(made)],
    }


print(json.dumps({"answers": [answer(*each) for each in question["drawn"]]}))
