"""PyPI simhash: features and values of texts, values of features, and near duplicates by its index."""

import collections
import collections.abc
import json
import sys

collections.Iterable = collections.abc.Iterable  # releases before 2.1 take it from there, and Python 3.10 removed it
question = json.load(sys.stdin)
sys.path.insert(0, question["releases"])

from simhash import Simhash, SimhashIndex  # noqa: E402


def value(given):
    """The value as a string, or the name of the error."""
    try:
        return str(Simhash(given, f=question["bits"]).value)
    except OverflowError as error:
        return type(error).__name__


found = {}
if "texts" in question:
    tokenizer = Simhash("")
    found["features"] = [tokenizer._tokenize(text) for text in question["texts"]]
    found["values"] = [value(text) for text in question["texts"]]
if "weighted" in question:
    found["values"] = [value([tuple(each) for each in features]) for features in question["weighted"]]
if "distance" in question:
    made = [Simhash(text) for text in question["texts"]]
    index = SimhashIndex([(str(i), each) for i, each in enumerate(made)], k=question["distance"])
    near = [(int(other), i) for i, each in enumerate(made) for other in index.get_near_dups(each)]
    found["pairs"] = sorted({(left, right) for left, right in near if left < right})
print(json.dumps(found))
