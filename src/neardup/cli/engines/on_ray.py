"""The command of `python -m neardup.ray`, which `ray job submit` starts: `neardup dedup` on a cluster of Ray.

Its flags are those of `neardup dedup`, by that command's own declarations. What makes no sense on a cluster is refused by name.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neardup.cli.engines import on_spark
from neardup.cli.engines.on_engine import OnEngine, command_of, engine_options
from neardup.cli.main import run

if TYPE_CHECKING:
    from neardup.engines.job.paths import Files

REFUSED = on_spark.REFUSED | {
    "lines": "Write the lines as rows with a text and an id: Parquet, JSON lines or CSV.",
    "elements": "Only texts are compared on Ray; `neardup dedup --elements` compares lists on one machine.",
    "unit": "Only whole documents are removed on Ray; `neardup dedup --unit` removes lines and paragraphs on one machine.",
    "threads": "Nodes run as many tasks at a time as they have CPUs: `ray start --num-cpus`.",
    "memory": "Nodes have the memory of `ray start --memory`.",
    "temp_dir": "What goes from stage to stage lies in --work; Ray's own files, where `ray start --temp-dir` says.",
    "temp_limit": "What goes from stage to stage lies in --work, and takes what the stages need.",
}
"""The options of `neardup dedup` that are not taken, with what to do instead."""
CHANGED = on_spark.CHANGED | {
    "output": {"help": "A folder, in the format of its ending (.parquet, .jsonl, .csv)."},
}
"""Those that are taken, with what they declare otherwise."""


class OnRay(OnEngine):
    """The command on Ray."""

    name, rows = "Ray", "dataset"

    def session(self, *, quiet: bool) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        return cluster()

    def files(self, session: Any) -> "Files":  # noqa: ARG002
        from neardup.engines.ray.files import RayFiles

        return RayFiles()


@engine_options(formats=("parquet", "json", "csv"), workers="nodes")
def _on_ray(**given: Any) -> None:
    """Remove near-duplicate documents from a corpus, on a cluster of Ray: the survivors of `neardup dedup`.

    INPUT: files, folders or globs that all nodes read, in one format: .parquet, .json or .jsonl (JSON lines), .csv (with a
    header). The cluster is that of the variable RAY_ADDRESS, as `ray job submit` sets it, or else this machine. A run that failed
    goes on when the same call is made again.
    """
    OnRay().run(**given)


command = command_of("neardup.ray", "Ray", _on_ray, REFUSED, CHANGED)


@contextlib.contextmanager
def cluster() -> Iterator[None]:
    """The cluster that the environment names, or this machine; left at the end.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: the cluster does not answer.
    """
    from neardup.errors import InputError, MissingExtra

    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtra("Ray is not installed: pip install 'neardup[ray]'") from None
    was_there = ray.is_initialized()
    if not was_there:
        try:
            ray.init(log_to_driver=False, logging_level="error")
        except (ConnectionError, ray.exceptions.RayError) as problem:
            where = os.environ.get("RAY_ADDRESS", "this machine")
            raise InputError(
                f"Ray does not answer at {where}: {problem}. Start it, or name another cluster by RAY_ADDRESS."
            ) from problem
    context = ray.data.DataContext.get_current()
    before = context.enable_progress_bars, logging.getLogger("ray.data").level
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.enable_progress_bars = before[0]
        logging.getLogger("ray.data").setLevel(before[1])
        if not was_there:
            ray.shutdown()


def main(arguments: list[str] | None = None) -> Any:
    """Run the command, with the messages and exit codes of `neardup`."""
    return run(command, "neardup.ray", arguments, own_process=False)
