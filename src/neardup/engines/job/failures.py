"""FAILURES of a cluster as one error on the driver, in our words."""

import contextlib
import re
from collections.abc import Callable, Iterator

from neardup.errors import NeardupError

SHOWN_CHARACTERS = 300
"""Of what a cluster says, in a message."""
MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")


class IdleError(OSError):
    """No task runs."""


@contextlib.contextmanager
def translated_by(translation: Callable[[Exception], Exception | None]) -> Iterator[None]:
    """Raise other errors instead of those of a cluster. `translation`: gives None where it knows no better words."""
    try:
        yield
    except (NeardupError, IdleError):
        raise
    except Exception as problem:
        ours = translation(problem)
        if ours is None:
            raise
        raise ours from problem
