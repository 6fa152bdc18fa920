"""OUTPUTS of a command, noted in the folder of its job before they are written: what an interrupted run began is written anew.

FOLDER/written/     a line of JSON: what is written where, and that it is finished
"""

from collections.abc import Collection, Mapping

from neardup.engines.job.checkpoint import Notes
from neardup.errors import InputError

WRITTEN = "written"
"""The name of the notes."""


class Outputs:
    """What a run writes.

    Attributes:
        replaced: the paths of those that are there and are written anew.
    """

    def __init__(self, notes: Notes, places: Mapping[str, str], there: Collection[str], *, overwrite: bool) -> None:
        """Look at the outputs, before anything runs.

        Args:
            notes: in the folder of the job, which may not be there.
            places: whole paths, by what was given.
            there: those, as given, that exist.
            overwrite: whether they are replaced.

        Raises:
            InputError: an output exists that no run of this job has begun to write.
        """
        self._notes, self._places = notes, dict(places)
        found = sorted(notes.read(), key=lambda note: int(note["number"]))
        self._number = len(found)
        begun = found[-1]["begun"] if found else []
        for path in () if overwrite else there:
            if self._places[path] not in begun:
                raise InputError(f"{path} exists. Choose another path, or replace it with `overwrite=True`.")
        self.replaced = set(places) if overwrite else set(there)

    def begin(self) -> None:
        """Note what is written from now on."""
        self._note(list(self._places.values()))

    def finish(self) -> None:
        """Note that all are written."""
        self._note([])

    def _note(self, begun: list[str]) -> None:
        self._notes.add({"number": self._number, "begun": begun})
        self._number += 1
