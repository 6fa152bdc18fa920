"""The temporary files of a run: their folder, how many bytes they may take together, and how many they take."""

import shutil
import tempfile
from threading import RLock
from typing import Any

from neardup.display import size_text
from neardup.errors import OptionError
from neardup.resources.limits import size_in_bytes

FREE_TENTHS = 9
"""Without a limit, temporary files take at most so many tenths of what is free before the first of them is made."""


class TemporaryFiles:
    """Where temporary files go, and a count of their bytes that refuses more than the limit; for any thread.

    Attributes:
        given: the folder, as given; None for the system's.
        peak: the most bytes that the files had at a time.
    """

    def __init__(self, folder: str | None = None, limit: int | str | None = None) -> None:
        self.given, self._given_limit = folder, limit
        self._limit = 0 if limit is None else size_in_bytes("temp_limit", limit)
        self._now = self.peak = 0
        self._lock = RLock()  # a file may be deleted, and counted no more, wherever Python frees memory

    @property
    def folder(self) -> str:
        """The folder of the files."""
        return self.given or tempfile.gettempdir()

    @property
    def limit(self) -> int:
        """The bytes that all files may take together; by default, FREE_TENTHS of what was free before the first of them."""
        with self._lock:
            if self._given_limit is None and self._now == 0:
                self._limit = self._free * FREE_TENTHS // 10
            return self._limit

    @property
    def _free(self) -> int:
        return shutil.disk_usage(self.folder).free

    @property
    def free_bytes(self) -> int:
        """What further files may take: the rest of the limit, or what is free in the folder, if that is less."""
        return max(0, min(self.limit - self._now, self._free))

    def add(self, count: int) -> None:
        """Count bytes that are about to be written.

        Raises:
            OptionError: all files together would exceed the limit; nothing is counted then.
        """
        limit = self.limit
        with self._lock:
            total = self._now + count
            if total <= limit:
                self._now, self.peak = total, max(self.peak, total)
                return
        allowed, change = self.explained(limit)
        raise OptionError(
            f"The temporary files of this run need at least {size_text(total)}, and {allowed}. {change}, or process fewer "
            "documents at a time."
        )

    def remove(self, count: int) -> None:
        """Count bytes no more: their file is deleted."""
        with self._lock:
            self._now -= count

    def explained(self, allowed: int) -> tuple[str, str]:
        """Of messages that refuse: that so many bytes are allowed, and what to give for more."""
        size = size_text(allowed)
        if self._given_limit is None or allowed < self.limit - self._now:  # it is the disk that is small
            return f"{size} are free for them in {self.folder}", "Give a `temp_dir` with more room"
        return f"`temp_limit={self._given_limit!r}` allows {size}", "Give a larger `temp_limit`"

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.given, "limit": self._given_limit}  # the counts are of this process

    def __setstate__(self, state: dict[str, Any]) -> None:
        TemporaryFiles.__init__(self, **state)
