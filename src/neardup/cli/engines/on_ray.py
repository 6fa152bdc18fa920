"""The command of `python -m neardup.ray`, which `ray job submit` starts: `neardup dedup` on a cluster of Ray.

Its flags are those of `neardup dedup`, by that command's own declarations. What makes no sense on a cluster is refused by name.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.engines import on_spark
from neardup.cli.engines.on_engine import declared, demand_possible, engine_options, logged
from neardup.cli.main import run
from neardup.cli.parsing.config import add_config

if TYPE_CHECKING:
    from neardup.engines.job.outputs import Outputs

REFUSED = on_spark.REFUSED | {
    "lines": "Write the lines as rows with a text and an id: Parquet, JSON lines or CSV.",
    "elements": "Only texts are compared on Ray; `neardup dedup --elements` compares lists on one machine.",
    "unit": "Only whole documents are removed on Ray; `neardup dedup --unit` removes lines and paragraphs on one machine.",
    "threads": "Nodes run as many tasks at a time as they have CPUs: `ray start --num-cpus`.",
    "memory": "Nodes have the memory of `ray start --memory`.",
    "temp_dir": "What goes from stage to stage lies in --work; Ray's own files, where `ray start --temp-dir` says.",
}
"""The options of `neardup dedup` that are not taken, with what to do instead."""
CHANGED = on_spark.CHANGED | {
    "output": {"help": "A folder, in the format of its ending (.parquet, .jsonl, .csv)."},
}
"""Those that are taken, with what they declare otherwise."""


@engine_options(formats=("parquet", "json", "csv"), workers="nodes")
def _on_ray(
    inputs: tuple[str, ...], output: str | None, text: tuple[str, ...], id: str | None, order: tuple[str, ...],  # noqa: A002
    against: tuple[str, ...], format_: str, work: str | None, plan_only: bool, recipe: str, audit: str | None,
    as_json: bool, overwrite: bool, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Remove near-duplicate documents from a corpus, on a cluster of Ray: the survivors of `neardup dedup`.

    INPUT: files, folders or globs that all nodes read, in one format: .parquet, .json or .jsonl (JSON lines), .csv (with a
    header). The cluster is that of the variable RAY_ADDRESS, as `ray job submit` sets it, or else this machine. A run that failed
    goes on when the same call is made again.
    """
    from neardup.engines.job.paths import demand_one_format, without_ending
    from neardup.engines.job_options import Work
    from neardup.options import DedupOptions
    from neardup.recipe.presets import find_recipe

    demand_possible("Ray", output, text, (*inputs, audit), plans=plan_only)
    made = find_recipe(recipe)
    Work.of(made, DedupOptions(**chosen))  # refuses options before Ray starts
    for paths in filter(None, (inputs, against)):
        demand_one_format(paths, format_)
    stem, ending = without_ending(output or "")
    places = (output or "", audit or f"{stem}.duplicates{ending}", work or f"{stem}.work")
    with cluster(), told(quiet=quiet):
        from neardup.engines.ray.files import read
        from neardup.engines.ray.functions import plan

        given = {"text": text[0], "order": order, "recipe": made, **chosen}
        given |= _datasets(read(inputs, format_), id) | {"against": read(against, format_) if against else None}
        if plan_only:
            shown = plan(**given)
            click.echo(shown.to_json() if as_json else str(shown))
            shown.demand()
            return
        outputs = _outputs(given, places, (*inputs, *against), format_, overwrite=overwrite)
        done = _done(given, places, format_, outputs)
        shown_summary = done.summary.to_json() if as_json else str(done)
        _end(outputs, places[2], stays=work is not None)
    if as_json or not quiet:
        click.echo(shown_summary, err=not as_json)


command: click.Command = click.command(
    "neardup.ray", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)(_on_ray)
command.params = [*declared("Ray", REFUSED, CHANGED), *command.params]
add_config(command)


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


@contextlib.contextmanager
def told(*, quiet: bool) -> Iterator[None]:
    """Show the plan and each stage; and say, of what ends the job, how it goes on.

    Raises:
        DataError: the cluster failed.
        KeyboardInterrupt: the command was interrupted.
    """
    from ray.exceptions import RayError

    from neardup.engines.ray import failures
    from neardup.errors import DataError

    try:
        with logged(quiet=quiet), failures.told():
            yield
    except (OSError, MemoryError) as problem:  # with words of our own, which the command line has none for
        raise DataError(str(problem)) from problem
    except RayError as problem:
        raise DataError(
            f"Ray failed: {failures.in_a_line(problem)}. Make the same call again, and it goes on. The logs of Ray have more."
        ) from problem
    except KeyboardInterrupt:
        raise KeyboardInterrupt("make the same call again, and it goes on: finished stages are kept") from None


def _datasets(dataset: Any, name: str | None) -> dict[str, Any]:
    """The dataset and its column of ids.

    Raises:
        InputError: there is no column of ids.
    """
    from neardup.errors import InputError

    columns = dataset.columns()
    if name is None and "id" not in columns:
        raise InputError(
            f"The input has no column 'id'; it has {', '.join(map(repr, columns))}. Name the column of the ids by `id`. Without "
            "one, write the input with ids first, since rows on a cluster have no lasting numbers."
        )
    return {"dataset": dataset, "id": name or "id"}


def _outputs(
    given: dict[str, Any], places: tuple[str, str, str], read: tuple[str, ...], format_: str, *, overwrite: bool
) -> "Outputs":
    """What is to be written. `places`: output, audit, work.

    Raises:
        InputError: outputs exist, overlap with something, or cannot hold the columns.
    """
    from neardup.engines.job.folder import Folder
    from neardup.engines.job.outputs import WRITTEN, Outputs
    from neardup.engines.job.paths import demand_apart
    from neardup.engines.ray.files import demand_writable, exists, whole
    from neardup.engines.ray.sources import schema_of

    wholes = {path: whole(path) for path in places}
    there = [path for path in places[:2] if exists(path)]
    notes = Folder(places[2]).notes(WRITTEN)
    outputs = Outputs(notes, {path: wholes[path] for path in places[:2]}, there, overwrite=overwrite)
    demand_apart(wholes, {whole(path) for path in read})
    demand_writable(schema_of(given["dataset"]), places[0], format_)
    return outputs


def _done(given: dict[str, Any], places: tuple[str, str, str], format_: str, outputs: "Outputs") -> Any:
    """Run the job, and write what it gives."""
    from neardup.engines.ray.files import exists, remove, write
    from neardup.engines.ray.functions import deduplicate

    output, audit, work = places
    done = deduplicate(work=work, **given)
    outputs.begin()
    for dataset, path in ((done.duplicates, audit), (done.survivors, output)):
        if exists(path):
            remove(path)
        write(dataset, path, format_, done.engine.calls.setting)
    return done


def _end(outputs: "Outputs", work: str, *, stays: bool) -> None:
    """Note that all is written, or remove the folder of the job."""
    from neardup.engines.ray.files import remove

    if stays:
        outputs.finish()
    else:
        remove(work)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command, with the messages and exit codes of `neardup`."""
    return run(command, "neardup.ray", arguments, own_process=False)
