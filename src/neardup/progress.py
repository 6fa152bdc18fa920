"""What a person or a log sees of a run, and what each stage took."""

import importlib.util
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from neardup.errors import OptionError


def peak_memory_bytes() -> int:
    """The most memory that this program has had resident so far, as the operating system counts it."""
    try:  # getrusage() would also count what the process was before it became this program: a large parent's memory
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@dataclass(slots=True)
class Stage:
    """How far a stage has come.

    Attributes:
        name: what is done.
        total: documents that it will go through, if that is known.
        began: when, by the clock of the progress.
        documents: that are done.
        read_bytes: of the input's files, that were gone through; total_bytes: of so many, 0 where no file is read.
    """

    name: str
    total: int | None
    began: float
    documents: int = 0
    read_bytes: int = 0
    total_bytes: int = 0

    @property
    def share(self) -> float | None:
        """The part that is done, from 0 to 1: of the documents or, where their number is not known, of the bytes."""
        done, of = (self.documents, self.total) if self.total else (self.read_bytes, self.total_bytes)
        return min(1.0, done / of) if of else None

    def seconds_left(self, now: float) -> float | None:
        """At the rate so far; None while nobody can know."""
        return (now - self.began) * (1 / self.share - 1) if self.share else None

    def rates(self, now: float) -> str:
        """`1,234 documents/s, 5.6 MB/s`: of what is counted; empty if nothing is, or no time has passed."""
        seconds = now - self.began
        if seconds <= 0:
            return ""
        found = [f"{self.documents / seconds:,.0f} documents/s"] if self.documents else []
        found += [f"{self.read_bytes / seconds / 1e6:,.1f} MB/s"] if self.read_bytes else []
        return ", ".join(found)


class Progress:
    """Times stages and says nothing; the parent of those that show something.

    Attributes:
        seconds: by stage.
        read_bytes: by stage, of the input's files, as they lie on the disk.
        written_bytes: by stage, of the outputs.
        passed_over: files in folders of inputs that are not read.
        at: the stage at work.
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
        """Time what is done inside under `name`; `total`: how many documents `advance` will count, if known."""
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
        """A stage begins."""

    def advance(self, documents: int) -> None:
        """So many documents more are done."""
        if self.at is not None:
            self.at.documents += documents

    def expect(self, count: int) -> None:
        """The stage goes through so many bytes of files, more than was known."""
        if self.at is not None:
            self.at.total_bytes += count

    def read(self, count: int) -> None:
        """So many bytes more of them were gone through."""
        if self.at is not None:
            self.at.read_bytes += count

    def written(self, count: int) -> None:
        """The stage has written so many bytes of outputs."""
        if self.at is not None:
            self.written_bytes[self.at.name] = self.written_bytes.get(self.at.name, 0) + count

    def end(self, name: str) -> None:
        """The stage has ended."""

    def say(self, line: str) -> None:
        """Tell the person something that matters."""


LOG_SECONDS = 30.0
"""A stage that takes longer says in a log how far it is, about so often."""


class LogProgress(Progress):
    """A line for each stage, and now and then one for a long stage: for logs. Where it goes: see `_shown_on`."""

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(clock=clock)
        self._said = 0.0

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
        print(f"neardup: {line}", file=_shown_on(), flush=True)


def _shown_on() -> TextIO:
    """Standard error; in a notebook, which shows that as an alarm, standard output."""
    return sys.stdout if "ipykernel" in sys.modules else sys.stderr


def told(stage: Stage, now: float) -> str:
    """How far a stage is: `45 %, 12,345 documents, 1,234 documents/s, 5.6 MB/s, about 40 s left`."""
    left = stage.seconds_left(now)
    parts = [
        "" if stage.share is None else f"{stage.share:.0%}".replace("%", " %"),
        f"{stage.documents:,} documents" if stage.documents else "",
        stage.rates(now),
        "" if left is None else f"about {duration(left)} left",
    ]
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """`40 s`, `12 minutes`, `3.5 hours` or `2.1 days`, whichever is read best."""
    for limit, unit, size in ((120, "s", 1.0), (7_200, "minutes", 60.0)):
        if seconds < limit:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 3_600:,.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:,.1f} days"


class TerminalProgress(LogProgress):
    """A moving line for the stage at work, on a terminal."""

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
    """How far a run is, as a function that is given as `progress` hears it.

    Attributes:
        stage: what is done: fingerprint, join, verify, write …
        done: documents of the stage that are done.
        total: of so many; None where their number is not known.
        read_bytes, total_bytes: of the input's files in this stage; 0 where no file is read.
        share: the part of the stage that is done, from 0 to 1; None while nobody can know.
        seconds: since the stage began.
        seconds_left: of the stage, at the rate so far; None while nobody can know.
        rate: documents a second; None while no time has passed.
        ended: the stage is over.
        message: what else a person should know; mostly empty.
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
"""A function is not called more often about a stage, but for its beginning and its end."""


class CalledProgress(Progress):
    """Calls a function when a stage begins, about ten times a second, and when it ends; on the thread of the run.

    What the function raises ends the run, and is passed on.
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


def progress_for(quiet: bool) -> Progress:
    """Silent if asked; a moving line on a terminal and in a notebook that can show one; else lines for a log."""
    if quiet:
        return Progress()
    return TerminalProgress() if sys.stderr.isatty() or _in_notebook() else LogProgress()


def _in_notebook() -> bool:
    """Whether this is a notebook that can show what moves."""
    return "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None


Watcher = Progress | Callable[[ProgressEvent], object] | bool | None
"""What can be given as `progress`: see `progress_of`."""


def progress_of(given: Watcher) -> Progress:
    """What a person gave as `progress`: a function that is called with each `ProgressEvent`, True for what the command line shows.

    None and False: nothing is told.

    Raises:
        OptionError: it is none of these.
    """
    if isinstance(given, Progress):
        return given
    if given is None or isinstance(given, bool):
        return progress_for(quiet=not given)
    if callable(given):
        return CalledProgress(given)
    raise OptionError(f"progress={given!r}: give True, or a function that takes a ProgressEvent.")
