"""OPTIONS of two runs that differ: of matching and keeping, of reading, of the recipe; and versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from neardup.io.corpora.reading import READING
from neardup.judging.runs.recorded import RecordedRun
from neardup.options import DedupOptions
from neardup.recipe.differences import differing_fields
from neardup.recipe.tables.parts import NOT_DECIDING

_COSTS = ("threads", "memory", "temp_dir", "temp_limit")
"""Options that never change a result."""
_RESOLVED = ("method", "max_distance")
"""Options that a run may leave to the recipe and the corpus: what it took is compared."""
_NO_RESULT = "kernels"
"""An entry of the versions that changes no result: which processor the kernels were compiled for."""


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """An option in which two runs differ.

    Attributes:
        name: of the option; `recipe.NAME` for a field of the recipe, `versions.NAME` for a version.
        a, b: its values, ready for JSON; None where a run does not have it.
    """

    name: str
    a: Any
    b: Any


def option_differences(a: RecordedRun, b: RecordedRun) -> tuple[OptionDifference, ...]:
    """All options in which two runs differ, those that decide first, versions last."""
    return tuple(_differences(a.summary, b.summary))


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[OptionDifference]:
    usual = DedupOptions().as_dict()
    for name in dict.fromkeys((*_RESOLVED, *usual, *a["options"], *b["options"])):
        if name in _COSTS:
            continue
        values = [each[name] if name in _RESOLVED else each["options"].get(name, usual.get(name)) for each in (a, b)]
        yield from _difference(name, values)
    for name in (*READING, "against", "prefer"):
        values = [each["files"].get(name) or None for each in (a, b)]
        yield from _difference(name, values)
    yield from _difference("on_error", ["skip" if each["files"].get("rejects") else "stop" for each in (a, b)])
    if a["recipe"]["digest"] != b["recipe"]["digest"]:
        for name, here, there in differing_fields(a["recipe"], b["recipe"]):
            if name not in (*NOT_DECIDING, "digest"):
                yield OptionDifference(f"recipe.{name}", here, there)
    for name in dict.fromkeys((*a["versions"], *b["versions"])):
        if name == _NO_RESULT:
            continue
        yield from _difference(f"versions.{name}", [each["versions"].get(name) for each in (a, b)])


def _difference(name: str, values: list[Any]) -> Iterator[OptionDifference]:
    here, there = values
    if here != there:
        yield OptionDifference(name, here, there)
