"""RESOURCES: the resources that a run may use, as one object, and all shares of its memory."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from neardup.resources.limits import check_temp_dir, memory_bytes
from neardup.resources.threads import thread_count

if TYPE_CHECKING:
    from neardup.resources.pair_spool import PairSpool
    from neardup.resources.scratch import Scratch

SHARES = {
    "rows": 4,
    "array": 64,
    "counts": 8,
    "postings": 4,
    "signatures": 4,
    "bands": 2,
    "blocks": 4,
    "pairs": 4,
    "candidates": 8,
    "frequencies": 4,
}
"""The share of the memory for each use: one part of this many.

What exceeds a share goes to temporary files, or is done in more passes. The uses:

- rows: the fingerprint, digest, length and id of each row
- array: one intermediate array by row
- counts: the number of documents in which each element occurs
- postings: the postings of one pass of an exact join
- signatures: MinHash signatures
- bands: the tables of bands of all threads
- blocks: the tables of a join by distance
- pairs: pairs that are not sorted yet
- candidates: the graph of candidates
- frequencies: the features that `fit` counts
"""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of the machine that a run may use.

    Results do not depend on them, except that `auto` chooses its method by the memory.

    Attributes:
        threads: the number of threads; all processors by default.
        memory: bytes, as a number or as `512M` or `4G`; half of the machine's memory by default.
        temp_dir: the folder for temporary files; the system's by default.

    Raises:
        OptionError: a value is not allowed.
    """

    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None

    def __post_init__(self) -> None:
        thread_count(self.threads)
        memory_bytes(self.memory)
        check_temp_dir(self.temp_dir)

    @property
    def thread_count(self) -> int:
        """The number of threads."""
        return thread_count(self.threads)

    @property
    def memory_bytes(self) -> int:
        """The whole memory, in bytes."""
        return memory_bytes(self.memory)

    def share(self, use: str) -> int:
        """The bytes of a use in SHARES."""
        return self.memory_bytes // SHARES[use]

    def pair_spool(self) -> "PairSpool":
        """A new spool of pairs: in memory up to their share, then in a temporary file."""
        from neardup.resources.pair_spool import (
            PairSpool,  # imported on first use: options load nothing heavy
        )

        return PairSpool(memory=self.share("pairs"), temp_dir=self.temp_dir)

    @property
    def scratch(self) -> "Scratch":
        """The factory of arrays by row: in memory up to their share, else in temporary files."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share("array"), self.temp_dir)


class ResourceOptions(TypedDict, total=False):
    """The fields of `Resources`, as keyword arguments."""

    threads: int | None
    memory: int | str | None
    temp_dir: str | None


DEFAULTS = Resources()
