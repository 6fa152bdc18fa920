"""What the commands on engines have in common: the flags of `neardup dedup`, by that command's own declarations, and some more."""

import contextlib
import copy
import importlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import click

from neardup.cli.commands import dedup
from neardup.cli.parsing import values
from neardup.cli.parsing.config import add_config

if TYPE_CHECKING:
    from neardup.engines.job.paths import Files, Outputs


def _refuse(engine: str, refused: Mapping[str, str], _: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value not in (None, False):
        flag = parameter.opts[0]
        raise click.UsageError(f"On {engine}, {flag} is not taken. {refused[parameter.name or '']}")


def declared(
    engine: str, refused: Mapping[str, str], changed: Mapping[str, Mapping[str, Any]]
) -> Iterator[click.Parameter]:
    """The parameters of `neardup dedup`, as they are on an engine.

    Args:
        engine: its name.
        refused: the options that are not taken, with what to do instead.
        changed: those that are taken, with what they declare otherwise.
    """
    for each in dedup.command.params:
        name = each.name or ""
        if name in refused and isinstance(each, click.Option):
            names = [*each.opts, name]
            call = partial(_refuse, engine, refused)
            yield click.Option(names, is_flag=each.is_flag, hidden=True, expose_value=False, callback=call)
        elif name in changed:
            ours = copy.copy(each)
            for field, value in changed[name].items():
                setattr(ours, field, value)
            yield ours


def _demand_possible(
    engine: str, output: str | None, text: Sequence[str], given: Sequence[str | None], *, plans: bool
) -> None:
    """Refuse a call that no engine can do. `given`: all paths; `plans`: whether nothing is to run.

    Raises:
        click.UsageError: it is one.
    """
    if output is None and not plans:
        raise click.UsageError("Give -o OUT, or --plan to run nothing.")
    if "-" in (*given, output):
        raise click.UsageError(
            f"A cluster has no standard input and output: give paths that {engine} reads and writes."
        )
    if len(text) != 1:
        raise click.UsageError(f"--text: on {engine}, texts are in one column. Join several first, and name that one.")


@contextlib.contextmanager
def _logged(*, quiet: bool) -> Iterator[None]:
    """Show the plan and each stage, as the logger tells of them."""
    logger, lines = logging.getLogger("neardup"), _Lines()
    before = logger.level
    if not quiet:
        logger.addHandler(lines)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.setLevel(before)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        click.echo(record.getMessage(), err=True)


def engine_options(*, formats: Sequence[str], workers: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put the options to a function that all commands on engines have. `workers`: what runs tasks, in the words of the engine."""
    found = [
        click.option(
            "--order",
            multiple=True,
            metavar="COLUMN",
            type=values.COLUMN,
            help="Column by which the documents are in order, then by id; repeatable (the paths of files, and the rows in them).",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(list(formats)),
            default="parquet",
            show_default=True,
            help="Format of paths whose ending tells none; json is JSON lines.",
        ),
        click.option(
            "--work",
            metavar="DIR",
            type=values.FILE,
            help=f"Folder that all {workers} read and write, for what goes from stage to stage; it stays (OUT without its ending + "
            ".work, which is removed at the end).",
        ),
        click.option("--plan", "plan_only", is_flag=True, help="Show what the job takes, and run nothing."),
    ]

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(found):
            function = option(function)
        return function

    return put


class Places(NamedTuple):
    """Paths that a command writes, and those that it reads; the format of those whose ending tells none."""

    output: str
    audit: str
    work: str
    read: Sequence[str]
    format: str
    overwrite: bool


class OnEngine(ABC):
    """A command on an engine.

    Attributes:
        name: of the engine.
        rows: the argument of its functions that holds the rows.
    """

    name: ClassVar[str]
    rows: ClassVar[str]

    @abstractmethod
    def session(self, *, quiet: bool) -> contextlib.AbstractContextManager[Any]:
        """What runs the job, until the command ends. `quiet`: whether it is to say nothing itself."""

    def module(self, name: str) -> Any:
        """A module of the engine, imported on use."""
        return importlib.import_module(f"neardup.engines.{self.name.lower()}.{name}")

    @abstractmethod
    def files(self, session: Any) -> "Files":
        """What reads and writes files."""

    def run(
        self, inputs: tuple[str, ...], output: str | None, text: tuple[str, ...], id: str | None, order: tuple[str, ...],  # noqa: A002
        against: tuple[str, ...], format_: str, work: str | None, plan_only: bool, recipe: str, audit: str | None,
        as_json: bool, overwrite: bool, quiet: bool, **chosen: Any,
    ) -> None:  # fmt: skip
        """Run the command."""
        from neardup.engines.job.paths import demand_one_format, without_ending
        from neardup.engines.job_options import Work
        from neardup.options import DedupOptions
        from neardup.recipe.presets import find_recipe

        _demand_possible(self.name, output, text, (*inputs, audit), plans=plan_only)
        made = find_recipe(recipe)
        Work.of(made, DedupOptions(**chosen))  # refuses options before the engine starts
        for paths in filter(None, (inputs, against)):
            demand_one_format(paths, format_)
        stem, ending = without_ending(output or "")
        paths = (output or "", audit or f"{stem}.duplicates{ending}", work or f"{stem}.work")
        places = Places(*paths, (*inputs, *against), format_, overwrite)
        done = ["nothing was written: the plan alone was asked for"] if plan_only else []
        with self._reporting(done, quiet=quiet), self.session(quiet=quiet) as session:
            given = {"text": text[0], "order": order, "recipe": made, **chosen}
            files = self.files(session)
            given |= self._rows(files, inputs, format_, id)
            given["against"] = files.read(against, format_) if against else None
            if plan_only:
                shown = self.module("functions").plan(**given)
                click.echo(shown.to_json() if as_json else str(shown))
                shown.demand()
                return
            outputs = self._outputs(files, given, places)
            found = self.module("functions").deduplicate(work=places.work, **given)
            with files.translated_errors():
                outputs.begin()
                for rows, path in ((found.duplicates, places.audit), (found.survivors, places.output)):
                    files.write(rows, path, format_, overwrite=path in outputs.replaced)
            done.append(f"{places.output} and {places.audit} are complete")
            shown_summary = found.summary.to_json() if as_json else str(found)
            found.close()
            if work is None:
                files.remove(places.work)
            else:
                outputs.finish()
        if as_json or not quiet:
            click.echo(shown_summary, err=not as_json)

    def _outputs(self, files: "Files", given: Mapping[str, Any], places: Places) -> "Outputs":
        """What is to be written.

        Raises:
            InputError: outputs exist, overlap with something, or cannot hold the columns.
        """
        from neardup.engines.job.paths import WRITTEN, Outputs, demand_apart

        wholes = {path: files.whole(path) for path in (places.output, places.audit, places.work)}
        written = {path: wholes[path] for path in (places.output, places.audit)}
        there = [path for path in written if files.exists(path)]
        outputs = Outputs(files.notes(places.work, WRITTEN), written, there, overwrite=places.overwrite)
        inputs = [rows for rows in (given[self.rows], given["against"]) if rows is not None]
        demand_apart(
            wholes, {*map(files.whole, places.read), *(path for rows in inputs for path in files.sources(rows))}
        )
        files.demand_writable(given[self.rows], places.output, places.format)
        return outputs

    def _rows(self, files: "Files", paths: Sequence[str], format_: str, name: str | None) -> dict[str, Any]:
        """The rows and their column of ids, as arguments.

        Raises:
            InputError: there is no column of ids.
        """
        from neardup.errors import InputError

        rows = files.read(paths, format_)
        columns = files.columns(rows)
        if name is None and "id" not in columns:
            raise InputError(
                f"The input has no column 'id'; it has {', '.join(map(repr, columns))}. Name the column of the ids by `id`. "
                "Without one, write the input with ids first, since rows on a cluster have no lasting numbers."
            )
        return {self.rows: rows, "id": name or "id"}

    @contextlib.contextmanager
    def _reporting(self, done: Sequence[str], *, quiet: bool) -> Iterator[None]:
        """Show the plan and each stage, as the logger tells of them; and say, of what ends the job, how it goes on.

        `done`: what else is to be said of an interrupt.

        Raises:
            DataError: the cluster failed.
            KeyboardInterrupt: the command was interrupted.
        """
        from neardup.errors import DataError

        try:
            with _logged(quiet=quiet), self.module("failures").translated_errors():
                yield
        except OSError as problem:  # with words of our own, which the command line has none for
            raise DataError(problem.strerror or str(problem)) from problem
        except MemoryError as problem:
            raise DataError(str(problem)) from problem
        except KeyboardInterrupt:
            goes_on = "make the same call again, and it goes on: finished stages are kept"
            raise KeyboardInterrupt("; ".join(done) or goes_on) from None


def command_of(
    name: str,
    engine: str,
    function: Callable[..., Any],
    refused: Mapping[str, str],
    changed: Mapping[str, Mapping[str, Any]],
) -> click.Command:
    """A function with `engine_options` as a command, with the parameters of `neardup dedup` that are `declared`."""
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
    command: click.Command = click.command(name, context_settings=settings)(function)
    command.params = [*declared(engine, refused, changed), *command.params]
    add_config(command)
    return command
