"""OUTPUTS of a command, noted in the folder of its job before they are written: what an interrupted run began is written anew.

FOLDER/written/     a line of JSON: what is written where, and that it is finished
"""

from collections.abc import Sequence
from typing import Any

from neardup.engines.spark.files import exists, place_of, write
from neardup.engines.spark.notes import Notes
from neardup.errors import InputError


class Outputs:
    """What a run writes."""

    def __init__(self, session: Any, folder: str, paths: Sequence[str], *, overwrite: bool) -> None:
        """Look at the paths of the outputs, before anything runs. `folder`: that of the job, which may not be there.

        Raises:
            InputError: an output exists that no run of this job has begun to write.
        """
        self._places = {path: place_of(session, path) for path in paths}
        there = [] if overwrite else [path for path in paths if exists(session, path)]
        self._notes = Notes(session, folder.rstrip("/"), "written")
        notes = sorted(self._notes.read(), key=lambda note: int(note["number"]))
        self._number = len(notes)
        begun = notes[-1]["begun"] if notes else []
        for path in there:
            if self._places[path] not in begun:
                raise InputError(f"{path} exists. Choose another path, or replace it with `overwrite=True`.")
        self._replaces = set(paths) if overwrite else set(there)

    def begin(self) -> None:
        """Note what is written from now on."""
        self._note(list(self._places.values()))

    def write(self, frame: Any, path: str, otherwise: str) -> None:
        """Write one. `otherwise`: its format, if no ending tells it."""
        write(frame, path, otherwise, overwrite=path in self._replaces)

    def finish(self) -> None:
        """Note that all are written."""
        self._note([])

    def _note(self, begun: list[str]) -> None:
        self._notes.add({"number": self._number, "begun": begun})
        self._number += 1
