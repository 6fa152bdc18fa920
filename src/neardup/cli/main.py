"""The command line: one file per command, imported when it is called, so that `--help` is immediate."""

import atexit
import contextlib
import difflib
import errno
import gc
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from neardup.cli.parsing.config import add_config
from neardup.cli.parsing.flags import called, in_flags
from neardup.cli.shown.interruption import EXIT_INTERRUPTED, clean_end, told
from neardup.cli.shown.terminal import TerminalContext, colors, error_line
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.errors import NeardupError

COMMANDS = {
    "dedup": "Remove near-duplicate documents from a corpus.",
    "passages": "Cut passages that stood earlier out of documents.",
    "split": "Split documents into train and test without leaks.",
    "leaks": "Find test documents that are in the training set.",
    "decontaminate": "Remove documents that hold items of a benchmark.",
    "fingerprint": "Write the fingerprint of every document.",
    "fit": "Count in how many documents each feature occurs.",
    "pairs": "List the pairs of near-duplicate documents.",
    "clusters": "Decide which documents survive, from pairs and fingerprints.",
    "apply": "Write the survivors of shards, from their clusters.",
    "compare": "Compare two texts and show every step.",
    "explain": "Say why a document was removed, or why it was not.",
    "verify": "Prove a finished run from its inputs, output and audit.",
    "report": "Write an HTML report of a run.",
    "diff": "Compare two runs: what only one of them removed.",
    "reproduce": "Run again what a summary records, and compare the bytes.",
    "evaluate": "Measure precision and recall, and recommend options.",
    "plan": "Estimate the time, memory and disk that a run takes.",
    "index": "Keep a Hamming index on disk, and search it.",
    "store": "Remember documents, and decide new ones by similarity.",
    "filter": "Pass on new documents, and remember them.",
    "serve": "Serve stores over HTTP.",
    "mcp": "Serve a store to agents, as tools of MCP.",
    "recipes": "List the named recipes.",
    "demo": "De-duplicate a small corpus, and show what was found.",
    "warmup": "Compile all kernels now, where they do not come compiled.",
    "completion": "Print a script for completion in bash, zsh or fish.",
}
"""The commands with their summaries."""
FOLDERS = {
    "commands.stages": ("fingerprint", "fit", "pairs", "clusters", "apply", "index"),
    "commands.store": ("store", "filter", "serve", "mcp"),
    "commands.runs": ("diff", "reproduce"),
}
"""Those whose modules are not in `commands`. A command is the `command` of the module of its name."""

EXIT_CALL, EXIT_DATA = 2, 1


class _Commands(click.Group):
    context_class = TerminalContext

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        folder = next((folder for folder, names in FOLDERS.items() if name in names), "commands")
        found: click.Command = importlib.import_module(f"neardup.cli.{folder}.{name}").command
        add_config(found)
        return found

    def resolve_command(
        self, context: click.Context, given: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = [] if given[0] in COMMANDS else difflib.get_close_matches(given[0], COMMANDS, 1)
        if near:
            raise click.UsageError(f"No such command {given[0]!r}. Did you mean {near[0]!r}?", context)
        return super().resolve_command(context, given)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"neardup {__version__}")
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Find near-duplicate texts, and de-duplicate corpora.

    Exit codes: 0 done; 2 something in the call must change; 1 the data or the machine failed; 130 interrupted.
    """


_WITHOUT_PANDAS = ("neardup", "pyarrow")


class _WithoutPandas:
    """Finds nothing, and refuses pandas to Arrow, which imports it for nothing, in half a second: no command hands it a data frame.

    When it converts its first list, Arrow imports pandas if that is installed, to know its types. What it imports by itself, it
    imports in the name of its caller. All other importers find pandas, as functions of the user's in a recipe.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        if name != "pandas":
            return
        frame: Any = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_globals.get("__name__", ""):
            frame = frame.f_back
        if frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WITHOUT_PANDAS:
            raise ModuleNotFoundError("Arrow needs no pandas in a command", name=name)


def _exit(code: int, message: str = "") -> NoReturn:
    with contextlib.suppress(OSError):  # standard error may be closed
        if message:
            click.echo(error_line(message), err=True, color=colors())
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed before the program began
            continue
        try:
            stream.flush()
        except OSError:  # the interpreter would flush again at exit, and complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def _of_package(problem: "NeardupError", command: click.Command, arguments: list[str] | None) -> str:
    from neardup.recipe.recipe import ImpossibleRecipe

    if isinstance(problem, ImpossibleRecipe):  # its fields have the names of options, but no flags
        return str(problem)
    return in_flags(str(problem), _called(command, arguments))


def _called(command: click.Command, arguments: list[str] | None) -> click.Command:
    return called(command, sys.argv[1:] if arguments is None else arguments)


def _of_machine(problem: OSError) -> str:
    place = f"{problem.filename}: " if problem.filename else ""
    message = f"{place}{problem.strerror or problem}"
    if os.strerror(errno.ENOSPC) in message or problem.errno == errno.EDQUOT:
        message += (
            ". Make room where the output and the temporary files go, or choose other folders with -o and --temp-dir."
        )
    return message


class _Messages(io.RawIOBase):
    """Standard error, whose messages are lost where it takes no more: that is no reason to stop a run, or to fail after it."""

    def __init__(self, number: int) -> None:
        self._number = number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        try:
            return os.write(self._number, data)
        except OSError:
            return len(data)


def _prepare_streams() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file to be opened would get this number, and what is printed
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    err = sys.stderr
    if err is sys.__stderr__ and isinstance(err, io.TextIOWrapper):  # not what a caller has put there
        messages = io.BufferedWriter(_Messages(err.fileno()))
        sys.stderr = io.TextIOWrapper(messages, err.encoding, err.errors, line_buffering=True)
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper):
        return
    if isinstance(out.buffer, io.RawIOBase):  # PYTHONUNBUFFERED: writes may be partial, unnoticed
        sys.stdout = out = open(out.fileno(), "w", encoding=out.encoding, closefd=False)  # noqa: SIM115
    out.reconfigure(errors="backslashreplace")  # the terminal's encoding may lack characters of a text


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line."""
    return run(cli, "neardup", arguments, own_process=arguments is None)


def run(command: click.Command, name: str, arguments: list[str] | None, *, own_process: bool) -> Any:
    """Run a command; every expected failure becomes a message on standard error and an exit code.

    Args:
        command: the command.
        name: what its help calls it.
        arguments: its words; None for those of the process.
        own_process: whether the process has nothing else to do, nor to end: an interrupt then ends it at once.
    """
    from neardup.errors import DataError, NeardupError, TransferError

    _prepare_streams()
    if own_process and "_NEARDUP_COMPLETE" in os.environ:
        from neardup.cli.commands.completion import answer

        answer(command, name)
    if own_process:
        if _WithoutPandas not in sys.meta_path:
            sys.meta_path.insert(0, _WithoutPandas)  # until the process ends
        # With colorama, Numba would write a reset of colors to the terminal at the end, even under NO_COLOR.
        os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
        # at the end, no search for cycles among all that was loaded: a tenth of a short command
        atexit.register(gc.freeze)
    try:
        with clean_end(own_process=own_process):
            return command.main(arguments, prog_name=name, standalone_mode=False, color=colors())
    except getattr(click.exceptions, "NoArgsIsHelpError", ()) as problem:
        problem.show()
        _exit(EXIT_CALL)
    except click.ClickException as problem:
        from neardup.cli.parsing.call_problems import call_problem

        _exit(EXIT_CALL, call_problem(problem, _called(command, arguments)))
    except (click.Abort, KeyboardInterrupt) as problem:
        interrupt = problem.__cause__ if isinstance(problem, click.Abort) else problem
        _exit(EXIT_INTERRUPTED, told(str(interrupt or "")))
    except NeardupError as problem:
        _exit(
            EXIT_DATA if isinstance(problem, DataError | TransferError) else EXIT_CALL,
            _of_package(problem, command, arguments),
        )
    except BrokenPipeError:
        _exit(EXIT_DATA)
    except OSError as problem:
        _exit(EXIT_DATA, _of_machine(problem))
    except MemoryError:
        _exit(EXIT_DATA, "out of memory; split the input, or run on a larger machine")
