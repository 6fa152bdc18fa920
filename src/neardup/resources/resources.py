"""RESOURCES: what a run may take of the machine, passed whole; and the shares of its memory, named in one place."""

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
"""Into how many parts the memory is divided for each use: what takes more lies in temporary files, or is done in more passes.

rows: what is kept of each row, fingerprints, digests, lengths and ids; array: one array by row of those made on the way; counts: of
elements in how many documents they occur; postings: of one pass of an exact join; signatures: of MinHash; bands: tables of
all threads; blocks: tables of a join by distance; pairs: those found and not yet sorted; candidates: the graph of them;
frequencies: features that `fit` counts.
"""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a run may take of the machine; none of it changes a result.

    Attributes:
        threads: all processors if not given.
        memory: bytes, as a number or as `512M` or `4G`; half of the machine's if not given.
        temp_dir: folder for temporary files; the system's if not given.

    Raises:
        OptionError: one has a value that is not allowed.
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
        """How many threads there are."""
        return thread_count(self.threads)

    @property
    def memory_bytes(self) -> int:
        """The whole budget."""
        return memory_bytes(self.memory)

    def share(self, use: str) -> int:
        """Bytes that one of SHARES has."""
        return self.memory_bytes // SHARES[use]

    def pair_spool(self) -> "PairSpool":
        """Where pairs are gathered: in memory up to their share, else in a temporary file."""
        from neardup.resources.pair_spool import (
            PairSpool,  # on first use: options are made before anything heavy is loaded
        )

        return PairSpool(memory=self.share("pairs"), temp_dir=self.temp_dir)

    @property
    def scratch(self) -> "Scratch":
        """Where arrays by row are made: in memory up to their share, else in temporary files."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share("array"), self.temp_dir)


class ResourceOptions(TypedDict, total=False):
    """The fields of `Resources`, as keyword arguments."""

    threads: int | None
    memory: int | str | None
    temp_dir: str | None


DEFAULTS = Resources()
