"""CALLS of tasks on Ray: some at a time, and given up when no node has room for any."""

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from neardup.engines.job.failures import GOES_ON, IdleError
from neardup.engines.ray.failures import translated_errors
from neardup.engines.stages import Setting

PATIENCE = "NEARDUP_RAY_PATIENCE"
"""The environment variable that says how many seconds a job waits while no node has room for a task."""
PATIENCE_SECONDS = 1800
LOOK_SECONDS = 1.0
"""Seconds between two looks at the nodes."""
TASKS_AT_ONCE = 4096
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
            see `translated_errors`.
        """
        import ray

        options = {"num_cpus": 1, "max_retries": RETRIES, "name": f"neardup: {name}"}
        options |= {"memory": self.memory} if self.memory else {}
        task = ray.remote(checked_with).options(**options)
        common, key = [ray.put((work, shared))], secrets.token_hex(8)  # in a list, as Ray would read it for each task
        left = iter(calls)
        waiting: set[Any] = set()
        with translated_errors():
            try:
                while True:
                    while len(waiting) < TASKS_AT_ONCE and (call := next(left, None)) is not None:
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

        patience = float(os.environ.get(PATIENCE, str(PATIENCE_SECONDS)))
        since, warned = time.monotonic(), 0.0
        while True:
            done, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
            done = done or ray.wait(list(waiting), timeout=min(LOOK_SECONDS, patience / 4))[0]
            if done:
                return list(done)
            now = time.monotonic()
            if has_room(ray.nodes(), self.memory):
                since = now
            elif now - since >= patience:
                raise IdleError(
                    f"No node has had room for a task for {patience:,.0f} seconds: nodes are lost, or have less than one CPU and "
                    f"{self.memory:,} bytes of memory. Bring nodes back, and c{GOES_ON}. "
                    f"The environment variable `{PATIENCE}` says how many seconds to wait."
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


@dataclass(frozen=True)
class Nodes:
    """The nodes that are there.

    Attributes:
        slots: tasks that run at a time.
        most_bytes: memory of the node that has the most; None if that is not known.
        bytes_each: memory for a task, so that all CPUs of every node have one.
        many: how many nodes there are.
    """

    slots: int
    most_bytes: int | None
    bytes_each: int | None
    many: int

    def reserved(self, task_bytes: int) -> int:
        """Memory that Ray reserves for a task that needs so much; none if no node tells how much it has."""
        return 0 if self.most_bytes is None else min(task_bytes, self.most_bytes)


def nodes() -> Nodes:
    """The nodes of the cluster, to which this process is connected; or a new one of this machine alone."""
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    return counted(ray.nodes())


def counted(found: Iterable[dict[str, Any]]) -> Nodes:
    """What `ray.nodes` tells."""
    alive = [node["Resources"] for node in found if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    slots = sum(int(each["CPU"]) for each in alive)
    known = [(int(each["memory"]), int(each["CPU"])) for each in alive if each.get("memory")]
    return Nodes(
        max(1, slots),
        max((memory for memory, _ in known), default=None),
        min((memory // cpus for memory, cpus in known), default=None),
        len(alive),
    )
