"""The progress of a run, as it is asked for: silent, in a notebook, on a terminal, in a log, or as calls of a function."""

import os
import sys
from collections.abc import Callable

from neardup.errors import OptionError
from neardup.resources.progress.element import NotebookProgress, is_notebook
from neardup.resources.progress.events import CalledProgress, ProgressEvent
from neardup.resources.progress.lines import LogProgress, TerminalProgress
from neardup.resources.progress.stages import Progress

__all__ = ("Progress", "ProgressEvent", "Watcher", "progress_for", "progress_of")
"""What others take from here, whatever module it is in."""


def progress_for(quiet: bool, *, verbose: bool = True, wording: Callable[[str], str] = str) -> Progress:
    """The progress of a run: silent if `quiet`, one element in a notebook, a moving line on a terminal, else log lines.

    `verbose`: also a line for each stage, with its time and rates, and notes about how the work is done.
    """
    if quiet:
        return Progress()
    if is_notebook():
        return NotebookProgress(wording=wording)
    moves = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
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
