"""Commands shown in a page: one repeats the run, one evaluates it by labels."""

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from neardup.errors import OptionError
from neardup.io.corpora.reading import READING, Reading
from neardup.io.endings import AUDIT_ENDING
from neardup.io.outputs.output_names import stem
from neardup.options import DedupOptions
from neardup.recipe.given_elements import recipe_of_elements
from neardup.recipe.presets import RECIPES

MAX_COMMAND_BYTES = 20_000
"""In a longer command some inputs are left out, and a note says so."""

LONG_LIST_BYTES = 2_000
"""For a list of inputs with more bytes, a command in a sentence shows only the first SHOWN_INPUTS and an ellipsis."""

SHOWN_INPUTS = 5


def command_of(summary: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the command and notes for running it; the command is empty if options were functions."""
    options, files, notes = summary["options"], summary["files"], list[str]()
    plain, given = DedupOptions(), dict[str, Any]()
    for name in ("keep", "within"):
        if str(options[name]).endswith("()"):
            return "", [f"{name} was a function, {options[name]}: the run was made in Python."]
    staged = "clusters" in files
    if not staged:
        given = {name: value for name, value in options.items() if value != _plain(getattr(plain, name))}
        given |= _similarity(options["similarity"], files, notes)
    given |= _reading(files)
    words = ["neardup", "apply", files["clusters"]] if staged else ["neardup", "dedup"]
    flags = flags_of(given)
    if not staged:
        known = _known_recipes(files)
        recipe = known.get(summary["recipe"]["digest"])
        if recipe is None:
            recipe = "recipe.toml"
            notes.append("recipe.toml has the fields of the recipe above.")
        flags += ["--recipe", recipe] if recipe != "default" else []
        for reference in files.get("against", ()):
            flags += ["--against", reference]
        flags += ["--prefer", files["prefer"]] if "prefer" in files else []
        flags += ["--on-error", "skip"] if files["rejects"] else []
    output, audit = files["output"], files["audit"]
    end = ["-o", output] if output else ["--dry-run"]
    if output and audit and audit != (stem(output) + AUDIT_ENDING if output != "-" else None):
        end += ["--audit", audit]
    end += ["--report", files["report"]] if files.get("report") else []
    end += ["--report-by", files["report_by"]] if files.get("report") and files.get("report_by") else []
    notes.append("Outputs that exist are refused: name others, or add --overwrite.")
    inputs = list(files["inputs"])
    if "-" in inputs:
        notes.append("The texts came from standard input.")
    if files["html"] is not None:
        notes.append("The texts were HTML.")
    text = shlex.join([*words, *inputs, *end, *flags])
    if len(text.encode("utf-8", "replace")) > MAX_COMMAND_BYTES:
        shown = inputs[:20] if len("".join(inputs[:20])) < MAX_COMMAND_BYTES // 2 else inputs[:1]
        notes.append(
            f"{len(inputs) - len(shown):,} of {len(inputs):,} inputs are left out here; the summary has them all."
        )
        text = shlex.join([*words, *shown]) + " … " + shlex.join([*end, *flags])
        if len(text.encode("utf-8", "replace")) > MAX_COMMAND_BYTES:
            return "", ["The command is too long to be shown; the summary has all options."]
    return text, notes


def _similarity(recorded: Any, files: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """The option for a similarity that is not named: that of given elements by its measure, others by a file to be written."""
    if isinstance(recorded, str):
        return {}
    if files.get("elements") is not None:
        measure = recorded["measure"]
        return {"similarity": None if measure == DedupOptions().measure else measure}
    notes.append("similarity.toml has the fields of the similarity above.")
    return {"similarity": "similarity.toml"}


def _known_recipes(files: dict[str, Any]) -> dict[str, str]:
    """The names of recipes by their digests; for given elements, those of which elements are the features."""
    named = {name: each.recipe for name, each in RECIPES.items()}
    if files.get("elements") is None:
        return {recipe.digest(): name for name, recipe in named.items()}
    found = {}
    for name, recipe in named.items():
        with contextlib.suppress(OptionError):  # a recipe of texts only
            found[recipe_of_elements(recipe).digest()] = name
    return found


def evaluate_command(summary: dict[str, Any], inputs: Sequence[str]) -> str:
    """The command that uses labels of the pairs; `inputs`: the files that hold the documents of the pairs."""
    flags = flags_of(_reading(summary["files"]))
    if summary["files"]["rejects"] or summary["rejected"]:
        flags += ["--on-error", "skip"]
    is_long = len(inputs) > SHOWN_INPUTS and len(shlex.join(inputs).encode("utf-8", "replace")) > LONG_LIST_BYTES
    shown = shlex.join(inputs[:SHOWN_INPUTS]) + " …" if is_long else shlex.join(inputs)
    return f"neardup evaluate {shown} {shlex.join(['--pairs', 'labels.csv', *flags])}"


def _reading(files: dict[str, Any]) -> dict[str, Any]:
    """The reading options that differ from the defaults."""
    usual = Reading()
    return {name: files[name] for name in READING if name in files and files[name] != _plain(getattr(usual, name))}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def flags_of(given: Mapping[str, Any]) -> list[str]:
    """Options of the command line for options in Python."""
    flags: list[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if name == "text":
            for column in value:
                flags += [flag, str(column)]
        elif isinstance(value, bool):
            flags += [flag] if value else []
        elif value is not None:
            flags += [flag, ",".join(value) if isinstance(value, list | tuple) else str(value)]
    return flags
