"""Progress as lines on standard error: of a log, and of a terminal, where the line of the current stage moves."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Unpack

from neardup.display import SPACE, broken, printable, say_aside
from neardup.resources.progress.stage import Stage, moving_line, told
from neardup.resources.progress.stages import DisplayedProgress, DisplayOptions, RedrawnProgress
from neardup.resources.unfinished import removed_by

LOG_SECONDS = 30.0
"""The interval at which a long stage reports its state in a log, in seconds."""


class LineProgress(DisplayedProgress):
    """Progress with a line for each message and, if `verbose`, for each stage that has ended."""

    def end(self, name: str) -> None:
        if not self.verbose:
            return
        stage, said = self.at, ""
        if stage is not None and stage.documents:
            said = f", {stage.documents:,} documents"
            rates = stage.rates(self.clock())
            said += f", {rates}" if rates else ""
        self.say(f"{name}: {self.seconds[name]:.1f} s{said}")

    def say(self, line: str) -> None:
        say_aside(self.fitting(f"neardup: {printable(self.wording(line))}"))

    def fitting(self, line: str) -> str:
        """A message as it is shown."""
        return line


class LogProgress(LineProgress):
    """Progress for logs: a line now and then, in long stages and between short ones."""

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self._said = 0.0
        self._quiet_since: float | None = None

    def begin(self, name: str, total: int | None) -> None:
        self._said = now = self.clock()
        if self._quiet_since is None:
            self._quiet_since = now
        if not self.verbose and now - self._quiet_since >= LOG_SECONDS:  # many short stages are long, too
            self.say(f"{name} …")
            self._quiet_since = now

    def say(self, line: str) -> None:
        self._quiet_since = None
        super().say(line)

    def advance(self, documents: int) -> None:
        super().advance(documents)
        now = self.clock()
        if self.at is not None and now - self._said >= LOG_SECONDS:
            self._said = now
            self.say(f"{self.at.name}: {told(self.at, now)}")


class TerminalProgress(RedrawnProgress, LineProgress):
    """Progress for terminals: a moving line for the current stage.

    Each drawing returns to the start of its line, so that whatever else is printed takes its place.
    """

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self._drawn = 0

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        with removed_by(self._erase), super().stage(name, total):
            yield

    def draw(self, stage: Stage | None) -> None:
        line = "" if stage is None else moving_line(stage, self.clock(), _columns() - 1)
        if line or self._drawn:
            columns = min(self._drawn, _columns() - 1)  # the window may have become narrower
            say_aside(line.ljust(columns), end="\r")
            self._drawn = len(line)

    def _erase(self) -> None:
        """Draw nothing more in this stage."""
        self.rest()
        with self.drawing:
            self.draw(None)

    def end(self, name: str) -> None:
        self._erase()
        super().end(name)

    def fitting(self, line: str) -> str:
        """A message broken between words; what is in backticks stays whole."""
        return "\n".join(broken(SPACE.split(line), _columns() - 1, "  "))

    def say(self, line: str) -> None:
        with self.drawing:
            self.draw(None)
            super().say(line)


def _columns() -> int:
    """The width of the terminal; 80 if it is unknown."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:  # no terminal
        return 80
