"""The command of `spark-submit …/neardup/spark.py` and `python -m neardup.spark`: `neardup dedup` on a cluster of Spark.

Its flags are those of `neardup dedup`, by that command's own declarations. What makes no sense on a cluster is refused by name.
"""

from typing import TYPE_CHECKING, Any

import click

from neardup.cli.engines.on_engine import declared, demand_possible, engine_options
from neardup.cli.engines.spark_session import session_of_command, told
from neardup.cli.main import run
from neardup.cli.parsing.config import add_config

if TYPE_CHECKING:
    from neardup.engines.job.plan import Plan
    from neardup.engines.spark.outputs import Outputs
    from neardup.engines.spark.result import SparkResult

REFUSED = {
    "html": "Take the texts out of the pages first, and give a column of these.",
    "lines": "Write the lines as rows with a text and an id: Parquet, ORC, JSON lines or CSV.",
    "encoding": "Inputs are read as UTF-8. Convert them first.",
    "dialect": "CSV has a header, commas, and double quotes, which are doubled inside quotes. Convert other dialects first.",
    "max_document_bytes": "A row has to fit the memory of a task. Take longer texts out of the inputs first.",
    "elements": "Only texts are compared on Spark; `neardup dedup --elements` compares lists on one machine.",
    "prefer_source": "Give the inputs a column that says how good a source is, and --keep max:COLUMN.",
    "verbose": "The summary has every stage with its time and bytes.",
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
    "keep": {},
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


@engine_options(formats=("parquet", "orc", "json", "csv"), workers="executors")
def _on_spark(
    inputs: tuple[str, ...], output: str | None, text: tuple[str, ...], id: str | None, order: tuple[str, ...],  # noqa: A002
    against: tuple[str, ...], format_: str, work: str | None, plan_only: bool, recipe: str, audit: str | None,
    as_json: bool, overwrite: bool, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Remove near-duplicate documents from a corpus, on a cluster of Spark: the survivors of `neardup dedup`.

    INPUT: files, folders or globs of any path that Spark reads, in one format: .parquet, .orc, .json or .jsonl (JSON lines), .csv
    (with a header; its columns are strings). A run that failed goes on when the same call is made again.
    """
    from neardup.engines.job.paths import demand_one_format, without_ending
    from neardup.engines.job_options import Work
    from neardup.engines.spark.files import remove
    from neardup.options import DedupOptions
    from neardup.recipe.presets import find_recipe

    demand_possible("Spark", output, text, (*inputs, audit), plans=plan_only)
    made = find_recipe(recipe)
    Work.of(made, DedupOptions(**chosen))  # refuses options before Spark starts
    for paths in filter(None, (inputs, against)):
        demand_one_format(paths, format_)
    stem, ending = without_ending(output or "")
    audit, own_work = audit or f"{stem}.duplicates{ending}", None if work else f"{stem}.work"
    with session_of_command() as session, told(quiet=quiet):
        given = {"text": text[0], "order": order, "recipe": made, **chosen}
        frames = _frames(session, inputs, against, id, format_, given)
        if plan_only:
            shown = _plan(given)
            click.echo(shown.to_json() if as_json else str(shown))
            shown.demand()
            return
        assert output is not None
        places = (output, audit, work or own_work or "")
        outputs = _outputs(session, frames, places, (*inputs, *against), format_, overwrite=overwrite)
        done = _done(session, given, places, format_, outputs)
        shown_summary = done.summary.to_json() if as_json else str(done)
        done.close()
        if own_work:
            remove(session, own_work)
        else:
            outputs.finish()
    if as_json or not quiet:
        click.echo(shown_summary, err=not as_json)


command: click.Command = click.command(
    "neardup.spark", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)(_on_spark)
command.params = [*declared("Spark", REFUSED, CHANGED), *command.params]
add_config(command)


def _frames(
    session: Any,
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    name: str | None,
    format_: str,
    given: dict[str, Any],
) -> list[Any]:
    """Put the frames and the column of ids to what is given; and return the frames.

    Raises:
        InputError: there is no column of ids.
    """
    from neardup.engines.spark.files import read
    from neardup.errors import InputError

    frame = read(session, inputs, format_)
    if name is None and "id" not in frame.columns:
        raise InputError(
            f"The input has no column 'id'; it has {', '.join(map(repr, frame.columns))}. Name the column of the ids by `id`. "
            "Without one, write the input with ids first, since rows on a cluster have no lasting numbers."
        )
    given |= {"df": frame, "id": name or "id", "against": read(session, against, format_) if against else None}
    return [frame, *([given["against"]] if against else [])]


def _outputs(
    session: Any,
    frames: list[Any],
    places: tuple[str, str, str],
    read: tuple[str, ...],
    format_: str,
    *,
    overwrite: bool,
) -> "Outputs":
    """What is to be written. `places`: output, audit, work.

    Raises:
        InputError: outputs exist, overlap with something, or cannot hold the columns.
    """
    from neardup.engines.spark.files import demand_apart, demand_writable
    from neardup.engines.spark.outputs import Outputs

    outputs = Outputs(session, places[2], places[:2], overwrite=overwrite)
    demand_apart(session, places, frames, read)
    demand_writable(frames[0], places[0], format_)
    return outputs


def _plan(given: dict[str, Any]) -> "Plan":
    from neardup.engines.spark.functions import plan

    return plan(**given)


def _done(
    session: Any, given: dict[str, Any], places: tuple[str, str, str], format_: str, outputs: "Outputs"
) -> "SparkResult":
    """Run the job, and write what it gives."""
    from neardup.engines.spark import failures
    from neardup.engines.spark.functions import deduplicate

    output, audit, work = places
    done = deduplicate(work=work, **given)
    with failures.told(session):
        outputs.begin()
        outputs.write(done.duplicates, audit, format_)
        outputs.write(done.survivors, output, format_)
    return done


def main(arguments: list[str] | None = None) -> Any:
    """Run the command, with the messages and exit codes of `neardup`."""
    return run(command, "neardup.spark", arguments, own_process=False)
