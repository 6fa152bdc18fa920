"""Tasks on Ray that tell a test that they run, and wait until it lets them go on: the folder SLOW_TASKS has a file for each.

A task that is run again finds that it may go on.
"""

import os
import secrets
import time
from pathlib import Path

from neardup.engines.job import folder_engine

SECONDS = 60
_run, _read = folder_engine.run_buckets, folder_engine.read_files


def _told(folder, name):
    """Tell that a task of a stage runs, and wait until the file `go` is there."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    (folder / f"{name}:{node}:{os.getpid()}:{secrets.token_hex(4)}").touch()
    ends = time.monotonic() + SECONDS
    while not (folder / f"go {name}").exists() and time.monotonic() < ends:
        time.sleep(0.01)


def run(slow, *arguments):
    """`folder_engine.run_buckets`."""
    folder, path, buckets, stage, given = arguments
    _told(Path(slow), stage.name)
    return _run(folder, path, buckets, stage, given)


def read(slow, *arguments):
    """`folder_engine.read_files`."""
    folder, path, buckets, reading, seen, files = arguments
    _told(Path(slow), reading.name)
    return _read(folder, path, buckets, reading, seen, files)
