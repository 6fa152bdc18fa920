"""PROGRESS: the stages of a run, one after another, with their time and the bytes that they read and write; shown by subclasses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Lock, Thread
from typing import Any, TypedDict, Unpack

from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.progress.stage import Stage

Clock = Callable[[], float]

REDRAW_SECONDS = 0.2
"""The interval at which a display is drawn; a stage that is shorter is not drawn while it goes on."""


class Progress:
    """Progress that measures the time of stages and shows nothing; the base class of those that show something.

    Attributes:
        seconds: the seconds of each stage.
        read_bytes: the bytes that each stage read from the input files, as stored on disk.
        written_bytes: the bytes that each stage wrote to outputs.
        passed_over: the number of files in input folders that were not read.
        at: the current stage; None between stages.
    """

    def __init__(self, *, clock: Clock = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self.read_bytes: dict[str, int] = {}
        self.written_bytes: dict[str, int] = {}
        self.passed_over = 0
        self.at: Stage | None = None
        self.clock = clock

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """Measure the time of a `with` block as the stage `name`; `total` is the number of documents, if known."""
        self.at = stage = Stage(name, total, self.clock())
        self.begin(name, total)
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + self.clock() - stage.began, 3)
            if stage.read_bytes:
                self.read_bytes[name] = self.read_bytes.get(name, 0) + stage.read_bytes
            self.end(name)
            self.at = None

    def costs(self) -> dict[str, Any]:
        """What the stages took so far, by the names that summaries have for it; each with its `total`."""
        return {
            "seconds": self.seconds | {"total": round(sum(self.seconds.values()), 3)},
            "read_bytes": self.read_bytes | {"total": sum(self.read_bytes.values())},
            "written_bytes": self.written_bytes | {"total": sum(self.written_bytes.values())},
            "peak_memory_bytes": peak_memory_bytes(),
            "passed_over": self.passed_over,
        }

    def begin(self, name: str, total: int | None) -> None:
        """A stage begins; subclasses override this."""

    def advance(self, documents: int) -> None:
        """Count `documents` more as done."""
        if self.at is not None:
            self.at.documents += documents

    @property
    def share(self) -> float | None:
        """The fraction of the current stage that is done, from 0 to 1; None while unknown."""
        return None if self.at is None else self.at.share

    def expect(self, count: int) -> None:
        """Add `count` bytes to the size of the files that the stage reads."""
        if self.at is not None:
            self.at.total_bytes += count

    def read(self, count: int) -> None:
        """Count `count` more bytes of the input files as read."""
        if self.at is not None:
            self.at.read_bytes += count

    def written(self, count: int) -> None:
        """Count `count` more bytes of outputs as written by the current stage."""
        if self.at is not None:
            self.written_bytes[self.at.name] = self.written_bytes.get(self.at.name, 0) + count

    def end(self, name: str) -> None:
        """A stage has ended; subclasses override this."""

    def say(self, line: str) -> None:
        """Show a message to the user; subclasses override this."""

    def note(self, line: str) -> None:
        """Show a message about how the work is done, to those who asked for such; subclasses override this."""


class DisplayOptions(TypedDict, total=False):
    """What every display takes.

    Attributes:
        clock: tells the time, in seconds.
        wording: changes each line before it is shown.
        verbose: also show a line for each stage, and notes about how the work is done.
    """

    clock: Clock
    wording: Callable[[str], str]
    verbose: bool


class DisplayedProgress(Progress):
    """Progress that a person reads: what all displays have in common; see `DisplayOptions`."""

    def __init__(
        self, *, clock: Clock = time.perf_counter, wording: Callable[[str], str] = str, verbose: bool = True
    ) -> None:
        super().__init__(clock=clock)
        self.wording, self.verbose = wording, verbose

    def note(self, line: str) -> None:
        if self.verbose:
            self.say(line)


class RedrawnProgress(DisplayedProgress):
    """Progress whose display moves. Subclasses say what is drawn of a stage, and call `rest` at its end."""

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self.drawing, self._ended = Lock(), Event()

    def draw(self, stage: Stage | None) -> None:
        """Draw a stage as it is now, or None between stages; the caller holds `drawing`."""
        raise NotImplementedError

    def begin(self, name: str, total: int | None) -> None:
        self._ended = Event()
        here = copy_context()  # in which the kernel of a notebook knows the cell that shows what is drawn
        Thread(target=here.run, args=(self._redraw, self.at, self._ended), daemon=True).start()

    def _redraw(self, stage: Stage, ended: Event) -> None:
        while not ended.wait(REDRAW_SECONDS):
            with self.drawing:
                if not ended.is_set():
                    self.draw(stage)

    def rest(self) -> None:
        """Draw the current stage no more."""
        self._ended.set()
