"""Write tests/golden/surface.txt: every public name with its parameters, its fields and its methods."""

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neardup

TARGET = Path(__file__).parent.parent / "tests/golden/surface.txt"


def parameters(function: Any) -> str:
    """As a call sees them, without types: those are for mypy."""
    found = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(function).parameters.values()
        if not each.name.startswith("_")  # of fields that are not public
    ]
    return str(inspect.Signature([each for each in found if each.name not in ("self", "cls")]))


def members(kind: type) -> Iterator[str]:
    """Fields of a result, then what else can be asked of it."""
    fields = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    yield from (f"    .{name}" for name in fields if not name.startswith("_"))
    own = (base for base in reversed(kind.__mro__) if base.__module__.split(".")[0] == neardup.__name__)
    for name, member in sorted({name: member for base in own for name, member in vars(base).items()}.items()):
        if name.startswith("_") or name in fields:
            continue
        if isinstance(member, property):
            yield f"    .{name}"
        elif isinstance(member, classmethod | staticmethod):
            yield f"    .{name}{parameters(member.__func__)}"
        elif callable(member):
            yield f"    .{name}{parameters(member)}"


def surface() -> str:
    """The file's text."""
    lines: list[str] = []
    for name in sorted(neardup.__all__):
        found = getattr(neardup, name)
        if not inspect.isclass(found):
            lines.append(f"{name}{parameters(found)}" if callable(found) else name)
            continue
        if issubclass(found, Exception):
            lines.append(f"{name}: {', '.join(base.__name__ for base in found.__bases__)}")
        else:
            lines += [f"{name}{parameters(found)}", *members(found)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(surface(), encoding="utf-8")
