"""NEIGHBORS: one table of whole fingerprints. A query looks up every code within its distance."""

import math

from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import KeyPlan
from neardup.hamming.index.methods.search_method import method_of_keys

MAX_CODES = 1_000_000
"""Maximum number of codes that a query may look up; looking up more is slower than comparing with millions of rows."""
WORD_BITS = 64


def neighbor_keys(bits: int, max_distance: int) -> KeyPlan:
    """The whole fingerprint as the key, and the distance as its radius.

    Raises:
        OptionError: there are too many codes, or a code has several words.
    """
    codes = sum(math.comb(bits, distance) for distance in range(max_distance + 1))
    if bits > WORD_BITS or codes > MAX_CODES:
        raise OptionError(
            f"neighbours would look up {codes:,} codes of {bits} bits for a query; allowed are {MAX_CODES:,} of {WORD_BITS}. "
            "Use block-tables or multi-index."
        )
    return KeyPlan(bits, (tuple(range(bits)),), (max_distance,))


METHOD = method_of_keys(lambda bits, distance, _options: neighbor_keys(bits, distance))
