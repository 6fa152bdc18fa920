"""OUTPUTS of a command on Spark."""

from collections.abc import Sequence
from typing import Any

from neardup.engines.job import outputs
from neardup.engines.spark.files import exists, place_of, write
from neardup.engines.spark.folder import Folder


class Outputs(outputs.Outputs):
    """What a run writes."""

    def __init__(self, session: Any, folder: str, paths: Sequence[str], *, overwrite: bool) -> None:
        """Look at the paths of the outputs, before anything runs. `folder`: that of the job, which may not be there.

        Raises:
            InputError: an output exists that no run of this job has begun to write.
        """
        places = {path: place_of(session, path) for path in paths}
        there = [] if overwrite else [path for path in paths if exists(session, path)]
        super().__init__(Folder(session, folder).notes(outputs.WRITTEN), places, there, overwrite=overwrite)

    def write(self, frame: Any, path: str, otherwise: str) -> None:
        """Write one. `otherwise`: its format, if no ending tells it."""
        write(frame, path, otherwise, overwrite=path in self.replaced)
