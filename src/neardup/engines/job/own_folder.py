"""OWN FOLDER of a job without `work=`: what goes from stage to stage, until nobody needs it any more."""

import atexit
import contextlib
import os
import shutil
from collections.abc import Callable


class OwnFolder:
    """A folder that goes: when it is removed, and at the latest when this process ends.

    Frames are read when their rows are asked for, and others may be made of them: whether one is still in use, nobody tells.

    Attributes:
        path: of the folder.
    """

    def __init__(self, path: str, remove: Callable[[str], object] = shutil.rmtree) -> None:
        """`remove`: removes a folder that is there."""
        self.path, self._remove, self._process = path, remove, os.getpid()
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the folder. A process that was forked from the one that made it removes nothing."""
        atexit.unregister(self.remove)
        if os.getpid() == self._process:
            with contextlib.suppress(Exception):  # it is not there, or its cluster is gone
                self._remove(self.path)
