"""BLOCK TABLES: the bits are cut into blocks, and each choice of blocks - k blocks is the key of a table.

Two fingerprints that differ in at most k bits differ in at most k blocks, so they agree in the others (Manku, Jain and Das
Sarma 2007, section 3).
"""

import math
from collections.abc import Iterable
from itertools import combinations

from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import MAX_CHOSEN_TABLES, MAX_TABLES, KeyPlan, blocks_of
from neardup.hamming.index.methods.search_method import method_of_keys
from neardup.hamming.index.planning.costs import Setting


def block_keys(bits: int, max_distance: int, blocks: int) -> KeyPlan:
    """Every choice of blocks - max_distance blocks as a key: C(blocks, max_distance) tables.

    Raises:
        OptionError: there are too few blocks for a guarantee, or too many tables.
    """
    if not max_distance < blocks <= bits:
        raise OptionError(
            f"`blocks={blocks}` at distance {max_distance}: give more blocks than the distance, up to {bits}, the bits; or use "
            "`method='multi-index'` or `method='scan'`."
        )
    if math.comb(blocks, max_distance) > MAX_TABLES:
        raise OptionError(
            f"`blocks={blocks}` at distance {max_distance} are {math.comb(blocks, max_distance):,} tables; allowed are "
            f"{MAX_TABLES}. Give fewer blocks, or use `method='multi-index'`."
        )
    cut = blocks_of(bits, blocks)
    chosen = tuple(sum(key, ()) for key in combinations(cut, blocks - max_distance))
    return KeyPlan(bits, chosen, (0,) * len(chosen))


def _considered(setting: Setting) -> Iterable[dict[str, int]]:
    k = setting.max_distance
    for blocks in range(k + 1, min(setting.bits, k + 5) + 1):
        if blocks == k + 1 or math.comb(blocks, k) <= MAX_CHOSEN_TABLES:
            yield {"blocks": blocks}


METHOD = method_of_keys(
    lambda bits, distance, options: block_keys(bits, distance, options["blocks"]), considered=_considered
)
