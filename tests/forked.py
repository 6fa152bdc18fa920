"""A function in a process of its own, by a fork; what it raises is printed there."""

import os
import traceback


def forked(work, *arguments):
    """Begin it; returns the id of the process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work(*arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child):
    """Wait for it; returns its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
