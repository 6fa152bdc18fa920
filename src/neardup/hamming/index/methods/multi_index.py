"""MULTI-INDEX HASHING: a table for each block of the bits, searched within a radius (Norouzi, Punjani and Fleet 2012)."""

import math
from collections.abc import Iterable

from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import KeyPlan, blocks_of
from neardup.hamming.index.methods.search_method import method_of_keys
from neardup.hamming.index.planning.costs import Setting

MAX_PROBES = 4096
"""The planner considers more probes of a table only if the table has at least as many rows."""


def multi_index_keys(bits: int, max_distance: int, blocks: int) -> KeyPlan:
    """Each block is a key that is searched within a radius (section 3.1).

    If two fingerprints differ in at most k = blocks * r + a bits, with a < blocks, then one of the first a + 1 blocks differs in at
    most r bits, or one of the other blocks in at most r - 1.

    Raises:
        OptionError: there are fewer bits than blocks, or no blocks.
    """
    if not 1 <= blocks <= bits:
        raise OptionError(f"`blocks={blocks}`: give from 1 to {bits} blocks, the bits.")
    radius, rest = divmod(max_distance, blocks)
    radii = tuple(radius if i <= rest else radius - 1 for i in range(blocks))
    cut = blocks_of(bits, blocks)
    used = [i for i in range(blocks) if radii[i] >= 0]
    return KeyPlan(bits, tuple(cut[i] for i in used), tuple(radii[i] for i in used))


def _considered(setting: Setting) -> Iterable[dict[str, int]]:
    for blocks in range(1, min(setting.bits, setting.max_distance + 1) + 1):
        probes = sum(math.comb(setting.bits // blocks, r) for r in range(setting.max_distance // blocks + 1))
        if blocks == setting.max_distance + 1 or probes <= max(MAX_PROBES, setting.rows):
            yield {"blocks": blocks}


METHOD = method_of_keys(
    lambda bits, distance, options: multi_index_keys(bits, distance, options["blocks"]), considered=_considered
)
