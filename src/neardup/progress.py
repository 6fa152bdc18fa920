"""What a person or a log sees of a run, and what each stage took."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def peak_memory_bytes() -> int:
    """The most memory that this program has had resident so far, as the operating system counts it."""
    try:  # getrusage() would also count what the process was before it became this program: a large parent's memory
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


class Progress:
    """Times stages and says nothing; the parent of those that show something."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """Time what is done inside under `name`; `total`: how many documents `advance` will count, if known."""
        began = time.perf_counter()
        self.begin(name, total)
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - began, 3)
            self.end(name)

    def begin(self, name: str, total: int | None) -> None:
        """A stage begins."""

    def advance(self, documents: int) -> None:
        """So many documents more are done."""

    def end(self, name: str) -> None:
        """The stage has ended."""

    def say(self, line: str) -> None:
        """Tell the person something that matters."""


class LogProgress(Progress):
    """A line for each stage, on standard error: for logs."""

    def __init__(self) -> None:
        super().__init__()
        self._documents = 0

    def begin(self, name: str, total: int | None) -> None:
        self._documents = 0

    def advance(self, documents: int) -> None:
        self._documents += documents

    def end(self, name: str) -> None:
        counted = f", {self._documents:,} documents" if self._documents else ""
        self.say(f"{name}: {self.seconds[name]:.1f} s{counted}")

    def say(self, line: str) -> None:
        print(f"neardup: {line}", file=sys.stderr, flush=True)


class TerminalProgress(LogProgress):
    """A moving line for the stage at work, on a terminal."""

    def begin(self, name: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        super().begin(name, total)
        self._bar = Bar(
            TextColumn("neardup: {task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(name, total=total)
        self._bar.start()

    def advance(self, documents: int) -> None:
        super().advance(documents)
        self._bar.advance(self._task, documents)

    def end(self, name: str) -> None:
        self._bar.stop()
        super().end(name)


def progress_for(quiet: bool) -> Progress:
    """Silent if asked; a moving line on a terminal; else lines for a log."""
    if quiet:
        return Progress()
    return TerminalProgress() if sys.stderr.isatty() else LogProgress()
