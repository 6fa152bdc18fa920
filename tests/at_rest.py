"""A store that is seen to be at rest after each of its public calls: no transaction is open."""

import functools
import inspect

from neardup.store.store import Store


def public_methods(kind=Store):
    """The names of all public methods and properties of a store."""
    return sorted(name for name, _ in inspect.getmembers(kind) if not name.startswith("_"))


def demand_at_rest(store):
    """Nothing is open, but for changes of several calls that `durable="batch"` makes durable together."""
    files = store._files
    if files.is_closed:
        return
    local = getattr(files, "local", files)  # of a replica
    gathers = local.durable == "batch" and local._pending
    assert gathers or not local.record._base.in_transaction
    if hasattr(files, "database"):
        connection = files.database._connection
        assert connection is None or connection.closed or connection.info.transaction_status.name == "IDLE"


def _watched(method):
    @functools.wraps(method)
    def called(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        finally:
            if hasattr(self, "_files") and not self._files.is_in_change:  # no function of a call asks
                demand_at_rest(self)

    return called


def _members():
    for name, found in inspect.getmembers(Store):
        if inspect.isfunction(found) and (not name.startswith("_") or name in ("__init__", "__len__", "__repr__")):
            yield name, _watched(found)


WatchedStore = type("WatchedStore", (Store,), dict(_members()))
