"""What the values of options and arguments are, so that shells complete them: files, columns, recipes, similarities.

Tables of names are imported when a shell asks for them: to call a command takes none.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # cannot be subscripted before click 8.4


def _beginning(incomplete: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class _Word(ParamType):
    """A word that is no flag: an option whose value is forgotten takes the flag that comes next."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value as it is."""
        if isinstance(param, click.Option) and ctx is not None and isinstance(value, str) and value[:1] == "-":
            flags = {flag for each in ctx.command.params for flag in each.opts}
            if value in flags:
                flag = min(param.opts, key=len)
                what = param.metavar or self.name.upper()
                raise click.UsageError(f"{flag} {value}: give {what} after {flag}; {value} is another flag.", ctx)
        return value


class _Number(ParamType):
    """A number. A comma in the place of the point, and a percentage, come with the number that may be meant."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Turn the value into a number."""
        try:
            return float(value)
        except (ValueError, TypeError):
            self.fail(f"{value!r} is not a valid number{self._meant(str(value).strip())}.", param, ctx)

    def _meant(self, given: str) -> str:
        try:
            number = float(given.rstrip("%").replace(",", "."))
        except ValueError:
            return "; give one such as 0.8"
        return f" (did you mean {number / 100 if given.endswith('%') else number:g}?)"


class _Percentage(ParamType):
    """A share from 0 to 1, which may be written as a percentage: `0.1%` is 0.001."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Turn the value into a share."""
        given = str(value).strip()
        try:
            share = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
        except ValueError:
            self.fail(f"{value!r} is not a share; give one such as 0.1% or 0.001.", param, ctx)
        if not 0 <= share <= 1:
            meant = f" (did you mean {given}%?)" if 1 < share <= 100 else ""
            self.fail(f"{value!r} is not a share from 0 to 1; give one such as 0.1% or 0.001{meant}.", param, ctx)
        return share


class _File(_Word):
    """The name of a file or a folder, or a glob, as it was typed; the jobs say what is wrong with it."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return [CompletionItem(incomplete, type="file")]


class _Column(_Word):
    """The name of a column, of the inputs or of what another option names."""

    name = "column"

    def __init__(self, of: str = "inputs") -> None:
        self._of = of

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return _beginning(incomplete, typed_columns(ctx, self._of))


def typed_columns(context: click.Context, of: str) -> list[str]:
    """The columns of the inputs that are typed already, or of what the option `of` names."""
    from neardup.cli.parsing.column_names import column_names

    given = context.params.get(of) or context.params.get("documents")
    if of == "inputs" and not given:  # words are no arguments yet while an option lacks its value
        arguments = [each for each in context.command.params if isinstance(each, click.Argument)]
        given = context.args[next((i for i, each in enumerate(arguments) if each.nargs == -1), 0) :]
    return column_names(map(str, given or ()), str(context.params.get("encoding") or "utf-8"))


class _Named(_Word):
    """What a table has by name, or a file."""

    def __init__(self, name: str, names: Callable[[], Iterable[str]]) -> None:
        self.name, self._names = name, names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return _beginning(incomplete, self._names()) or [CompletionItem(incomplete, type="file")]


def _recipes() -> Iterable[str]:
    from neardup.recipe.presets import RECIPES

    return RECIPES


def _similarities() -> Iterable[str]:
    from neardup.recipe.tables.similarities import SIMILARITIES

    return SIMILARITIES


class _Keep(_Word):
    """A rule of preference, in which a column may stand."""

    name = "rule"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        from neardup.recipe.tables.keeps import KEEPS

        rule, colon, _ = incomplete.partition(":")
        if colon and f"{rule}:COLUMN" in KEEPS:
            return _beginning(incomplete, (f"{rule}:{name}" for name in typed_columns(ctx, "inputs")))
        return _beginning(incomplete, (name.removesuffix("COLUMN") for name in KEEPS))


FILE, NUMBER, PERCENTAGE = _File(), _Number(), _Percentage()
COLUMN, REFERENCE_COLUMN = _Column(), _Column("against")
RECIPE, SIMILARITY, KEEP = _Named("recipe", _recipes), _Named("similarity", _similarities), _Keep()


class Names(ParamType):
    """An option type for names separated by commas."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:  # noqa: ARG002
        """Split the value into names."""
        return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


class Numbers(ParamType):
    """An option type for integers separated by commas."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Split the value into integers."""
        try:
            return tuple(map(int, value.split(","))) if isinstance(value, str) else tuple(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid integer, and no list of them with commas between.", param, ctx)
