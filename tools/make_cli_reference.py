"""Write docs/cli.md, the reference of the command line, from the commands themselves."""

import re
from collections.abc import Iterator
from html import escape
from inspect import cleandoc
from pathlib import Path

import click

from neardup.cli.main import COMMANDS, cli

TARGET = Path(__file__).parent.parent / "docs/cli.md"
GROUPS = {
    "How the input is read": {
        *("text", "id", "elements", "html", "lines", "encoding", "dialect"),
        *("max_document_bytes", "on_error", "format", "input_format"),
    },
    "How the command runs": {
        "threads",
        "memory",
        "temp_dir",
        "temp_limit",
        "overwrite",
        "resume",
        "quiet",
        "verbose",
        "config",
    },
}
"""Options that many commands share, by heading; the other options of a command come before them."""
HEAD = """# Command line

Every command, with all options and their defaults. `neardup COMMAND --help` prints the same in a terminal. `make docs` generates
this page from the commands.

"""
CODE = re.compile(r"`([^`]+)`|(?<![\w/-])(--?[a-z][a-z-]*)(?![\w.])")
EXTRA = re.compile(r"\s*\[([^\[\]]*(?:default|required)[^\[\]]*)\]$")


def commands(name: str) -> Iterator[tuple[list[str], click.Command]]:
    """A command, and the commands in it, with the words that call each."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    yield [name], found
    if isinstance(found, click.Group):
        for inner in found.list_commands(click.Context(found)):
            command = found.get_command(click.Context(found), inner)
            assert command is not None
            yield [name, inner], command


def marked(text: str) -> str:
    """A text of a help page as HTML, with flags and what is in backticks as code."""
    return CODE.sub(lambda span: f"<code>{span[1] or span[2]}</code>", escape(text, quote=False))


def description(command: click.Command) -> str:
    """The text that explains a command, as HTML; what it lays out itself keeps its lines."""
    parts = []
    for paragraph in (command.help or "").split("\f")[0].strip().split("\n\n"):
        if "\b" in paragraph:
            parts.append(f"<pre><code>{escape(cleandoc(paragraph.replace(chr(8), '')), quote=False)}</code></pre>")
        else:
            parts.append(f"<p>{marked(' '.join(paragraph.split()))}</p>")
    return "\n".join(parts)


def values(help_text: str, choices: list[str]) -> tuple[str, list[tuple[str, str]], str]:
    """The help of an option, what it says of each of its values, if it does (`a: meaning of a; b: …`), and the rest."""
    found = [re.search(rf"(?:^|; |\. ){re.escape(each)}: ", help_text) for each in choices]
    places = [each for each in found if each is not None]
    if (
        len(places) < len(choices)
        or len(places) < 2
        or [each.start() for each in places] != sorted(each.start() for each in places)
    ):
        return help_text, [], ""
    ends = [*(each.start() for each in places[1:]), len(help_text)]
    meanings = [help_text[each.end() : end].strip("; ") for each, end in zip(places, ends, strict=True)]
    meanings[-1], _, rest = meanings[-1].partition(". ")
    before = help_text[: places[0].start()].rstrip(";.")
    return before and f"{before}:", list(zip(choices, [each.rstrip(".") for each in meanings], strict=True)), rest


def choices_of(parameter: click.Parameter) -> list[str]:
    """The values that an option may have; for a metavar such as `RULE`, those that its help explains."""
    if isinstance(parameter.type, click.Choice):
        return [str(each) for each in parameter.type.choices]
    explained = getattr(parameter, "help", None) or ""
    return re.findall(r"(?:^|[;.] )([a-z]+(?::COLUMN)?): ", explained)


def option(parameter: click.Parameter, context: click.Context, anchor: str) -> Iterator[str]:
    """The lines of an option: its flags with its value, what it does, its values, its default."""
    record = parameter.get_help_record(context)
    if record is None:
        return
    flags, help_text = (click.unstyle(each) for each in record)
    extra = EXTRA.search(help_text)
    said, meanings, rest = values(" ".join(EXTRA.sub("", help_text).split()), choices_of(parameter))
    *short, last = flags.split(", ")
    name, _, value = last.partition(" ")
    flag = "".join(f"<code>{each}</code> " for each in (*short, name))
    value = f"<var>{escape(value)}</var>" if value else ""
    note = f"<span>{escape(extra[1])}</span>" if extra else ""
    yield f'<dt id="{anchor}-{name.lstrip("-")}">{flag}{value}{note}</dt>'
    listed = "".join(f"<li><code>{escape(name)}</code>: {marked(meaning)}</li>" for name, meaning in meanings)
    yield f"<dd>{marked(said)}{f'<ul>{listed}</ul>' if listed else ''}{marked(rest)}</dd>"


def options(command: click.Command, title: str) -> Iterator[str]:
    """The options of a command, those of its own first."""
    context = click.Context(command, info_name=title)
    given = [each for each in command.params if isinstance(each, click.Option)]
    shared = {name: heading for heading, names in GROUPS.items() for name in names}
    anchor = title.removeprefix("neardup").strip().replace(" ", "-") or "neardup"
    for heading in ("Options", *GROUPS):
        group = [each for each in given if shared.get(each.name or "", "Options") == heading]
        lines = [line for each in group for line in option(each, context, anchor)]
        if lines:
            yield f'<p class="options">{heading}</p>\n<dl class="options">\n' + "\n".join(lines) + "\n</dl>"


def section(words: list[str], command: click.Command) -> str:
    """The section of a command: how it is called, what it does, its options."""
    title = " ".join(["neardup", *words])
    names = cli.context_settings["help_option_names"]  # a command remembers those that it is asked with first
    context = click.Context(command, info_name=title, terminal_width=100, help_option_names=names)
    usage = click.unstyle(command.get_usage(context)).removeprefix("Usage: ")
    usage = re.sub(r"\n\s+", " \\\n    ", usage)
    parts = [f"{'#' * (1 + max(1, len(words)))} {title}", f"```text\n{usage}\n```", description(command)]
    if isinstance(command, click.Group):
        parts.append(listing(list(summaries(command, title))))
    return "\n\n".join([*parts, *options(command, title)]) + "\n"


def summaries(group: click.Group, title: str) -> Iterator[tuple[str, str, str]]:
    """Each command of a group with its anchor and its summary."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield name, f"{title} {name}".replace(" ", "-"), command.get_short_help_str(limit=200)


def listing(rows: list[tuple[str, str, str]]) -> str:
    """A table of commands."""
    lines = [f"| [`{name}`](#{anchor}) | {marked(summary)} |" for name, anchor, summary in rows]
    return "\n".join(["| command | what it does |", "|---|---|", *lines])


def reference() -> str:
    """The page's text."""
    sections = [section(words, command) for name in COMMANDS for words, command in commands(name)]
    return HEAD + "\n".join([section([], cli), *sections])


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
