"""RESOURCES: what a run may take of the machine, passed whole; and the shares of its memory, named in one place."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from neardup.resources.limits import check_temp_dir, memory_bytes
from neardup.resources.memory_use import MemoryUse
from neardup.resources.room import check_room
from neardup.resources.threads import thread_count

if TYPE_CHECKING:
    from neardup.resources.pair_spool import PairSpool
    from neardup.resources.scratch import Scratch

PARTS = 64
SHARES = {
    "rows": 16,
    "arrays": 16,
    "counts": 8,
    "postings": 12,
    "signatures": 8,
    "bands": 12,
    "blocks": 12,
    "pairs": 12,
    "candidates": 8,
    "frequencies": 16,
}
"""How many of the PARTS of the memory each use has: what takes more lies in temporary files, or is done in more passes.

rows: what is kept of each row, fingerprints, digests, lengths and ids; arrays: those by row that are made on the way; counts: of
elements in how many documents they occur; postings: of one pass of an exact join; signatures: of MinHash; bands: tables of
all threads; blocks: tables of a join by distance, and what threads hold of its pairs; pairs: those found and not yet sorted;
candidates: the graph of them; frequencies: features that `fit` counts.
"""
PHASES = {
    "fingerprint": ("rows", "arrays"),
    "exact": ("rows", "arrays", "counts", "postings", "pairs"),
    "minhash": ("rows", "arrays", "signatures", "bands", "pairs"),
    "simhash": ("rows", "arrays", "blocks", "pairs"),
    "graph": ("rows", "arrays", "pairs", "candidates"),
    "cluster": ("rows", "arrays", "candidates"),
    "fit": ("rows", "frequencies"),
}
"""What lives at the same time: the shares of a phase add up to no more than the whole."""
ARRAYS = 16
"""About so many arrays by row live at a time: each that is larger than this part of their share lies in a file."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a run may take of the machine; none of it changes a result.

    Attributes:
        threads: all processors if not given.
        memory: bytes, as a number or as `512M` or `4G`; half of the machine's if not given.
        temp_dir: folder for temporary files; the system's if not given.
        use: what the shares of the memory were used for, so far.

    Raises:
        OptionError: one has a value that is not allowed.
    """

    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None
    use: MemoryUse = field(default_factory=MemoryUse, compare=False, repr=False)

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
        return share_of(self.memory_bytes, use)

    def pair_spool(self) -> "PairSpool":
        """Where pairs are gathered: in memory up to their share, else in a temporary file."""
        from neardup.resources.pair_spool import (
            PairSpool,  # on first use: options are made before anything heavy is loaded
        )

        return PairSpool(memory=self.share("pairs"), temp_dir=self.temp_dir, use=self.use)

    @property
    def scratch(self) -> "Scratch":
        """Where arrays by row are made: in memory up to their share, else in temporary files."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share("arrays") // ARRAYS, self.temp_dir, self.use)

    def scratch_of(self, use: str, arrays: int) -> "Scratch":
        """Where the `arrays` arrays of another use are made: in memory if each is no larger than its part of that share."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share(use) // arrays, self.temp_dir, self.use, use)

    def check_room(self, needed: int, *, work: str, instead: str) -> None:
        """Raise OptionError if `work` needs more bytes of temporary files than are free; `instead`: what else may be given."""
        check_room(needed, self.temp_dir, work=work, instead=instead)

    def excess(self) -> str:
        """What took more than its share, in a line; empty if nothing did."""
        over = {use: size for use, size in self.use.most.items() if size > self.share(use)}
        shown = (f"{use} {size / 2**20:,.0f} MiB of {self.share(use) / 2**20:,.0f}" for use, size in over.items())
        return f"more memory than its share: {', '.join(shown)}" if over else ""

    def as_dict(self) -> dict[str, Any]:
        """The budget and its shares, each with the most that was used of it at a time; plain values."""
        shares = {use: {"bytes": self.share(use), "used": self.use.most.get(use, 0)} for use in SHARES}
        return {"budget": self.memory_bytes, "shares": shares}


def share_of(memory: int, use: str) -> int:
    """Bytes of so much memory that one of SHARES has."""
    return memory * SHARES[use] // PARTS


class ResourceOptions(TypedDict, total=False):
    """The fields of `Resources`, as keyword arguments."""

    threads: int | None
    memory: int | str | None
    temp_dir: str | None


DEFAULTS = Resources()
