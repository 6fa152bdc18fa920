"""A WORKER: the one thread that calls a store. What waits together is decided together, and shares a commit.

Each round takes what has come since: first all questions, then all additions as one `check_and_add_many`, then other calls, one
after another. All of them wait at the same time, so any order of them is one in which they may have come. An answer is given when
its write is durable. A store that fails is opened again. A database that cannot be reached is asked every second until it can.
"""

import asyncio
import collections
import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from msgspec import UNSET

from neardup.errors import OptionError
from neardup.service.limits import Limits
from neardup.service.messages.messages import answer_of
from neardup.service.metrics import StoreMetrics
from neardup.service.problems import Problem, later
from neardup.service.stores.held_store import HeldStore
from neardup.service.stores.large_texts import LargeTexts, is_large
from neardup.service.stores.waiting import Addition, Call, Check, Job, Result, kept_result, texts_of, together
from neardup.store.answers import StoreAnswer
from neardup.store.record.notes_table import NotedError
from neardup.store.store import Store

MAX_KEPT_SECONDS = 1e12
"""Seconds for which answers are kept, at most: a `timedelta` cannot be much longer."""


class Worker:
    """The thread of one store, and what waits for it.

    Attributes:
        name: of the store; held: the store; recipe: how it makes fingerprints.
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], Store],
        limits: Limits,
        metrics: StoreMetrics,
        log: Callable[..., None],
        *,
        is_shared: bool = False,
    ) -> None:
        """Open the store.

        Args:
            name, opened, limits, metrics, log: its name, what opens it, what it bears, and where events go.
            is_shared: whether others write to it, too, so that it is asked how many documents it has when nobody else asks.

        Raises:
            InputError, DataError, TransferError: it cannot be opened.
        """
        self.name, self.is_ending, self._is_over = name, False, False
        self.held = HeldStore(name, opened, metrics, log, reopen_seconds=limits.reopen_seconds)
        self._limits, self._metrics, self._log = limits, metrics, log
        store = self.held.sound()
        self.recipe = store.recipe
        self._waiting: collections.deque[Job] = collections.deque()
        self._size, self._is_idle = 0, threading.Condition()
        self._large = LargeTexts(name, limits, lambda: self.held.store, self._prepared)
        self._look_seconds = limits.look_seconds if is_shared else None
        self._expires_at = 0.0 if limits.expire_every is not None else math.inf
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name=f"store {name}", daemon=True)
        metrics.documents.set(len(store))
        metrics.waiting.set_function(lambda: self._size)
        metrics.ready.set_function(lambda: float(not self.held.has_failed))

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to answer, to this loop."""
        self._loop = loop
        self._thread.start()

    def end(self) -> None:
        """Take no more, finish what waits, close the store, and end the thread."""
        with self._is_idle:
            self.is_ending = True
        if self._thread.is_alive():
            self._large.end()
            with self._is_idle:
                self._is_over = True
                self._is_idle.notify_all()
            self._thread.join()
        self.held.close()

    def put(self, job: Job) -> None:
        """Let a job wait for its turn.

        Raises:
            Problem: too much waits already, or the service ends.
        """
        with self._is_idle:
            if self.is_ending:
                raise later("shutting_down", "The service is ending. Ask again when it has started anew.")
            if self._size and self._size + job.size > self._limits.max_waiting:
                raise later("busy", f"{self._size:,} documents wait for the store {self.name!r}. Ask again later.")
            self._size += job.size
            if is_large(job.given()):
                self._large.put(job)
            else:
                self._waiting.append(job)
                self._is_idle.notify_all()

    def withdraw(self, job: Job) -> bool:
        """Take back a job that still waits; False if the store has begun with it."""
        with self._is_idle:
            if job.begun:
                return False
            job.is_withdrawn = True
            if job in self._waiting:
                self._waiting.remove(job)
            self._large.withdraw(job)
            self._size -= job.size
            self._is_idle.notify_all()
            return True

    def _prepared(self, job: Job, problem: BaseException | None) -> None:
        """Let a job wait whose texts were large, and are prepared or refused; until the store has begun with it, so that it alone
        takes the memory of features.
        """
        with self._is_idle:
            if job.is_withdrawn:
                return
            if problem is not None:
                job.begun = True
                self._size -= job.size
                self._resolve([(job, problem)])
                return
            self._waiting.append(job)
            self._is_idle.notify_all()
            self._is_idle.wait_for(lambda: job.begun or job.is_withdrawn)

    # ---------------------------------------------------------------------------------------------------- the thread

    def _run(self) -> None:
        while (jobs := self._take()) is not None:
            done: list[tuple[Job, Any]] = []
            try:
                if jobs:
                    self._round(jobs, done)
                else:
                    self._look()
                self._expire()
            except BaseException as failure:  # nothing may end the thread: what waits would wait for ever
                self.held.failed(failure)
                self._resolve([*done, *((job, failure) for job in jobs)])  # the first result of a job counts

    def _take(self) -> list[Job] | None:
        """The jobs of a round, which are never too many; none if nothing has come for a while; None when it is time to end."""
        with self._is_idle:
            if not self._waiting and not self._is_over:
                self._is_idle.wait(self._pause())
            if not self._waiting and self._is_over:
                return None
            jobs: list[Job] = []
            size = characters = 0
            while self._waiting and (not jobs or size + self._waiting[0].size <= self._limits.documents_per_commit):
                if jobs and characters > self._limits.characters_per_commit:
                    break
                job = self._waiting.popleft()
                job.begun = True
                jobs.append(job)
                size += job.size
                characters += 0 if job.prepared is not None else sum(map(len, job.given()))
            self._size -= size
            self._is_idle.notify_all()
        return jobs

    def _round(self, jobs: list[Job], done: list[tuple[Job, Any]]) -> None:
        store = self.held.sound()
        checks = [job for job in jobs if isinstance(job, Check)]
        for some in together(checks):
            self._check(store, some, done)
            self._resolve(done)
        for more in together([job for job in jobs if isinstance(job, Addition)]):
            self._add(store, more, done)
            self._resolve(done)
        for job in jobs:
            if isinstance(job, Call):
                done.append((job, self.held.tried(functools.partial(job.call, store))))
                self._resolve(done)
        if len(checks) < len(jobs) and not self.held.has_failed:
            self._count(store)

    def _pause(self) -> float | None:
        """Seconds after which there is something to do, though nobody asks."""
        if self.held.has_failed:
            return self._limits.reopen_seconds
        pause = min(self._look_seconds or math.inf, max(0.0, self._expires_at - time.monotonic()))
        return None if pause == math.inf else min(pause, threading.TIMEOUT_MAX)

    def _expire(self) -> None:
        """Remove what has expired, if it is time to; while the store has failed, later."""
        every = self._limits.expire_every
        if every is None or self.held.has_failed or time.monotonic() < self._expires_at:
            return
        self._expires_at = time.monotonic() + every
        with contextlib.suppress(Problem):
            store = self.held.sound()
            most = self._limits.max_expired  # what waits comes in between
            removed = self.held.tried(lambda: store.expire(limit=most))
            if removed == most:
                self._expires_at = 0.0
            if removed and not isinstance(removed, BaseException):
                self._metrics.expired.inc(removed)
                self._metrics.orphaned.inc(removed.orphans.count)
                self._log("expired", store=self.name, removed=int(removed), orphans=removed.orphans.count)
                self._count(store)

    def _look(self) -> None:
        """While nobody asks: see whether the store can be used, and how many documents it has."""
        with contextlib.suppress(Problem):
            self._count(self.held.sound())

    def _count(self, store: Store) -> None:
        found = self.held.tried(lambda: len(store))
        if not isinstance(found, BaseException):
            self._metrics.documents.set(found)

    def _check(self, store: Store, checks: list[Check], done: list[tuple[Job, Any]]) -> None:
        found = self.held.tried(lambda: store.check_many(texts_of(checks)))
        if isinstance(found, BaseException):
            if isinstance(found, OptionError) and len(checks) > 1:  # one of them is to blame
                for job in checks:
                    self._check(store, [job], done)
            else:
                done += [(job, found) for job in checks]
            return
        first = 0
        for job in checks:
            done.append((job, found[first : first + len(job.texts)]))
            first += len(job.texts)
        self._metrics.checked.inc(first)

    def _add(self, store: Store, additions: list[Addition], done: list[tuple[Job, Any]]) -> None:
        """Decide documents, but for those of requests that were answered before."""
        kept = {}
        if keys := [job.key for job in additions if job.key is not None]:
            kept = self.held.tried(lambda: store.notes(keys))
            if isinstance(kept, BaseException):
                done += [(job, kept) for job in additions]
                return
        new: list[Addition] = []
        repeated: list[Addition] = []
        keys_of_new: set[str] = set()
        for job in additions:
            if job.key is not None and job.key in kept:
                done.append((job, kept_result(job, kept[job.key])))
            elif job.key is not None and job.key in keys_of_new:
                repeated.append(job)
            else:
                new.append(job)
                keys_of_new.update([] if job.key is None else [job.key])
        if new:
            self._decide(store, new, done)
        if repeated:
            self._add(store, repeated, done)

    def _decide(self, store: Store, jobs: list[Addition], done: list[tuple[Job, Any]]) -> None:
        documents = [document for job in jobs for document in job.documents]
        has_metadata = any(each.metadata is not None for each in documents)
        expires = [each.expires for each in documents]
        ttl = [None if each.ttl is UNSET else each.ttl for each in documents]
        keys = [job.key for job in jobs if job.key is not None]
        bodies: list[bytes] = []

        def encoded(answers: list[StoreAnswer]) -> list[bytes]:
            found = iter(answers)
            return [job.encoded([answer_of(each.id, next(found)) for each in job.documents]) for job in jobs]

        def notes(answers: list[StoreAnswer]) -> dict[str, tuple[Any, timedelta]]:
            bodies[:] = encoded(answers)
            kept_for = timedelta(seconds=min(self._limits.keep_answers, MAX_KEPT_SECONDS))  # by the clock of the store
            return {
                job.key: ({"request": job.digest, "answer": body.decode()}, kept_for)
                for job, body in zip(jobs, bodies, strict=True)
                if job.key is not None
            }

        began = time.perf_counter()
        found = self.held.tried(
            lambda: store.check_and_add_many(
                [each.id for each in documents],
                texts_of(jobs),
                metadata=[each.metadata for each in documents] if has_metadata else None,
                expires=expires if any(each is not None for each in expires) else None,
                ttl=ttl if any(each is not None for each in ttl) else None,
                notes=notes if keys else None,
                unless=keys,
            )
        )
        if isinstance(found, NotedError):  # another service was asked the same, and was first
            noted = found.notes
            done += [(job, kept_result(job, noted[job.key])) for job in jobs if job.key in noted]
            if rest := [job for job in jobs if job.key not in noted]:
                self._decide(store, rest, done)
            return
        if isinstance(found, BaseException):
            if isinstance(found, OptionError) and len(jobs) > 1:  # one of them is to blame, and nothing was added
                for job in jobs:
                    self._decide(store, [job], done)
            else:
                done += [(job, found) for job in jobs]
            return
        self._metrics.committed(found, time.perf_counter() - began)
        done += [(job, Result(body)) for job, body in zip(jobs, bodies or encoded(found), strict=True)]

    def _resolve(self, done: list[tuple[Job, Any]]) -> None:
        """Hand over results to the loop."""
        if done and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                self._loop.call_soon_threadsafe(_set_all, list(done))
        done.clear()


def _set_all(done: Sequence[tuple[Job, Any]]) -> None:
    for job, result in done:
        if job.future.done():  # nobody waits any more
            continue
        if isinstance(result, BaseException):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)
