"""RESOURCES: the resources that a run may use, as one object."""

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from neardup.display import size_text
from neardup.errors import OptionError
from neardup.resources.limits import check_temp_dir, memory_bytes, physical_bytes
from neardup.resources.memory_use import MemoryUse
from neardup.resources.shares import ARRAYS_AT_ONCE, SHARES, memory_for, share_of
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.threads import thread_count

if TYPE_CHECKING:
    from neardup.arrays import Array
    from neardup.resources.pair_spool import PairSpool
    from neardup.resources.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of the machine that a run may use.

    No result depends on them.

    Attributes:
        threads: the number of threads; all processors by default.
        memory: bytes, as a number or as `512M` or `4G`; half of the machine's memory by default.
        temp_dir: the folder for temporary files; the system's by default.
        temp_limit: bytes that temporary files may take together, as a number or as `512M` or `4G`; nine tenths of what is free
            in their folder by default.
        use: what the shares of the memory have been used for so far.
        files: the temporary files, which are made with this.

    Raises:
        OptionError: a value is not allowed.
    """

    threads: int | None = None
    memory: int | str | None = None
    temp_dir: str | None = None
    temp_limit: int | str | None = None
    use: MemoryUse = field(default_factory=MemoryUse, compare=False, repr=False)
    files: TemporaryFiles = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        problems = []
        for check in (
            partial(thread_count, self.threads),
            partial(memory_bytes, self.memory),
            partial(check_temp_dir, self.temp_dir),
            self._make_files,
        ):
            try:
                check()
            except OptionError as problem:
                problems.append(str(problem).rstrip("."))
        if problems:
            raise OptionError("; ".join(problems) + ".")

    def _make_files(self) -> None:
        object.__setattr__(self, "files", TemporaryFiles(self.temp_dir, self.temp_limit))

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
        return share_of(self.memory_bytes, use)

    def pair_spool(self, names: "Array | None" = None) -> "PairSpool":
        """A new spool of pairs, of `names` if given: in memory up to their share, then in a temporary file."""
        from neardup.resources.pair_spool import PairSpool  # on first use: options load nothing heavy

        return PairSpool(memory=self.share("pairs"), files=self.files, use=self.use, names=names)

    @property
    def scratch(self) -> "Scratch":
        """The factory of arrays by row: in memory up to their share, else in temporary files."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share("arrays") // ARRAYS_AT_ONCE, self.files, self.use)

    def scratch_of(self, use: str, arrays: int) -> "Scratch":
        """Where the `arrays` arrays of another use are made: in memory if each is no larger than its part of that share."""
        from neardup.resources.scratch import Scratch

        return Scratch(self.share(use) // arrays, self.files, self.use, use)

    @property
    def free_bytes(self) -> int:
        """What temporary files may still take."""
        return self.files.free_bytes

    def check_room(self, needed: int, *, work: str, instead: str, use: str | None = None) -> None:
        """Raise OptionError if `work`, in words, needs more bytes of temporary files than they may still take.

        The message says what else to give: `instead`, and as much memory as would do without files, if the machine has it. `use`:
        whose share of the memory would hold them.
        """
        free = self.free_bytes
        if needed <= free:
            return
        memory = 0 if use is None else memory_for(needed, use)
        enough = f" `memory='{-(-memory >> 30)}G'`," if 0 < memory <= physical_bytes() else ""
        allowed, change = self.files.explained(free)
        raise OptionError(
            f"{work} takes about {size_text(needed)} of temporary files, and {allowed}. {change},{enough} or {instead}."
        )

    def check_pairs(self, pairs: int, *, work: str, instead: str) -> None:
        """Raise OptionError, as `check_room` does, if so many pairs exceed their share and the disk has no room for them."""
        from neardup.resources.pair_spool import PAIR_BYTES  # on first use: options load nothing heavy

        if pairs * PAIR_BYTES > self.share("pairs"):
            self.check_room(pairs * PAIR_BYTES, work=work, instead=instead, use="pairs")

    def excess(self) -> str:
        """What took more than its share, in a line; empty if nothing did."""
        over = {use: size for use, size in self.use.most.items() if size > self.share(use)}
        shown = (f"{use} {size_text(size)} of {size_text(self.share(use))}" for use, size in over.items())
        return f"more memory than its share: {', '.join(shown)}" if over else ""

    def as_dict(self) -> dict[str, Any]:
        """The budget and its shares, each with the most that was used of it at a time; plain values."""
        shares = {use: {"bytes": self.share(use), "used": self.use.most.get(use, 0)} for use in SHARES}
        return {"budget": self.memory_bytes, "shares": shares}


class ResourceOptions(TypedDict, total=False):
    """The fields of `Resources`, as keyword arguments."""

    threads: int | None
    memory: int | str | None
    temp_dir: str | None
    temp_limit: int | str | None


DEFAULTS = Resources()
