"""A display that another thread draws again while a stage goes on."""

from contextvars import copy_context
from threading import Event, Lock, Thread
from typing import Unpack

from neardup.resources.progress.stage import Stage
from neardup.resources.progress.stages import DisplayedProgress, DisplayOptions

REDRAW_SECONDS = 0.2
"""The interval at which a display is drawn; a stage that is shorter is not drawn while it goes on."""


class RedrawnProgress(DisplayedProgress):
    """Progress whose display moves. Subclasses say what is drawn of a stage, and call `rest` at its end."""

    def __init__(self, **options: Unpack[DisplayOptions]) -> None:
        super().__init__(**options)
        self.drawing, self._ended = Lock(), Event()

    def draw(self, stage: Stage | None) -> None:
        """Draw a stage as it is now, or None between stages; the caller holds `drawing`."""
        raise NotImplementedError

    def begin(self, name: str, total: int | None) -> None:
        """See `Progress`."""
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
