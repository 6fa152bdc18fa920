"""Progress of a run for terminals, notebooks, logs and callbacks, and the time of each stage."""

import importlib.util
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from neardup.display import printable
from neardup.errors import OptionError


def peak_memory_bytes() -> int:
    """The peak resident memory of this program so far, as the operating system counts it."""
    try:  # getrusage() would also count the process before exec(), such as a large parent's memory
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@dataclass(slots=True)
class Stage:
    """The state of a stage.

    Attributes:
        name: the name of the stage.
        total: the number of documents to process; None if unknown.
        began: the time when the stage began, by the clock of the progress.
        documents: the number of documents that are done.
        read_bytes: bytes of the input files that were read.
        total_bytes: bytes of the input files in all; 0 if the stage reads no file.
    """

    name: str
    total: int | None
    began: float
    documents: int = 0
    read_bytes: int = 0
    total_bytes: int = 0

    @property
    def share(self) -> float | None:
        """The fraction that is done, from 0 to 1; of the documents, or of the bytes if the number of documents is unknown."""
        done, of = (self.documents, self.total) if self.total else (self.read_bytes, self.total_bytes)
        return min(1.0, done / of) if of else None

    def seconds_left(self, now: float) -> float | None:
        """The remaining seconds at the rate so far; None while unknown."""
        return (now - self.began) * (1 / self.share - 1) if self.share else None

    def rates(self, now: float) -> str:
        """Format the rates as `1,234 documents/s, 5.6 MB/s`; empty if nothing is counted or no time has passed."""
        seconds = now - self.began
        if seconds <= 0:
            return ""
        found = [f"{self.documents / seconds:,.0f} documents/s"] if self.documents else []
        found += [f"{self.read_bytes / seconds / 1e6:,.1f} MB/s"] if self.read_bytes else []
        return ", ".join(found)


class Progress:
    """Progress that measures the time of stages and shows nothing; the base class of those that show something.

    Attributes:
        seconds: the seconds of each stage.
        read_bytes: the bytes that each stage read from the input files, as stored on disk.
        written_bytes: the bytes that each stage wrote to outputs.
        passed_over: the number of files in input folders that were not read.
        at: the current stage; None between stages.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
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

    def begin(self, name: str, total: int | None) -> None:
        """A stage begins; subclasses override this."""

    def advance(self, documents: int) -> None:
        """Count `documents` more as done."""
        if self.at is not None:
            self.at.documents += documents

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


LOG_SECONDS = 30.0
"""The interval at which a long stage reports its state in a log, in seconds."""


class LogProgress(Progress):
    """Progress for logs: one line for each stage, and further lines for a long stage. `_shown_on` chooses the stream.

    `wording` changes each line before it is shown.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter, wording: Callable[[str], str] = str) -> None:
        super().__init__(clock=clock)
        self._said, self._wording = 0.0, wording

    def begin(self, name: str, total: int | None) -> None:
        self._said = self.clock()

    def advance(self, documents: int) -> None:
        super().advance(documents)
        now = self.clock()
        if self.at is not None and now - self._said >= LOG_SECONDS:
            self._said = now
            self.say(f"{self.at.name}: {told(self.at, now)}")

    def end(self, name: str) -> None:
        stage, said = self.at, ""
        if stage is not None and stage.documents:
            said = f", {stage.documents:,} documents"
            rates = stage.rates(self.clock())
            said += f", {rates}" if rates else ""
        self.say(f"{name}: {self.seconds[name]:.1f} s{said}")

    def say(self, line: str) -> None:
        print(f"neardup: {printable(self._wording(line))}", file=_shown_on(), flush=True)


def _shown_on() -> TextIO:
    """Standard error, or standard output in a notebook, which shows standard error as an alarm."""
    return sys.stdout if "ipykernel" in sys.modules else sys.stderr


def told(stage: Stage, now: float) -> str:
    """Describe the state of a stage: `45 %, 12,345 documents, 1,234 documents/s, 5.6 MB/s, about 40 s left`."""
    left = stage.seconds_left(now)
    parts = [
        "" if stage.share is None else f"{stage.share:.0%}".replace("%", " %"),
        f"{stage.documents:,} documents" if stage.documents else "",
        stage.rates(now),
        "" if left is None else f"about {duration(left)} left",
    ]
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Format a duration in the unit that fits it: `40 s`, `12 minutes`, `3.5 hours` or `2.1 days`."""
    for limit, unit, size in ((120, "s", 1.0), (7_200, "minutes", 60.0)):
        if seconds < limit:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 3_600:,.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:,.1f} days"


class TerminalProgress(LogProgress):
    """Progress for terminals: a moving line for the current stage."""

    def begin(self, name: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        super().begin(name, total)
        self._bar = Bar(
            TextColumn("neardup: {task.description}"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.fields[told]}"),
            console=Console(file=_shown_on()),
            transient=True,
        )
        self._task = self._bar.add_task(name, total=None, told="")
        self._bar.start()

    def advance(self, documents: int) -> None:
        Progress.advance(self, documents)  # the moving line is enough
        self._show()

    def read(self, count: int) -> None:
        super().read(count)
        self._show()

    def _show(self) -> None:
        if self.at is not None:
            share = self.at.share
            shown: dict[str, Any] = {} if share is None else {"total": 1.0, "completed": share}
            self._bar.update(self._task, told=told(self.at, self.clock()), **shown)

    def end(self, name: str) -> None:
        self._bar.stop()
        super().end(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgressEvent:
    """The state of a run, as it is passed to the function that was given as `progress`.

    Attributes:
        stage: the name of the stage: fingerprint, join, verify, write …
        done: the number of documents that the stage has processed.
        total: the number of documents in the stage; None if unknown.
        read_bytes, total_bytes: bytes of the input files that the stage has read, and their total; 0 if it reads no file.
        share: the fraction of the stage that is done, from 0 to 1; None while unknown.
        seconds: the seconds since the stage began.
        seconds_left: the remaining seconds of the stage at the rate so far; None while unknown.
        rate: documents per second; None while no time has passed.
        ended: whether the stage is over.
        message: a message to the user; usually empty.
    """

    stage: str
    done: int
    total: int | None
    read_bytes: int
    total_bytes: int
    share: float | None
    seconds: float
    seconds_left: float | None
    rate: float | None
    ended: bool
    message: str


EVENT_SECONDS = 0.1
"""The minimum interval between calls during a stage, in seconds; its beginning and end are always reported."""


class CalledProgress(Progress):
    """Progress that calls a function when a stage begins, about ten times a second, and when it ends.

    The function is called on the thread of the run. An exception that it raises ends the run and is passed on.
    """

    def __init__(
        self, call: Callable[[ProgressEvent], object], *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(clock=clock)
        self._call, self._called = call, 0.0

    def begin(self, name: str, total: int | None) -> None:
        self._tell()

    def advance(self, documents: int) -> None:
        super().advance(documents)
        self._tell_in_time()

    def read(self, count: int) -> None:
        super().read(count)
        self._tell_in_time()

    def end(self, name: str) -> None:
        self._tell(ended=True)

    def say(self, line: str) -> None:
        self._tell(message=line)

    def _tell_in_time(self) -> None:
        if self.clock() - self._called >= EVENT_SECONDS:
            self._tell()

    def _tell(self, *, ended: bool = False, message: str = "") -> None:
        now = self._called = self.clock()
        at = self.at or Stage("", None, now)
        seconds = now - at.began
        self._call(
            ProgressEvent(
                stage=at.name,
                done=at.documents,
                total=at.total,
                read_bytes=at.read_bytes,
                total_bytes=at.total_bytes,
                share=at.share,
                seconds=seconds,
                seconds_left=at.seconds_left(now),
                rate=at.documents / seconds if seconds > 0 else None,
                ended=ended,
                message=message,
            )
        )


def progress_for(quiet: bool, *, wording: Callable[[str], str] = str) -> Progress:
    """The progress of the command line: silent if `quiet`, a moving line on a terminal or in a notebook, else log lines."""
    if quiet:
        return Progress()
    display = TerminalProgress if sys.stderr.isatty() or _in_notebook() else LogProgress
    return display(wording=wording)


def _in_notebook() -> bool:
    """Whether this is a notebook that can show a moving line."""
    return "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None


Watcher = Progress | Callable[[ProgressEvent], object] | bool | None
"""The allowed values of `progress`; see `progress_of`."""


def progress_of(given: Watcher) -> Progress:
    """Make a `Progress` from the argument `progress`.

    A function is called with each `ProgressEvent`. True shows the progress as the command line does. None and False show nothing.

    Raises:
        OptionError: the argument is of another type.
    """
    if isinstance(given, Progress):
        return given
    if given is None or isinstance(given, bool):
        return progress_for(quiet=not given)
    if callable(given):
        return CalledProgress(given)
    raise OptionError(f"`progress={given!r}`: give True, or a function that takes a ProgressEvent.")
