"""SIMHASH on an engine: every pair of fingerprints within the distance has a key in common.

Which keys, is chosen by what they cost, see `plan_of`:

1. Blocks of bits. Fingerprints within the distance agree in the blocks of a key (Manku, Jain and Das Sarma 2007, section 3), so few
   long keys find all pairs, if the distance is small.
2. The prefixes of `exact`, if a similarity is verified. What matches and is within the distance has these in common as well, and
   what is not within it is dropped before texts are read (`neardup.matching.candidates.narrowed`).
3. One key for all. Every two fingerprints are compared, in waves and blocks (`neardup.engines.pairing.blocks`): each pair of a
   large distance looks much like a chance, and no key would tell it.
"""

from functools import lru_cache
from itertools import combinations

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates import exact
from neardup.engines.candidates.groups import postings_table
from neardup.engines.candidates.method import Method
from neardup.engines.job_options import Work
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.block_plan import BlockPlan, plan_join
from neardup.kernels.engines.groups import ANY
from neardup.kernels.store.postings import MIX
from neardup.kernels.store.prefixes import Order
from neardup.kernels.xxh3 import digest_rows

MAX_KEYS = 64
"""Keys of a fingerprint: about as many as a text of 3 KB has prefixes."""
BY_CHANCE = 16.0
"""Documents with which one may share keys by chance, so that blocks are chosen. Each is a pair that is sent and dropped."""


def plan_of(work: Work) -> BlockPlan | None:
    """The blocks with the fewest keys among those that are selective enough for so many documents; None if none are."""
    assert work.max_distance is not None  # simhash has one
    return _plan_of(work.documents, 64 * work.recipe.words, work.recipe.bits, work.max_distance)


@lru_cache(maxsize=16)
def _plan_of(documents: int, bits: int, telling: int, max_distance: int) -> BlockPlan | None:
    plans = []
    for parts in range(1, max_distance + 2):
        for key_blocks in range(2, bits):
            if max_distance + 1 + parts * (key_blocks - 1) > bits:
                break
            plan = plan_join(documents, bits, max_distance, entropy=telling, parts=parts, key_blocks=key_blocks)
            if plan.tables > MAX_KEYS:
                break
            if documents * plan.tables <= BY_CHANCE * 2**plan.key_bits:
                plans.append(plan)
                break  # longer keys are more
    return min(plans, key=lambda plan: plan.tables, default=None)


def masks_of(plan: BlockPlan) -> Array:
    """uint64[tables, words]: the bits of each key of a plan: each choice of so many blocks of one of its parts."""
    block = np.arange(plan.bits) * plan.blocks // plan.bits
    keys, first = [], 0
    for budget in plan.budgets:
        last = first + budget + plan.key_blocks
        keys += [np.isin(block, chosen) for chosen in combinations(range(first, last), plan.key_blocks)]
        first = last
    packed: Array = np.packbits(keys, axis=1).view(np.uint64)
    return packed


def keys(work: Work, texts: pa.Array, docs: Array, groups: Array, order: Order) -> pa.Table:
    """The blocks of fingerprints, the prefixes of texts, or one key for all."""
    plan = plan_of(work)
    if plan is None and not work.by_distance:
        return exact.keys(work, texts, docs, groups, order)
    masks = np.zeros((1, work.recipe.words), np.uint64) if plan is None else masks_of(plan)
    of_blocks = keys_of_blocks(fingerprint_array(texts, work.recipe).values, masks)
    found = of_blocks ^ (groups.view(np.uint64) * MIX)[:, None]
    nothing = np.zeros(found.size, np.int32)
    return postings_table(work, found.ravel(), np.repeat(docs, len(masks)), nothing, nothing, nothing == 0)


def keys_of_blocks(prints: Array, masks: Array) -> Array:
    """uint64[n, tables]: hashes of the bits of fingerprints (uint64[n, words]) that masks (uint64[tables, words]) choose."""
    n, tables = len(prints), len(masks)
    number = np.broadcast_to(np.arange(tables, dtype=np.uint64)[None, :, None], (n, tables, 1))
    rows = np.concatenate([prints[:, None, :] & masks, number], axis=2)
    out = np.empty((n * tables, 2), np.uint64)
    digest_rows(rows.view(np.uint8).ravel(), 8 * rows.shape[2], out)
    return np.ascontiguousarray(out[:, 1].reshape(n, tables))


def needs_order(work: Work) -> bool:
    """Whether prefixes are keys."""
    return not work.by_distance and plan_of(work) is None


def code(work: Work) -> int:
    """What documents with a common key must allow: those with a common prefix, their similarity."""
    return work.similarity.code if needs_order(work) else ANY


def has_one_key(work: Work) -> bool:
    """Whether all documents have one key."""
    return work.by_distance and plan_of(work) is None


SIMHASH = Method(keys, code, needs_order=needs_order, has_one_key=has_one_key)
