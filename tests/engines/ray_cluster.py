"""A cluster of Ray on this machine: a head and a second node of one CPU each, as processes on loopback."""

import contextlib
import importlib.util
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

TIMEOUT = 60
STORE = 200 << 20
"""Bytes of a node's object store."""
MEMORY = 2 << 30
"""Bytes that a node tells tasks it has."""
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(16),
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
"""Of all processes: a dead node is noticed within seconds."""


def missing():
    """Why there can be no cluster; None if there can."""
    return None if importlib.util.find_spec("ray") else "ray is not installed: make test-cluster installs it"


NEEDED = pytest.mark.skipif(missing() is not None, reason=str(missing()))
"""The mark of tests that need Ray."""


def free_port():
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return given.getsockname()[1]


def children(pid):
    """The processes that a process has started, and those that they have."""
    found = [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]
    return [each for child in found for each in (child, *children(child))]


def end(process):
    """Kill a process, and all that it has started."""
    pids = [*children(process.pid), process.pid]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


class Cluster:
    """The processes.

    Attributes:
        address: of the head.
        nodes: processes besides the head.
    """

    name, settings = "ray", SETTINGS

    def __init__(self, cpus=1, paths=()):
        """`cpus`: of the head; `paths`: those that come before others where workers import."""
        # Ray puts sockets there, whose names may have 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="r-", dir="/tmp"))
        self.address, self.head, self.nodes = f"127.0.0.1:{free_port()}", None, []
        paths = [*map(str, paths), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._cpus, self._environment = cpus, os.environ | SETTINGS | {"PYTHONPATH": os.pathsep.join(paths)}

    def start(self, nodes=1):
        ports = [
            "--head",
            "--port",
            self.address.partition(":")[2],
            "--include-dashboard=false",
            "--temp-dir",
            self.folder,
        ]
        self.head = self._process("head", *ports)
        for _ in range(nodes):
            self.add_node()

    def add_node(self):
        """Another node."""
        self.nodes.append(self._process(f"node{len(self.nodes)}-{secrets.token_hex(2)}", "--address", self.address))
        return self.nodes[-1]

    def kill_node(self, node):
        """Kill one, at once, with all its processes."""
        self.nodes.remove(node)
        end(node)

    def _process(self, name, *arguments):
        log = self.folder.with_name(f"{self.folder.name}-{name}.log")
        bounds = [
            "--num-cpus",
            self._cpus if name == "head" else 1,
            "--object-store-memory",
            STORE,
            "--memory",
            MEMORY,
            "--node-ip-address",
            "127.0.0.1",
        ]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *arguments, *bounds]
        command.append("--disable-usage-stats")
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*map(str, command)], env=self._environment, stdout=file, stderr=file, start_new_session=True
            )
        ends = time.monotonic() + TIMEOUT
        while "Ray runtime started" not in log.read_text(errors="replace"):
            assert process.poll() is None, log.read_text(errors="replace")[-3000:]
            assert time.monotonic() < ends, log.read_text(errors="replace")[-3000:]
            time.sleep(0.1)
        log.unlink()
        return process

    def stop(self):
        for process in [*self.nodes, self.head]:
            if process is not None:
                end(process)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def running(nodes=1, **how):
    """A cluster, whose workers have this Python."""
    found = Cluster(**how)
    try:
        found.start(nodes)
        yield found
    finally:
        found.stop()


@contextlib.contextmanager
def connected(cluster):
    """Let this process be a driver of a cluster."""
    os.environ.update(SETTINGS)
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level="error", _node_ip_address="127.0.0.1")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()
