"""The command of `spark-submit …/neardup/spark.py` and `python -m neardup.spark`: `neardup dedup` on a cluster of Spark.

Its flags are those of `neardup dedup`, by that command's own declarations. What makes no sense on a cluster is refused by name.
"""

import contextlib
from typing import TYPE_CHECKING, Any

from neardup.cli.engines.on_engine import OnEngine, command_of, engine_options
from neardup.cli.engines.spark_session import session_of_command
from neardup.cli.main import run

if TYPE_CHECKING:
    from neardup.engines.job.paths import Files

REFUSED = {
    "html": "Take the texts out of the pages first, and give a column of these.",
    "lines": "Write the lines as rows with a text and an id: Parquet, ORC, JSON lines or CSV.",
    "encoding": "Inputs are read as UTF-8. Convert them first.",
    "dialect": "CSV has a header, commas, and double quotes, which are doubled inside quotes. Convert other dialects first.",
    "max_document_bytes": "A row has to fit the memory of a task. Take longer texts out of the inputs first.",
    "elements": "Only texts are compared on Spark; `neardup dedup --elements` compares lists on one machine.",
    "prefer_source": "Give the inputs a column that says how good a source is, and --keep max:COLUMN.",
    "verbose": "The summary has every stage with its time and bytes.",
    "prefer": "Name the reference as an input, too: the duplicates (--audit) name what loses of either.",
    "keep_most": "Take the clusters of the duplicates (--audit), and add the next rows of each cluster_id to the survivors.",
    "drop_matched": "With --cluster components, remove the survivors of the duplicates (--audit), too.",
    "max_cluster": "Count the rows of each cluster_id of the duplicates (--audit).",
    "unit": "Only whole documents are removed on Spark; `neardup dedup --unit` removes lines and paragraphs on one machine.",
    "annotate": "Join the inputs and the duplicates (--audit) by their ids.",
    "dry_run": "--plan shows what the job takes, and runs nothing.",
    "report": "The summary (--json) and the duplicates (--audit) hold what the job found.",
    "report_by": "Group the duplicates (--audit), joined with the inputs by their ids, by the column.",
    "resume": "Every run goes on where the last one failed: make the same call again.",
    "on_error": "A malformed row stops the job. Mend it, or take it out of the inputs.",
    "threads": "Executors run as many tasks at a time as they have cores: `spark.executor.cores`.",
    "memory": "Executors have the memory of `spark.executor.memory` and `spark.executor.memoryOverhead`.",
    "temp_dir": "What goes from stage to stage lies in --work; Spark's own files, where `spark.local.dir` says.",
    "temp_limit": "What goes from stage to stage lies in --work, and takes what the stages need.",
}
"""The options of `neardup dedup` that are not taken, with what to do instead."""
CHANGED: dict[str, dict[str, Any]] = {
    "inputs": {},
    "output": {
        "help": "A path that Spark writes: a folder, in the format of its ending (.parquet, .orc, .jsonl, .csv, .jsonl.gz …)."
    },
    "text": {"help": "Column of the text (text)."},
    "id": {"help": "Column of the ids, strings or integers, each of which occurs once (id)."},
    "method": {"default": "exact"},
    "min_similarity": {},
    "similarity": {},
    "max_distance": {
        "help": "Hamming distance up to which fingerprints are candidates: with --method simhash (the recipe's), and minhash."
    },
    "recipe": {
        "default": "default",
        "show_default": True,
        "help": "A name that `neardup recipes` lists, or a .toml file.",
    },
    "guard": {},
    "keep": {},
    "keep_as": {},
    "within": {},
    "cluster": {},
    "against": {
        "help": "Remove documents near this reference, which is not changed: paths as for INPUT, with the same columns; repeatable."
    },
    "audit": {
        "metavar": "PATH",
        "help": "Path of the duplicates, a folder too (OUT without its ending + .duplicates + that ending).",
    },
    "as_json": {},
    "overwrite": {},
    "quiet": {},
}
"""Those that are taken, with what they declare otherwise."""


class OnSpark(OnEngine):
    """The command on Spark."""

    name, rows = "Spark", "df"

    def session(self, *, quiet: bool) -> contextlib.AbstractContextManager[Any]:
        return session_of_command(quiet=quiet)

    def files(self, session: Any) -> "Files":
        from neardup.engines.spark.files import SparkFiles

        return SparkFiles(session)


@engine_options(formats=("parquet", "orc", "json", "csv"), workers="executors")
def _on_spark(**given: Any) -> None:
    """Remove near-duplicate documents from a corpus, on a cluster of Spark: the survivors of `neardup dedup`.

    INPUT: files, folders or globs of any path that Spark reads, in one format: .parquet, .orc, .json or .jsonl (JSON lines), .csv
    (with a header; its columns are strings). A run that failed goes on when the same call is made again.
    """
    OnSpark().run(**given)


command = command_of("neardup.spark", "Spark", _on_spark, REFUSED, CHANGED)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command, with the messages and exit codes of `neardup`."""
    return run(command, "neardup.spark", arguments, own_process=False)
