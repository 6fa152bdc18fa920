"""LOGS: a line of JSON for each event, without texts, ids and tokens."""

import sys
import time
import traceback
from typing import Any, BinaryIO

import msgspec

_ENCODE = msgspec.json.Encoder().encode


class Log:
    """Lines of JSON on standard error, or on another stream.

    A failure is told by its kind and by the places in the code where it came about: its message may quote a text.
    """

    def __init__(self, stream: BinaryIO | None = None, *, quiet: bool = False) -> None:
        self._stream = sys.stderr.buffer if stream is None else stream
        self.quiet = quiet

    def __call__(self, event: str, *, failure: BaseException | None = None, **facts: Any) -> None:
        line = {"time": round(time.time(), 3), "event": event, **facts}
        if failure is not None:
            line["failure"] = type(failure).__name__
            line["at"] = [f"{each.filename}:{each.lineno}" for each in traceback.extract_tb(failure.__traceback__)[-8:]]
        try:
            self._stream.write(_ENCODE(line) + b"\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more, which is no reason to stop
            pass

    def request(self, **facts: Any) -> None:
        """Write a request that was answered, unless only other events are wanted."""
        if not self.quiet:
            self("request", **facts)
