"""What every contender of the de-duplication benchmarks shares: what it is asked for, and what it gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Found = dict[str, Array]
"""Pairs of rows as `left` and `right`, or a label for each row as `cluster`, or a flag for each row as `removed` or `touched`.

Also `candidates` where they are counted, and what is in MEASURED where another process does the work."""
MEASURED = ("seconds", "processor_seconds", "peak_memory_bytes")
"""Of a whole process and those that it waited for; the memory of the largest."""

AT_LEAST = 0.8
PERMUTATIONS = 128
SEED = 42
CHARACTERS = 5
"""Of a shingle of Chinese."""
LANGUAGES = ("english", "chinese")


@dataclass(frozen=True)
class Interpreters:
    """The Python of each peer that has an environment of its own."""

    text_dedup: str
    datatrove: str


class UnavailableError(Exception):
    """What a contender needs is not here; the message says what."""
