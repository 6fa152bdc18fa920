"""SETTING: what the tasks of an engine know of the driver."""

from dataclasses import dataclass

from neardup.errors import InputError
from neardup.version import __version__


@dataclass(frozen=True)
class Setting:
    """What tasks know of the driver.

    Attributes:
        version: of the package there.
        buckets: into how many rows are divided.
        place: what runs a task, in the words of the engine.
    """

    version: str
    buckets: int
    place: str = "An executor"

    def check(self) -> None:
        """Refuse another version of the package.

        Raises:
            InputError: what runs this task has another one than the driver.
        """
        if self.version != __version__:
            raise InputError(
                f"{self.place} has neardup {__version__}, and the driver {self.version}. Ship one environment to both."
            )
