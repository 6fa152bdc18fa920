"""Progress in a notebook: one HTML element with a row for each stage. Its colors are those of the page around it, light or dark."""

import html
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Unpack

from neardup.display import duration, printable
from neardup.resources.progress.stage import Stage, told
from neardup.resources.progress.stages import DisplayOptions, RedrawnProgress

MAX_MESSAGES = 20
"""Messages that the element shows; it leaves out older ones."""

SHOWN_SECONDS = 0.1
"""Stages that took less have no row of their own; the row of the total has their time."""

_STYLE = (
    "<style>.neardup-stages table{border:0;border-collapse:collapse;margin:0}"
    ".neardup-stages :is(tr,td){background:none!important;border:0!important}"
    ".neardup-stages.neardup-stages td{padding:.1em 1.2em .1em 0;text-align:left;vertical-align:middle;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}"
    ".neardup-stages.neardup-stages td:nth-child(3){text-align:right}"
    ".neardup-stages.neardup-stages td:last-child{opacity:.75;white-space:normal}"
    ".neardup-stages progress{accent-color:#0d9488;width:9em;vertical-align:middle;margin-right:.6em}"
    ".neardup-stages p{margin:.2em 0;opacity:.85}</style>"
)

_DONE, _RUNNING, _STOPPED = "✓", "…", "✗"


@dataclass(slots=True)
class _Ended:
    """A stage that has ended, once or several times."""

    seconds: float
    documents: int = 0
    rates: str = ""
    stopped: bool = False


@dataclass(slots=True)
class StageTable:
    """What the element shows: a row for each stage that has ended, one for the current stage, and the latest messages."""

    ended: dict[str, _Ended] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def end(self, stage: Stage, seconds: float, now: float, *, stopped: bool = False) -> None:
        """Enter a stage that has ended; `seconds` is the time of all stages of this name."""
        before = self.ended.get(stage.name)
        documents = stage.documents + (before.documents if before else 0)
        rates = "" if before else stage.rates(now)  # a rate is that of one stage
        self.ended[stage.name] = _Ended(seconds, documents, rates, stopped)

    def say(self, line: str) -> None:
        """Enter a message."""
        self.messages = [*self.messages, line][-MAX_MESSAGES:]

    def html(self, current: Stage | None, now: float) -> str:
        """The element; `current` is the stage that is under way."""
        rows = [
            _row(_STOPPED if of.stopped else _DONE, name, f"{of.seconds:.1f} s", html.escape(_documents(of)))
            for name, of in self.ended.items()
            if of.stopped or of.seconds >= SHOWN_SECONDS
        ]
        if current is not None:
            state = _bar(current) + html.escape(told(current, now))
            rows.append(_row(_RUNNING, current.name, duration(now - current.began), state))
        elif self.ended:
            seconds = sum(of.seconds for of in self.ended.values())
            rows.append(_row("", "all stages", f"{seconds:.1f} s", ""))
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self.messages)
        table = f"<table>{''.join(rows)}</table>" if rows else ""
        return f"<div class='neardup-stages'>{_STYLE}{table}{said}</div>"

    def text(self, current: Stage | None) -> str:
        """The same in words, for what shows no HTML."""
        stages = [f"{name} {of.seconds:.1f} s" for name, of in self.ended.items()]
        stages += [f"{current.name} …"] if current is not None else []
        return "\n".join(["neardup: " + ", ".join(stages), *self.messages])


def _documents(of: _Ended) -> str:
    counted = f"{of.documents:,} documents" if of.documents else ""
    return ", ".join(filter(None, ("stopped" if of.stopped else "", counted, of.rates)))


def _bar(stage: Stage) -> str:
    if stage.share is None:
        return ""
    return f"<progress aria-label='{html.escape(stage.name)}' value='{stage.share:.3f}'></progress>"


def _row(mark: str, name: str, seconds: str, state: str) -> str:
    return f"<tr><td>{mark}</td><td>{html.escape(name)}</td><td>{seconds}</td><td>{state}</td></tr>"


class NotebookProgress(RedrawnProgress):
    """Progress for notebooks: one element in the cell of the run."""

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self._table, self._handle, self._stopped = StageTable(), None, False

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[None]:
        self._stopped = True
        with super().stage(name, total):
            yield
            self._stopped = False

    def end(self, name: str) -> None:
        self.rest()
        with self.drawing:
            if self.at is not None:
                self._table.end(self.at, self.seconds[name], self.clock(), stopped=self._stopped)
            self.draw(None)

    def say(self, line: str) -> None:
        with self.drawing:
            self._table.say(printable(self.wording(line)))
            self.draw(self.at)

    def draw(self, stage: Stage | None) -> None:
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
