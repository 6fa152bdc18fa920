"""A cluster of Spark on this machine: a master and two workers of one core each, as processes."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engines.ray_cluster import free_port

WORKERS = 2
TIMEOUT = 60
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Jobs of tests are small, and half of their time would go to compiling Spark's plans. `spark-submit` is tested with compiled ones."""


def missing():
    """Why there can be no cluster; None if there can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: make test-cluster installs it"
    return None if shutil.which("java") else "there is no Java: make java installs it"


NEEDED = pytest.mark.skipif(missing() is not None, reason=str(missing()))
"""The mark of tests that need Spark."""
MARKS = [
    pytest.mark.cluster,
    NEEDED,
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]


class Cluster:
    """The processes.

    Attributes:
        address: of the master.
        workers: processes.
    """

    name, settings = "spark", {}

    def __init__(self, folder):
        import pyspark

        self._folder, self._home = Path(folder), Path(pyspark.__file__).parent
        self.address, self._port, self._pages = "", free_port(), free_port()
        self.master, self.workers, self._count = None, [], 0

    def start(self):
        name = "org.apache.spark.deploy.master.Master"
        self.master = self._process("master", name, "--port", self._port, "--webui-port", self._pages)
        self.address = f"spark://127.0.0.1:{self._port}"
        self._await("master", "I have been elected leader")
        for _ in range(WORKERS):
            self.add_worker()

    def add_worker(self):
        self.workers.append(self.started())

    def started(self):
        """Another worker."""
        self._count += 1
        name = f"worker{self._count}"
        where = ["--webui-port", free_port(), "--work-dir", self._folder / name]
        worker = "org.apache.spark.deploy.worker.Worker"
        process = self._process(name, worker, "--cores", 1, "--memory", "1536m", *where, self.address)
        self._await(name, "Successfully registered with master")
        return process

    def _process(self, name, *arguments):
        environment = os.environ | {"SPARK_HOME": str(self._home), "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [self._home / "bin" / "spark-class", arguments[0], "--host", "127.0.0.1", *map(str, arguments[1:])]
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    def _await(self, name, words):
        ends, log = time.monotonic() + TIMEOUT, self._folder / f"{name}.log"
        while words not in log.read_text(errors="replace"):
            assert time.monotonic() < ends, log.read_text(errors="replace")[-3000:]
            time.sleep(0.1)

    def stop(self):
        for process in [*self.workers, self.master]:
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()


@contextlib.contextmanager
def running(folder):
    """A cluster, whose executors have this Python."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = Cluster(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def session_on(address, **more):
    """A session with small executors. `more`: settings."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(address)
    for name, value in (settings | INTERPRETED | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def local_session(cores=2, **more):
    """A session of this process alone."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return session_on(f"local[{cores}]", **more)
