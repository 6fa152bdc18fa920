"""Progress of a run for terminals, notebooks, logs and callbacks, and the time of each stage."""

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any

from neardup.display import printable
from neardup.errors import OptionError
from neardup.resources.stage import Stage, moving_line, told
from neardup.resources.stage_table import StageTable
from neardup.resources.unfinished import removed_by


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

    def note(self, line: str) -> None:
        """Show a message about how the work is done, to those who asked for such; subclasses override this."""


LOG_SECONDS = 30.0
"""The interval at which a long stage reports its state in a log, in seconds."""


class LogProgress(Progress):
    """Progress for logs: lines for a long stage, and if `verbose`, a line for each stage.

    `wording` changes each line before it is shown.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.perf_counter,
        wording: Callable[[str], str] = str,
        verbose: bool = True,
    ) -> None:
        super().__init__(clock=clock)
        self._said, self._wording, self._verbose = 0.0, wording, verbose

    def begin(self, name: str, total: int | None) -> None:
        self._said = self.clock()

    def advance(self, documents: int) -> None:
        super().advance(documents)
        now = self.clock()
        if self.at is not None and now - self._said >= LOG_SECONDS:
            self._said = now
            self.say(f"{self.at.name}: {told(self.at, now)}")

    def end(self, name: str) -> None:
        if not self._verbose:
            return
        stage, said = self.at, ""
        if stage is not None and stage.documents:
            said = f", {stage.documents:,} documents"
            rates = stage.rates(self.clock())
            said += f", {rates}" if rates else ""
        self.say(f"{name}: {self.seconds[name]:.1f} s{said}")

    def say(self, line: str) -> None:
        print(f"neardup: {printable(self._wording(line))}", file=sys.stderr, flush=True)

    def note(self, line: str) -> None:
        if self._verbose:
            self.say(line)


def _columns() -> int:
    """The width of the terminal; 80 if it is unknown."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:  # no terminal
        return 80


REDRAW_SECONDS = 0.2
"""The interval at which the moving line, or the element of a notebook, is drawn; a stage that is shorter has no moving line."""


class TerminalProgress(LogProgress):
    """Progress for terminals: a moving line for the current stage, which another thread draws.

    Each drawing returns to the start of its line, so that whatever else is printed takes its place.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.perf_counter,
        wording: Callable[[str], str] = str,
        verbose: bool = True,
    ) -> None:
        super().__init__(clock=clock, wording=wording, verbose=verbose)
        self._drawing, self._drawn, self._ended = Lock(), 0, Event()

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        with removed_by(self._erase), super().stage(name, total):
            yield

    def begin(self, name: str, total: int | None) -> None:
        self._ended = Event()
        Thread(target=self._redraw, args=(self.at, self._ended), daemon=True).start()

    def _redraw(self, stage: Stage, ended: Event) -> None:
        while not ended.wait(REDRAW_SECONDS):
            with self._drawing:
                if not ended.is_set():
                    self._draw(moving_line(stage, self.clock(), _columns() - 1))

    def _draw(self, line: str) -> None:
        if line or self._drawn:
            with suppress(OSError):  # the terminal is gone
                columns = min(self._drawn, _columns() - 1)  # the window may have become narrower
                print(line.ljust(columns), end="\r", file=sys.stderr, flush=True)
            self._drawn = len(line)

    def _erase(self) -> None:
        """Draw nothing more in this stage."""
        self._ended.set()
        with self._drawing:
            self._draw("")

    def advance(self, documents: int) -> None:
        Progress.advance(self, documents)  # the moving line is enough

    def end(self, name: str) -> None:
        self._erase()
        super().end(name)

    def say(self, line: str) -> None:
        with self._drawing:
            self._draw("")
            super().say(line)


class NotebookProgress(Progress):
    """Progress for notebooks: one HTML element with a row for each stage, which another thread updates.

    `wording` changes each message before it is shown.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter, wording: Callable[[str], str] = str) -> None:
        super().__init__(clock=clock)
        self._wording, self._table, self._handle = wording, StageTable(), None
        self._drawing, self._ended, self._stopped = Lock(), Event(), False

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        self._stopped = True
        with super().stage(name, total):
            yield
            self._stopped = False

    def begin(self, name: str, total: int | None) -> None:
        self._ended = Event()
        here = copy_context()  # in which the kernel knows the cell that shows what is drawn
        Thread(target=here.run, args=(self._redraw, self.at, self._ended), daemon=True).start()

    def _redraw(self, stage: Stage, ended: Event) -> None:
        while not ended.wait(REDRAW_SECONDS):
            with self._drawing:
                if not ended.is_set():
                    self._draw(stage)

    def end(self, name: str) -> None:
        self._ended.set()
        with self._drawing:
            if self.at is not None:
                self._table.end(self.at, self.seconds[name], self.clock(), stopped=self._stopped)
            self._draw(None)

    def say(self, line: str) -> None:
        with self._drawing:
            self._table.say(printable(self._wording(line)))
            self._draw(self.at)

    def note(self, line: str) -> None:
        self.say(line)

    def _draw(self, current: Stage | None) -> None:
        shown = {"text/html": self._table.html(current, self.clock()), "text/plain": self._table.text(current)}
        if self._handle is None:
            self._handle = _notebook_display()(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _notebook_display() -> Any:
    """IPython's function that shows something in the cell that runs; it is there in every notebook."""
    return importlib.import_module("IPython.display").display


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython in a terminal has no kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


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

    def note(self, line: str) -> None:
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


def progress_for(quiet: bool, *, verbose: bool = True, wording: Callable[[str], str] = str) -> Progress:
    """The progress of a run: silent if `quiet`, one element in a notebook, a moving line on a terminal, else log lines.

    `verbose`: also a line for each stage, with its time and rates, and notes about how the work is done.
    """
    if quiet:
        return Progress()
    if _is_notebook():
        return NotebookProgress(wording=wording)
    moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    display = TerminalProgress if moves else LogProgress
    return display(wording=wording, verbose=verbose)


Watcher = Progress | Callable[[ProgressEvent], object] | bool | None
"""The allowed values of `progress`; see `progress_of`."""


def progress_of(given: Watcher) -> Progress:
    """Make a `Progress` from the argument `progress`.

    A function is called with each `ProgressEvent`. True shows the progress as the command line does with `--verbose`. None and
    False show nothing.

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
