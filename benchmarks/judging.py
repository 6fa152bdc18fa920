"""What a contender's output is worth, beside a list of true pairs.

- pairs: recall and precision of the pairs that it lists, or that lie in one cluster;
- survivors: of the true pairs, how many are settled (not both survive), and of the removed documents, how many have a similar one
  among the survivors. Where a contender does not say what it removes: of pairs, in the order of the input, a document goes if it
  has a pair with an earlier survivor; of a cluster the first stays;
- documents: recall and precision of the documents that have any near-copy.
"""

from typing import Any

import numpy as np

import measure
from contender import Array, Found


def coded(found: Found, documents: int) -> Array:
    """Pairs of rows as sorted distinct numbers: int64[p]."""
    return np.unique(found["left"] * documents + found["right"])


def removed_by(found: Found, documents: int) -> Array | None:
    """Which documents do not survive: bool[documents], or None where that is not said."""
    removed = np.zeros(documents, bool)
    if "removed" in found:
        return found["removed"]
    if "cluster" in found:
        _, first = np.unique(found["cluster"], return_index=True)
        removed[:] = True
        removed[first] = False
        return removed
    if "left" not in found:
        return None
    order = np.argsort(found["right"], kind="stable")
    left, right = found["left"][order], found["right"][order]
    starts = np.flatnonzero(np.diff(right, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(right)), strict=True):
        removed[right[start]] = not removed[left[start:end]].all()
    return removed


def _pairs_in_clusters(cluster: Array) -> int:
    sizes = np.unique(cluster, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _shares(hits: int, wanted: int, given: int) -> dict[str, Any]:
    return {
        "true": wanted,
        "found": given,
        "recall": measure.rounded(hits / wanted, 6) if wanted else None,
        "precision": measure.rounded(hits / given, 6) if given else None,
    }


def judge(found: Found, truth: Array, documents: int) -> dict[str, Any]:
    """What of the truth was found, as far as the output says; `truth` as by `coded`."""
    left, right = truth // documents, truth % documents
    similar = np.zeros(documents, bool)
    similar[left] = similar[right] = True
    record: dict[str, Any] = {}
    touched = found.get("touched")
    if "left" in found:
        pairs = coded(found, documents)
        record["pairs"] = _shares(len(np.intersect1d(pairs, truth, assume_unique=True)), len(truth), len(pairs))
        touched = np.zeros(documents, bool)
        touched[found["left"]] = touched[found["right"]] = True
    elif "cluster" in found:
        cluster = found["cluster"]
        record["pairs"] = _shares(int((cluster[left] == cluster[right]).sum()), len(truth), _pairs_in_clusters(cluster))
        _, label, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
        touched = sizes[label] > 1
    removed = removed_by(found, documents)
    if removed is not None:
        has_survivor = np.zeros(documents, bool)
        has_survivor[left[~removed[right]]] = True
        has_survivor[right[~removed[left]]] = True
        settled = int((removed[left] | removed[right]).sum())
        justified = int((removed & has_survivor).sum())
        record["survivors"] = {
            "removed": int(removed.sum()),
            "true pairs settled": measure.rounded(settled / len(truth), 6) if len(truth) else None,
            "removed with a similar survivor": measure.rounded(justified / removed.sum(), 6) if removed.any() else None,
        }
    if touched is not None:
        record["documents"] = _shares(int((touched & similar).sum()), int(similar.sum()), int(touched.sum()))
    return record
