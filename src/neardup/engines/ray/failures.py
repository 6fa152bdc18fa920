"""FAILURES on Ray, as one error on the driver in our words."""

import contextlib
import errno

from neardup.engines.job.failures import MISSING_MODULE, SHOWN_CHARACTERS, translated_by
from neardup.errors import InputError, NeardupError


def translated_errors() -> contextlib.AbstractContextManager[None]:
    """Errors of tasks as errors of the driver, in our words.

    Raises:
        NeardupError: those of tasks; InputError also for workers without packages.
        MemoryError: workers ran out of memory, or were killed, several times.
        OSError: a disk is full, or Ray has stopped.
    """
    return translated_by(_ours)


def _ours(problem: BaseException) -> Exception | None:
    """The error that Ray's tells of; None if we know no better words."""
    from ray import exceptions

    cause = getattr(problem, "cause", None)
    if isinstance(cause, NeardupError):
        return cause
    found, text = cause or problem, str(problem)
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
        return OSError(
            f"Ray has stopped, or does not answer. Start it, and call again with the same `work=`: finished stages are kept. Ray "
            f"said: {in_a_line(problem)}"
        )
    return None


def _full(said: str) -> OSError:
    return OSError(
        errno.ENOSPC,
        "a disk of the cluster is full: that of `work=`, or that of Ray's own temporary folder. Free or add space, and call again "
        f"with the same `work=`: finished stages are kept. The system said: {said}",
    )


def _killed(what: str, problem: BaseException) -> MemoryError:
    return MemoryError(
        f"{what}, several times for the same task; most often for want of memory. Give nodes more memory, or less CPUs, or write "
        f"the input to smaller files. Then call again with the same `work=`: "
        f"finished stages are kept. Ray said: {in_a_line(problem)}"
    )


def in_a_line(problem: BaseException) -> str:
    """What a problem says, in one line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines[-1] if lines else type(problem).__name__)[:SHOWN_CHARACTERS]
