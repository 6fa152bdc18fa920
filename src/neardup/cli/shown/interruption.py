"""A command that is interrupted ends within a second or so, whatever it is at, and leaves no unfinished files.

SIGINT, SIGTERM and SIGHUP (a lost terminal) become a KeyboardInterrupt, which Python raises once the main thread is between two
instructions. That may take long: the thread may be in a kernel, or wait for others that are. Another thread therefore hears of
the signal at once, by a pipe that the system's handler writes to. Where the command has not ended after GRACE_SECONDS, that thread
removes what is unfinished and ends the process.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

GRACE_SECONDS = 0.6
"""Seconds for the usual way: exceptions that close what is open."""
EXIT_INTERRUPTED = 130
REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def told(stays: str) -> str:
    """The message of an interrupted command; `stays` says what was not removed, and why."""
    return f"interrupted; {stays or 'unfinished files were removed'}"


@contextlib.contextmanager
def clean_end(*, own_process: bool) -> Iterator[None]:
    """In this block, signals that ask the command to end become interrupts; in a process of its own, they surely end it."""
    requests = [number for number in REQUESTS[1:] if signal.getsignal(number) is signal.SIG_DFL]

    def interrupt(_: int, __: FrameType | None) -> NoReturn:
        for number in requests:
            signal.signal(number, signal.SIG_IGN)  # a second signal would stop the cleanup
        raise KeyboardInterrupt

    for number in requests:
        signal.signal(number, interrupt)
    try:
        with _watched() if own_process else contextlib.nullcontext():
            yield
    finally:
        for number in requests:
            if signal.getsignal(number) is interrupt:
                signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    ended = threading.Event()
    threading.Thread(target=_watch, args=(heard, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(tell)  # ends the other thread's reading


def _watch(heard: int, ended: threading.Event) -> None:
    while number := os.read(heard, 1):
        if number[0] in REQUESTS and not ended.wait(GRACE_SECONDS):
            _end(ended)
    os.close(heard)


def _end(ended: threading.Event) -> None:
    from neardup.resources.unfinished import remove_unfinished

    stays = remove_unfinished()  # waits where files are getting their final names, after which the command is done
    if ended.wait(0 if stays else GRACE_SECONDS / 10):
        return
    with contextlib.suppress(OSError):  # standard error may be closed
        os.write(2, f"neardup: error: {told(stays)}\n".encode())
    os._exit(EXIT_INTERRUPTED)
