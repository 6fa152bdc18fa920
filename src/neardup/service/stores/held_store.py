"""A HELD STORE: opened again when it has failed, and asked again when its database was away, until it can be used."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from neardup.errors import InputError, OptionError, TransferError
from neardup.service.metrics import StoreMetrics
from neardup.service.problems import UNREACHABLE, Problem, later, problem_of
from neardup.store.postgresql.problems import GrantError
from neardup.store.store import Store

_REFUSED = (OptionError, GrantError, Problem)
_OF_ARGUMENTS = (ValueError, TypeError, OverflowError)
"""What Python raises of a value that nobody has checked: a mistake of the service, and none of the store."""


class HeldStore:
    """The store of one worker, whose thread alone uses it.

    Attributes:
        store: the store; None while it is closed.
        problem: why it could not be reached, or opened again; None if it could.
    """

    def __init__(
        self,
        name: str,
        opened: Callable[[], Store],
        metrics: StoreMetrics,
        log: Callable[..., None],
        *,
        reopen_seconds: float,
    ) -> None:
        """Open the store. `reopen_seconds`: see `Limits`.

        Raises:
            InputError, DataError, TransferError: it cannot be opened.
        """
        self.problem: str | None = None
        self._name, self._opened, self._metrics, self._log = name, opened, metrics, log
        self._has_failed, self._reopen_seconds, self._tried_at = False, reopen_seconds, -reopen_seconds
        self.store: Store | None = opened()

    @property
    def has_failed(self) -> bool:
        """Whether it is to be opened again, or its database to be asked again, before it is used."""
        return self._has_failed or self.problem is not None

    def sound(self) -> Store:
        """The store, which is opened again if it has failed, and asked if its database was away; at most every `reopen_seconds`.

        Raises:
            Problem: it cannot be opened, or reached; or it has failed again within this time.
        """
        may_try = time.monotonic() - self._tried_at >= self._reopen_seconds
        if self._has_failed and may_try:
            self.close()
            self._use(self._opened, "store_opened_again")
        elif self.problem is not None and self.store is not None and may_try:
            self._use(partial(_reached, self.store), "store_reached_again")
        if self.store is None or self.has_failed:
            raise self._unavailable()
        return self.store

    def _use(self, used: Callable[[], Store], event: str) -> None:
        """Try to use the store again.

        Raises:
            Problem: it is as before.
        """
        try:
            self.store = used()
        except Exception as failure:
            self.problem = _said(failure)
            raise self._unavailable() from failure
        finally:
            self._tried_at = time.monotonic()
        self.problem, self._has_failed = None, False
        self._log(event, store=self._name)

    def _unavailable(self) -> Problem:
        said = f"The store {self._name!r} has failed, and is about to be opened again. Nothing was changed."
        return later("store_unavailable", self.problem or said)

    def tried(self, call: Callable[[], Any]) -> Any:
        """What a call of the store returns, or the exception that it raises. If it has failed before, it is not called."""
        if self.has_failed:
            return self._unavailable()
        try:
            return call()
        except BaseException as failure:
            self.failed(failure)
            return failure

    def failed(self, failure: BaseException) -> None:
        """Note that the store may not be usable any more; if its database is away, not until it is back. What was asked may be to
        blame instead: then it goes on, if it says that it can be used.
        """
        if isinstance(failure, _REFUSED) or (isinstance(failure, _OF_ARGUMENTS) and self._can_be_used()):
            return
        self._metrics.failures.inc()
        if isinstance(failure, TransferError):
            self.problem, self._tried_at = _said(failure), time.monotonic()
            self._log("store_unreachable", store=self._name, kind=type(failure).__name__, reason=failure.reason)
        else:
            self._has_failed = True
            self._log("store_failed", store=self._name, kind=type(failure).__name__, failure=failure)

    def _can_be_used(self) -> bool:
        try:
            if self.store is not None:
                self.store.ping()
        except Exception:
            return False
        return self.store is not None

    def close(self) -> None:
        store, self.store = self.store, None
        if store is None:
            return
        try:
            store.close()
        except (InputError, OSError) as failure:
            self._log("store_not_closed", store=self._name, kind=type(failure).__name__)


def _said(failure: BaseException) -> str:
    """Why requests that come later are refused: the store was not tried for them, so nothing of them can have been changed."""
    return UNREACHABLE if isinstance(failure, TransferError) else problem_of(failure).detail


def _reached(store: Store) -> Store:
    """A store, once its database has answered. What waits is refused soon, if it does not."""
    store.ping()
    return store
