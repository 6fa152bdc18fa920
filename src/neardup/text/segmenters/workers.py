"""Worker processes for segmenters whose tokenizers serve one thread at a time, or hold Python's lock.

Each thread of a run that segments uses one worker for as long as it needs it.

There are never more workers than threads at work at once. Idle workers are kept for the next pass and ended with this process. They
are started as programs of their own rather than by `multiprocessing`, which would import the caller's main module again. They end
when their input does, so none outlives this process, even if it is killed.
"""

import atexit
import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from array import array
from functools import lru_cache

from neardup.errors import OptionError
from neardup.resources.threads import is_one_of_several
from neardup.text.segmenters.cutting import Cut, CutterSettings, cut_texts, cutter_of
from neardup.text.segmenters.worker import DONE, REFUSED

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from neardup.text.segmenters.worker import main; main()"
)
_GUARD = threading.Lock()
_IDLE: list["Worker"] = []
_IN_PROCESS = threading.Lock()


class Worker:
    """One process, for one segmenter with its settings."""

    def __init__(self, settings: CutterSettings) -> None:
        self.settings = settings
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt goes to this process only; it ends the others
        )
        self._send(tuple(settings))

    @property
    def process(self) -> int:
        """The process's number."""
        return self._process.pid

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin, pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def cut(self, data: bytes, offsets: bytes) -> tuple[bytes, bytes]:
        """Like `cut_texts`.

        Raises:
            OptionError: the segmenter cannot do what the settings ask.
            ChildProcessError: the process has ended, or the segmenter failed.
        """
        assert self._process.stdout is not None
        try:
            self._send((data, offsets))
            kind, answer = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self._process.wait()
            raise ChildProcessError(
                f"A worker process of the segmenter {self.settings.segmenter} ended with code {code}. "
                "If memory ran out, give fewer `threads`; with one thread there are no workers."
            ) from None
        if kind == DONE:
            found: tuple[bytes, bytes] = answer
            return found
        if kind == REFUSED:
            raise OptionError(answer)
        raise ChildProcessError(f"The segmenter {self.settings.segmenter} failed in a worker process:\n{answer}")

    def end(self) -> None:
        """End the process, and wait until it has ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # for data that could not be sent any more
                    pipe.close()


def _take(settings: CutterSettings) -> Worker:
    """An idle worker with these settings, or a new one; idle workers with other settings are ended."""
    with _GUARD:
        others = [worker for worker in _IDLE if worker.settings != settings]
        mine = [worker for worker in _IDLE if worker.settings == settings]
        found = mine.pop() if mine else None
        _IDLE[:] = mine
    for worker in others:
        worker.end()
    return found or Worker(settings)


def end_workers() -> None:
    """End all idle workers. The next run starts its own."""
    with _GUARD:
        idle, _IDLE[:] = list(_IDLE), []
    for worker in idle:
        worker.end()


def _forget() -> None:
    """After a fork: the workers belong to the parent."""
    global _GUARD, _IN_PROCESS
    _GUARD, _IN_PROCESS = threading.Lock(), threading.Lock()
    _IDLE.clear()


atexit.register(end_workers)
os.register_at_fork(after_in_child=_forget)


@lru_cache(4)
def _cutter_here(settings: CutterSettings) -> Cut:
    return cutter_of(settings)


def cut_by_package(data: bytes, offsets: bytes, settings: CutterSettings) -> tuple[bytes, bytes]:
    """Like `cut_texts`, by a segmenter from a package: in a worker if several threads work at once, otherwise in this process.

    Raises:
        OptionError: the segmenter cannot do what the settings ask.
        ChildProcessError: a worker failed.
    """
    if not is_one_of_several() or not sys.executable:
        with _IN_PROCESS:  # a tokenizer serves one thread at a time
            return cut_texts(data, array("q", offsets), _cutter_here(settings), settings.segmenter)
    worker = _take(settings)
    try:
        found = worker.cut(data, offsets)
    except BaseException:
        worker.end()
        raise
    with _GUARD:
        _IDLE.append(worker)
    return found
