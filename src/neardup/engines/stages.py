"""STAGES: what an engine runs. A stage is a pure function of the rows of one bucket; engines move rows to buckets by their keys."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.version import __version__

Found = Iterable[tuple[str, pa.Table]]
"""What a stage yields: rows of an output, by its name."""


@dataclass(frozen=True)
class Output:
    """Rows that leave a stage.

    Attributes:
        schema: their columns.
        key: columns of int64; rows with equal keys come to one bucket. Without any, all rows come to one.
        is_text: whether most of their bytes are texts, which are packed in another way than numbers.
        is_sorted: whether a stage gets them ascending by key; else in no order, which is faster.
    """

    schema: pa.Schema
    key: tuple[str, ...] = ()
    is_text: bool = False
    is_sorted: bool = True


@dataclass(frozen=True)
class Part:
    """A part of the input: the same rows in the same order, whenever it is read.

    Attributes:
        number: which one.
        batches: record batches of `text`, and JSON values `id`, `within` and `value`, which some runs need: large_string each. A
            row without a text is no document.
        is_reference: whether its documents are those of a reference.
        runs: where runs of its rows begin, the first of them 0, and the number that each run has as if it were a part, where the
            order of documents is that of these numbers; none if all have that of the part.
    """

    number: int
    batches: Iterator[pa.RecordBatch]
    is_reference: bool = False
    runs: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Reading:
    """A stage that reads the input, part by part.

    Attributes:
        name: shown to users.
        work: the function.
        outputs: what it yields, by name.
    """

    name: str
    work: Callable[[Part], Found]
    outputs: Mapping[str, Output]


@dataclass(frozen=True)
class Stage:
    """A stage that gets the rows of one bucket of each of its inputs.

    Few rows may give very many, as pairs of copies do. So a stage yields a piece at a time, and an engine looks at what is given
    before it keeps it in one place.

    Attributes:
        name: shown to users.
        work: the function; each table ascends by its key.
        outputs: what it yields, by name.
    """

    name: str
    work: Callable[..., Found]
    outputs: Mapping[str, Output]


@dataclass(frozen=True)
class Rows:
    """Rows that an engine holds, in buckets.

    Attributes:
        output: their columns and key.
        count: how many there are.
    """

    output: Output
    count: int

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.count == 0


class Engine(ABC):
    """What moves rows. Whatever an engine holds (`Rows`) may lie anywhere; only `collect` brings rows to the caller."""

    @abstractmethod
    def read(self, reading: Reading) -> dict[str, Any]:
        """Run a stage on all parts of the input. Returns its outputs, by name."""

    @abstractmethod
    def run(self, stage: Stage, *inputs: Any) -> dict[str, Any]:
        """Run a stage on all buckets of its inputs, which have the same number of key columns. Returns its outputs."""

    @abstractmethod
    def nothing(self, output: Output) -> Any:
        """No rows."""

    @abstractmethod
    def together(self, *rows: Any) -> Any:
        """All rows of several outputs with the same columns and key."""

    @abstractmethod
    def orders(self, work: Any) -> bool:
        """Whether documents must be put in order to know their places and ranks; else each `doc` is its place."""

    @abstractmethod
    def places(self, work: Any, documents: Any, compared_as: str | None) -> Any:
        """The places and ranks (PLACES) of documents, by key `doc`.

        `compared_as`: how the values are compared that say how good documents are; None if there are none.
        """

    @abstractmethod
    def collect(self, rows: Any) -> pa.Table:
        """All rows, in no order; only for what is small."""


@dataclass
class Measured:
    """What a stage took.

    Attributes:
        name: of the stage.
        seconds: from its beginning to its end.
        rows, bytes: of its outputs, packed, by name.
        ran: where, on an engine that has several places: HERE, THERE, or KEPT for what an earlier run had done.
    """

    name: str
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    ran: str = ""


HERE, THERE, KEPT = "driver", "cluster", "kept"


@dataclass(frozen=True)
class Setting:
    """What tasks know of the driver.

    Attributes:
        version: of the package there.
        buckets: into how many rows are divided.
        place: what runs a task, in the words of the engine.
    """

    version: str
    buckets: int
    place: str = "An executor"

    def check(self) -> None:
        """Refuse another version of the package.

        Raises:
            InputError: what runs this task has another one than the driver.
        """
        if self.version != __version__:
            raise InputError(
                f"{self.place} has neardup {__version__}, and the driver {self.version}. Ship one environment to both."
            )
