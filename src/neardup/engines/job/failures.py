"""FAILURES of a cluster as one error on the driver, in our words."""

import contextlib
import re
from collections.abc import Callable, Iterator

from neardup import errors
from neardup.errors import NeardupError

SHOWN_CHARACTERS = 300
"""Of what a cluster says, in a message."""
MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")
GOES_ON = "all again with the same `work=`: finished stages are kept"
"""What to do when the cause is gone, after a C or c."""
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_OURS = "neardup_words"
"""The attribute of errors that are in our words, whatever class they have."""


class IdleError(OSError):
    """No task runs."""


@contextlib.contextmanager
def translated_by(translation: Callable[[Exception], Exception | None]) -> Iterator[None]:
    """Raise other errors instead of those of a cluster, whose stacks are then not shown; each is translated once.

    `translation`: gives None where it knows no better words.
    """
    try:
        yield
    except Exception as problem:
        if isinstance(problem, IdleError) or getattr(problem, _OURS, None) == id(problem):
            raise
        ours = translation(problem)
        if ours is None:
            raise
        setattr(ours, _OURS, id(ours))  # an error of Ray has the attributes of its cause
        raise ours from None


def forget_work(problem: BaseException) -> None:
    """Change the words of an error of a job that had no `work=`: nothing of it is kept."""
    problem.args = tuple(_without_work(each) if isinstance(each, str) else each for each in problem.args)
    if isinstance(problem, OSError) and problem.strerror:  # which is what it shows
        problem.strerror = _without_work(problem.strerror)


def _without_work(text: str) -> str:
    return text.replace(GOES_ON, "all again; with `work=`, a job keeps its finished stages")


def told_in(text: str) -> NeardupError | None:
    """The error of ours that a task raised, in what a cluster tells of it; None if there is none."""
    found = _TOLD.search(text)
    kind = getattr(errors, found[1], None) if found else None
    if found is None or not isinstance(kind, type) or not issubclass(kind, NeardupError):
        return None
    simple = kind if kind in _SIMPLE else next(each for each in _SIMPLE if issubclass(kind, each))
    return simple(found[2].rstrip())


_TOLD = re.compile(r"^neardup\.errors\.(\w+): ([^\n]*)", re.MULTILINE)
_SIMPLE = (
    errors.DataError,
    errors.OptionError,
    errors.RecipeMismatch,
    errors.MissingExtra,
    errors.InputError,
    NeardupError,
)
"""Those that are made of a message alone."""


def without_colors(text: str) -> str:
    """A text without the colors of a terminal."""
    return _COLORS.sub("", text)
