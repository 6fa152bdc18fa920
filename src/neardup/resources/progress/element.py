"""Progress in a notebook: one HTML element with a row for each stage."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from neardup.display import printable
from neardup.resources.progress.redrawn import RedrawnProgress
from neardup.resources.progress.stage import Stage
from neardup.resources.progress.stage_table import StageTable
from neardup.resources.progress.stages import DisplayOptions


class NotebookProgress(RedrawnProgress):
    """Progress for notebooks: one element in the cell of the run."""

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self._table, self._handle, self._stopped = StageTable(), None, False

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """See `Progress`."""
        self._stopped = True
        with super().stage(name, total):
            yield
            self._stopped = False

    def end(self, name: str) -> None:
        """See `Progress`."""
        self.rest()
        with self.drawing:
            if self.at is not None:
                self._table.end(self.at, self.seconds[name], self.clock(), stopped=self._stopped)
            self.draw(None)

    def say(self, line: str) -> None:
        """See `Progress`."""
        with self.drawing:
            self._table.say(printable(self.wording(line)))
            self.draw(self.at)

    def draw(self, stage: Stage | None) -> None:
        """See `RedrawnProgress`."""
        shown = {"text/html": self._table.html(stage, self.clock()), "text/plain": self._table.text(stage)}
        if self._handle is None:
            self._handle = _notebook_display()(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _notebook_display() -> Any:
    """IPython's function that shows something in the cell that runs; it is there in every notebook."""
    return importlib.import_module("IPython.display").display


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython in a terminal has no kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
