"""Progress as calls of a function of the caller."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from neardup.resources.progress.stage import Stage
from neardup.resources.progress.stages import Clock, Progress


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

    def __init__(self, call: Callable[[ProgressEvent], object], *, clock: Clock = time.perf_counter) -> None:
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
