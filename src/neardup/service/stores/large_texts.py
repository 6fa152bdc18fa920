"""LARGE TEXTS: prepared on a thread of their own, one request after another, so that small requests pass by; and refused if they
become too large when they are normalized.
"""

import collections
import threading
from collections.abc import Callable, Sequence

from neardup.display import size_text
from neardup.resources.memory_use import give_back
from neardup.service.limits import Limits
from neardup.service.problems import Problem
from neardup.service.stores.waiting import Job
from neardup.store.store import Store
from neardup.text.normalizers import compared_bytes

LARGE_CHARACTERS = 1 << 17
"""Characters of all texts of a request from which on it is large: its features take some milliseconds."""
IDLE_SECONDS = 1.0
"""Without a large request, after which the memory that earlier ones took goes back to the system."""
_ONE_AT_A_TIME = threading.Lock()
"""Of all stores of a service: features of large texts take memory."""


def is_large(texts: Sequence[str]) -> bool:
    """Whether texts are prepared before their store has them."""
    return sum(map(len, texts)) > LARGE_CHARACTERS


class LargeTexts:
    """The thread that prepares requests with large texts for one store."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        store: Callable[[], Store | None],
        prepared: Callable[[Job, BaseException | None], None],
    ) -> None:
        """Begin with nothing.

        Args:
            name, limits: of the store, and what it bears.
            store: gives the store; None while it is closed, and then nothing is prepared.
            prepared: takes each job, with the problem if it is refused, and returns when the next one may be prepared.
        """
        self._limits, self._store, self._prepared = limits, store, prepared
        self._waiting: collections.deque[Job] = collections.deque()
        self._has_come, self._is_ending = threading.Condition(), False
        self._thread = threading.Thread(target=self._run, name=f"large texts of {name}", daemon=True)

    def put(self, job: Job) -> None:
        """Let a job wait for its turn. The first one starts the thread."""
        with self._has_come:
            self._waiting.append(job)
            if not self._thread.ident:
                self._thread.start()
            self._has_come.notify()

    def withdraw(self, job: Job) -> None:
        """Take back a job that still waits here, if it does."""
        with self._has_come:
            if job in self._waiting:
                self._waiting.remove(job)

    def end(self) -> None:
        """Prepare what waits, and end the thread."""
        with self._has_come:
            self._is_ending = True
            self._has_come.notify()
        if self._thread.ident:
            self._thread.join()

    def _run(self) -> None:
        has_memory = False
        while True:
            with self._has_come:
                if not self._waiting and not self._is_ending:
                    self._has_come.wait(IDLE_SECONDS if has_memory else None)
                if not self._waiting and self._is_ending:
                    return
                job = self._waiting.popleft() if self._waiting else None
            if job is not None:
                self._prepare(job)
                has_memory = True
            elif has_memory:
                give_back()
                has_memory = False
            del job  # and with it the texts, while the next one is awaited

    def _prepare(self, job: Job) -> None:
        problem: BaseException | None = None
        try:
            store = self._store()
            if store is not None:
                with _ONE_AT_A_TIME:
                    texts = job.given()
                    self._demand_small(store, texts)
                    job.prepared = store.prepare(texts)
        except BaseException as failure:  # nothing may end the thread
            problem = failure
        self._prepared(job, problem)

    def _demand_small(self, store: Store, texts: Sequence[str]) -> None:
        most = self._limits.max_normalized
        sizes = [compared_bytes(text, store.recipe.normalize) for text in texts]
        if sum(sizes) > most:
            which = "The text becomes" if len(texts) == 1 else f"The {len(texts):,} texts become"
            raise Problem(
                "too_large",
                f"{which} {size_text(sum(sizes))} when normalized; at most {size_text(most)} are taken. A character may become up "
                "to 18 characters, as U+FDFA does. Send less at a time.",
            )
