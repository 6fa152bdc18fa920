"""CALLS: the function and the arguments that a summary records."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from neardup.display import as_code
from neardup.errors import DECODER_ERRORS, DataError, InputError, NeardupError, OptionError
from neardup.io.corpora.reading import READING, Reading, UnitReadingDict, stored_reading
from neardup.io.corpora.stored_shards import recorded_reading
from neardup.io.endings import AUDIT_ENDING, CONTAMINATION_ENDING, PASSAGES_ENDING, split_ending
from neardup.io.outputs.output_names import output_folder, stem
from neardup.io.storage.places import Place
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.options import DedupOptions
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import stored_similarity
from neardup.recipe.tables.parts import VERSION
from neardup.resources.resources import ResourceOptions
from neardup.survivors.repeats.options import PassageOptions

COSTS = tuple(ResourceOptions.__annotations__)
"""Options that never change a result: those of now are taken."""
_ENDINGS = {"passages": PASSAGES_ENDING, "decontaminate": CONTAMINATION_ENDING}


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call.

    Attributes:
        command: the command that made the run.
        function: what does such a run again.
        inputs: the inputs as they were named.
        reading: how they are read.
        arguments: the other arguments, without those about outputs.
    """

    command: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    reading: Reading
    arguments: dict[str, Any]


def recorded_call(path: Place, command: str, summary: Mapping[str, Any], recipe: RecipeLike | None) -> Call:
    """The call that a summary records.

    Raises:
        InputError: the summary does not record all of it, or the run read standard input or wrote nothing.
        OptionError: an option was a function, which no summary has.
        RecipeMismatch: this version makes another recipe of the recorded one, or another is given.
        DataError: the summary is damaged.
    """
    files = summary["files"]
    if command not in _CALLS:
        raise InputError(f"{path} was written by `neardup {command}`. Done again are runs of {as_code(_CALLS)}.")
    if files.get("output") is None:
        raise InputError(f"{path} is of a dry run, which wrote nothing. Give the summary of a run that wrote files.")
    if "asked" not in files or "written" not in files:
        raise InputError(
            f"{path} is of an older version of neardup, which did not record `files.asked` and `files.written`: how the run was "
            "called, and digests of what it wrote. Run it once more by hand, and keep the new summary."
        )
    if "-" in files["inputs"]:
        raise InputError(f"{path}: the run read standard input, which cannot be read again. Run it on files.")
    try:
        for name in ("keep", "within"):
            if str(value := summary["options"].get(name)).endswith("()"):
                raise OptionError(
                    f"{path}: {name} was a function, {value}, of which only the name is recorded. Do the run again where it is."
                )
        reading = stored_reading(files)
        function, arguments = _CALLS[command](summary, reading, recipe)
        return Call(command, function, tuple(files["inputs"]), reading, arguments)
    except DECODER_ERRORS as problem:
        if isinstance(problem, NeardupError):
            raise
        raise DataError(f"{path} is not a whole summary: {problem}. Run again.") from None


Made = tuple[Callable[..., Any], dict[str, Any]]
"""A function, and the arguments that a summary records for it."""


def _dedup(summary: Mapping[str, Any], reading: Reading, recipe: RecipeLike | None) -> Made:
    files, asked = summary["files"], summary["files"]["asked"]
    given = _options(DedupOptions, summary) | {
        "similarity": _similarity(summary, reading),
        "on_error": asked["on_error"],
    }
    given["recipe"] = recipe_of_run(summary["recipe"], recipe, "The run")
    if "unit" in summary:
        from neardup.jobs.removal.units import deduplicate_units

        names = UnitReadingDict.__annotations__
        return deduplicate_units, given | _reading(reading, names) | {"unit": summary["unit"]}
    from neardup.jobs.removal.dedup import deduplicate_files

    given |= {"annotate": asked["annotate"], "against": files.get("against", [])}
    given |= {"prefer": files["prefer"]} if "prefer" in files else {}
    return deduplicate_files, given | _reading(reading, READING)


def _apply(summary: Mapping[str, Any], reading: Reading, _: RecipeLike | None) -> Made:
    from neardup.jobs.removal.apply import apply_files

    files = summary["files"]
    return apply_files, {"clusters": files["clusters"], "annotate": files["asked"]["annotate"]} | recorded_reading(
        reading
    )


def _passages(summary: Mapping[str, Any], reading: Reading, recipe: RecipeLike | None) -> Made:
    from neardup.jobs.removal.passages import passages_files

    files, asked = summary["files"], summary["files"]["asked"]
    given = _options(PassageOptions, summary) | {"similarity": _similarity(summary, reading)} | asked
    del given["command"]
    given |= {"recipe": recipe_of_run(summary["recipe"], recipe, "The run"), "against": files.get("against", [])}
    return passages_files, given | _reading(reading, [name for name in READING if name != "elements"])


def _decontaminate(summary: Mapping[str, Any], reading: Reading, recipe: RecipeLike | None) -> Made:
    from neardup.jobs.removal.decontaminate import decontaminate_files

    files, asked = summary["files"], summary["files"]["asked"]
    given = _options(DecontaminationOptions, summary) | {name: asked[name] for name in ("annotate", "on_error")}
    given["recipe"] = Recipe(version=summary["options"].get("version", VERSION)) if recipe is None else recipe
    given |= {name: files[name] for name in ("against", "against_text", "against_id")}
    return decontaminate_files, given | _reading(reading, [name for name in READING if name != "elements"])


def _split(summary: Mapping[str, Any], reading: Reading, recipe: RecipeLike | None) -> Made:
    from neardup.jobs.splits.split_files import split_files

    files, options = summary["files"], summary["options"]
    given = {name: options[name] for name in ("shares", "seed", "stratify", "group", "min_similarity", "within")}
    given |= {
        "similarity": _similarity(summary, reading),
        "recipe": recipe_of_run(summary["recipe"], recipe, "The run"),
    }
    given |= {"previous": files.get("previous", []), "on_error": files["asked"]["on_error"]}
    return split_files, given | _reading(reading, READING)


_CALLS: dict[str, Callable[[Mapping[str, Any], Reading, RecipeLike | None], Made]] = {
    "dedup": _dedup,
    "apply": _apply,
    "passages": _passages,
    "decontaminate": _decontaminate,
    "split": _split,
}


def _options(kind: type[Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded options that are fields of `kind`, without those that change no result."""
    known = {field.name for field in dataclasses.fields(kind)} - {*COSTS, "recipe"}
    return {name: value for name, value in summary["options"].items() if name in known}


def _similarity(summary: Mapping[str, Any], reading: Reading) -> Any:
    """The similarity; of given elements, the measure, of which the run makes the same again."""
    recorded = summary["options"]["similarity"]
    return (
        recorded["measure"]
        if reading.elements is not None and isinstance(recorded, Mapping)
        else stored_similarity(recorded)
    )


def _reading(reading: Reading, names: Any) -> dict[str, Any]:
    return {name: getattr(reading, name) for name in names}


def outputs_in(base: Path, command: str, files: Mapping[str, Any]) -> dict[str, str]:
    """The output and the audit of the run, with the same names in another folder."""
    output = str(files["output"])
    name = _name(output)
    if output == "-":  # a folder takes documents of any format
        found = {"output": f"{base / 'standard-output'}{os.sep}"}
    elif _is_folder(output, lines=bool(files["lines"])):
        found = {"output": f"{base / name}{os.sep}"}
    else:
        found = {"output": str(base / name)}
    audit = files.get("audit")
    if audit is not None and (output == "-" or audit != stem(output) + _ENDINGS.get(command, AUDIT_ENDING)):
        records = base / "records"
        records.mkdir()
        slash = os.sep if str(audit).endswith("/") else ""
        found["audit"] = f"{records / _name(str(audit))}{slash}"
    return found


def _name(path: str) -> str:
    """The last name of a path, for a file or a folder in another folder: one that leads nowhere else."""
    name = PurePath(path.rstrip("/" + os.sep)).name
    return name if name not in ("", ".", "..") else "output"


def _is_folder(output: str, *, lines: bool) -> bool:
    """Whether an output was a folder: it ends in a slash, or is one, or has no ending of a file."""
    known = split_ending(PurePath(output).name)
    return output_folder(output) is not None or (known is None and not lines)
