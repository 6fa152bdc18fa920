"""NODES of a cluster of Ray: how many tasks run at a time, and what memory there is for one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


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
