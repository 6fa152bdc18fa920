"""CALLS of tasks on Ray: some at a time, and given up when no node has room for any."""

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from neardup.engines.ray.failures import IdleError, told
from neardup.engines.setting import Setting

PATIENCE = "NEARDUP_RAY_PATIENCE"
"""The environment variable that says how many seconds a job waits while no node has room for a task."""
SECONDS = 1800
LOOK = 1.0
"""Seconds between two looks at the nodes."""
MOST_WAITING = 4096
"""Tasks that Ray knows of at a time: so many that new nodes are asked for, and few enough for one driver."""
RETRIES = 8
"""Of a task whose worker or node dies."""
_latest: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
"""In a worker: the function of its last task, and its first arguments, by their key."""
_log = logging.getLogger("neardup")


class Calls:
    """What runs tasks.

    Attributes:
        setting: what they know of the driver.
        memory: bytes that Ray reserves for each; 0 for none.
    """

    def __init__(self, setting: Setting, memory: int = 0) -> None:
        self.setting, self.memory = setting, memory

    def run(self, name: str, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], *shared: Any) -> Iterator[Any]:
        """Run tasks of a function, and give what they return, in no order.

        Args:
            name: shown by Ray.
            work: the function.
            calls: its last arguments, for each task.
            shared: its first ones, which travel to each node once.

        Raises:
            see `told`.
        """
        import ray

        options = {"num_cpus": 1, "max_retries": RETRIES, "name": f"neardup: {name}"}
        options |= {"memory": self.memory} if self.memory else {}
        task = ray.remote(checked_with).options(**options)
        common, key = [ray.put((work, shared))], secrets.token_hex(8)  # in a list, as Ray would read it for each task
        left = iter(calls)
        waiting: set[Any] = set()
        with told():
            try:
                while True:
                    while len(waiting) < MOST_WAITING and (call := next(left, None)) is not None:
                        waiting.add(task.remote(self.setting, common, key, *call))
                    if not waiting:
                        return
                    done = self._first(waiting)
                    waiting -= set(done)
                    for each in done:
                        yield ray.get(each)
            finally:
                for each in waiting:
                    with suppress(Exception):
                        ray.cancel(each, force=True)

    def _first(self, waiting: set[Any]) -> list[Any]:
        """Those that are done, at least one.

        Raises:
            IdleError: no node has had room for a task for long.
        """
        import ray

        patience = float(os.environ.get(PATIENCE, str(SECONDS)))
        since, warned = time.monotonic(), 0.0
        while True:
            done, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
            done = done or ray.wait(list(waiting), timeout=min(LOOK, patience / 4))[0]
            if done:
                return list(done)
            now = time.monotonic()
            if has_room(ray.nodes(), self.memory):
                since = now
            elif now - since >= patience:
                raise IdleError(
                    f"No node has had room for a task for {patience:,.0f} seconds: nodes are lost, or have less than one CPU and "
                    f"{self.memory:,} bytes of memory. Bring nodes back, and call again with the same `work=`: finished stages are "
                    f"kept. The environment variable `{PATIENCE}` says how many seconds to wait."
                )
            elif now - since >= 60 and now - warned >= 60:
                warned = now
                _log.warning("no node has room for a task; given up after %.0f seconds", patience)


def checked_with(setting: Setting, common: list[Any], key: str, *arguments: Any) -> Any:
    """What a task runs.

    Args:
        setting: what it knows of the driver.
        common: a reference to the function, and to its first arguments, which this process keeps until others come.
        key: of these.
        arguments: the last ones.
    """
    import ray

    setting.check()
    if key not in _latest:
        _latest.clear()
        _latest[key] = ray.get(common[0])
    work, shared = _latest[key]
    return work(*shared, *arguments)


def has_room(nodes: Iterable[dict[str, Any]], memory: int) -> bool:
    """Whether a node is alive that could run a task, if nothing else ran there."""
    return any(
        node["Alive"] and node["Resources"].get("CPU", 0) >= 1 and node["Resources"].get("memory", 0) >= memory
        for node in nodes
    )
