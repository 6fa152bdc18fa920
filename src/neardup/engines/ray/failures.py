"""FAILURES on Ray, as one error on the driver in our words."""

import contextlib
import errno
import re

import pyarrow as pa

from neardup.engines.job.failures import (
    GOES_ON,
    MISSING_MODULE,
    SHOWN_CHARACTERS,
    told_in,
    translated_by,
    without_colors,
)
from neardup.errors import DataError, InputError, NeardupError


def translated_errors() -> contextlib.AbstractContextManager[None]:
    """Errors of tasks as errors of the driver, in our words.

    Raises:
        NeardupError: those of tasks; InputError also for workers without packages; DataError also for rows and files that cannot be
            read.
        MemoryError: workers ran out of memory, or were killed, several times.
        OSError: a disk is full, or Ray has stopped.
    """
    return translated_by(_ours)


def known_errors() -> contextlib.AbstractContextManager[None]:
    """What `translated_errors` does, but to other errors than those that have words of their own, and to those of files."""
    return translated_by(_known)


def _ours(problem: BaseException) -> Exception | None:
    """An error of Ray in our words; None if it is another's."""
    if isinstance(problem, NeardupError) and not _is_of_ray(problem):
        return None
    if found := _known(problem):
        return found
    if of_files := _of_files(_cause(problem)):
        return of_files
    if not _is_of_ray(problem):
        return None
    return DataError(
        f"Ray failed: {in_a_line(problem)}. The logs of Ray have more. Once the cause is removed, c{GOES_ON}."
    )


def _known(problem: BaseException) -> Exception | None:
    """The error that Ray's tells of; None if we know no better words."""
    if isinstance(problem, NeardupError) and not _is_of_ray(problem):
        return None
    from ray import exceptions

    found, text = _cause(problem), str(problem)
    if isinstance(found, NeardupError) and not isinstance(found, exceptions.RayError):
        return found
    if told := told_in(text):
        return told
    if isinstance(found, OSError) and found.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(in_a_line(found))
    if isinstance(problem, exceptions.OutOfDiskError):
        return _full(in_a_line(problem))
    if isinstance(found, MemoryError) or isinstance(problem, exceptions.OutOfMemoryError):
        return _killed("Workers ran out of memory", problem)
    if isinstance(problem, exceptions.WorkerCrashedError | exceptions.NodeDiedError | exceptions.ObjectLostError):
        return _killed("Workers, or their nodes, were killed", problem)
    if missing := MISSING_MODULE.search(text):
        return InputError(
            f"A worker has no {missing[1].split('.')[0]}. Ship the environment of the driver to all nodes, by an image, or by "
            "`runtime_env`, or install the package there."
        )
    if isinstance(found, PermissionError):
        return InputError(
            f"A worker may not read or write a path: {in_a_line(found)}. Give all nodes the right to, or another path."
        )
    if isinstance(problem, exceptions.RaySystemError):
        return OSError(f"Ray has stopped, or does not answer. Start it, and c{GOES_ON}. Ray said: {in_a_line(problem)}")
    return None


def _of_files(found: BaseException) -> NeardupError | None:
    """The error of what Ray cannot read; None if it is not that."""
    if isinstance(found, FileNotFoundError):
        return DataError(
            f"A file is not there any more: {in_a_line(found)}. The input, and the folder of `work=`, must stay until "
            "all is written."
        )
    if isinstance(found, pa.ArrowException):
        return DataError(
            f"Ray cannot read the rows: {in_a_line(found)}. The values of a column must have one type, in all rows and files. "
            "Cast or correct them."
        )
    return None


def _cause(problem: BaseException) -> BaseException:
    """What happened in a task, as far as Ray tells it: errors of a user's function come in several others."""
    for _ in range(9):
        inner = getattr(problem, "cause", None) or (problem.__cause__ if _is_of_ray(problem) else None)
        if not isinstance(inner, BaseException) or inner is problem:
            break
        problem = inner
    return problem


def _is_of_ray(problem: BaseException) -> bool:
    return type(problem).__module__.partition(".")[0] == "ray"


def _full(said: str) -> OSError:
    return OSError(
        errno.ENOSPC,
        f"a disk of the cluster is full: that of `work=`, or that of Ray's own temporary folder. Free or add space, and "
        f"c{GOES_ON}. The system said: {said}",
    )


def _killed(what: str, problem: BaseException) -> MemoryError:
    return MemoryError(
        f"{what}, several times for the same task; most often for want of memory. Give nodes more memory, or less CPUs, or write "
        f"the input to smaller files. Then c{GOES_ON}. Ray said: {in_a_line(problem)}"
    )


def in_a_line(problem: BaseException) -> str:
    """What a problem says, in one line."""
    lines = [line.strip() for line in without_colors(str(problem)).splitlines() if line.strip()]
    lines = [line for line in lines if not _ADVICE.match(line)]
    return (lines[-1].rstrip(".") if lines else type(problem).__name__)[:SHOWN_CHARACTERS]


_ADVICE = re.compile(
    r"To change retry attempts|Failed to apply UDF|(?:ray\.exceptions\.)?UserCodeException|UDF failed|The above exc|ray::"
)
"""What Ray says around an error of a task."""
