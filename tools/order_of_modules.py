"""Put every module into the order of docs/architecture.md, in which imports only go to what stands before.

The order that is there is kept as far as imports allow: a new module comes where the first that needs it does, or last in its room.
Rooms keep their order; an import that goes up, or a circle, is an error here as it is in the tests.
"""

import ast
import heapq
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "neardup"
PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(r"(<!-- order of modules -->\n\n```text\n)(.*?)(```\n\n<!-- end -->)", re.DOTALL)
WIDTH = 118


def modules() -> dict[str, Path]:
    """Every module of the package by its name without the package's; the package itself is `__init__`, other ones are left out.

    These are a docstring each, and import nothing.
    """
    found = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in sorted(SOURCE.rglob("*.py"))}
    return {name: path for name, path in found.items() if not name.endswith(".__init__")}


TABLES = {
    "__init__": "public names, of any module",
    "cli.main": "commands, which are run by it",
    "fingerprints.hashes": "hashes, in kernels",
    "hamming.index.methods.table": "methods of search",
    "io.formats.table": "formats",
    "kernels.native.numba_inside": "kernels",
    "matching.candidates.methods": "methods of finding candidates",
    "text.html": "parsers, of other packages",
    "text.segmenters.cutting": "segmenters",
}
"""Modules whose table names others that they load on first use: their families, which may import them."""


def loaded(node: ast.Call) -> str | None:
    """The name, or its beginning before what is filled in, that a call of `import_module` loads; None for other calls."""
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if function != "import_module" or not node.args:
        return None
    name = node.args[0]
    if isinstance(name, ast.JoinedStr):
        name = name.values[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def imported(source: str, names: Collection[str], own: str = "") -> Iterator[str]:
    """The modules of the package that a source imports, wherever it does: on first use, for types, and by `import_module`, too.

    Of a name that is filled in, these are all modules directly in its folder. `own`: the source's name; see `TABLES`.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and own not in TABLES and (name := loaded(node)) is not None:
            if not name:
                raise SystemExit(f"{own}: `import_module` of a name that is not written there: add it to TABLES")
            if name.startswith("neardup."):
                inside = name.removeprefix("neardup.")
                family = [each for each in names if f"{each.rpartition('.')[0]}." == inside]
                yield from family or [_module(inside.split("."), names)]
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise SystemExit("a relative import: name the package")
            base = (node.module or "").split(".")
            if base[0] == "neardup":
                for alias in node.names:
                    yield _module([*base[1:], alias.name], names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "neardup":
                    yield _module(parts[1:], names)


def _module(parts: list[str], names: Collection[str]) -> str:
    """The module that a dotted name is, or is in; the package itself if it is in none."""
    return next((name for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in names), "__init__")


def needs(names: dict[str, Path]) -> dict[str, set[str]]:
    """What each module imports."""
    return {name: set(imported(path.read_text("utf-8"), names, name)) - {name} for name, path in names.items()}


def stated(page: str) -> list[str]:
    """The modules in the order of the page; names in a room are without it."""
    found = BLOCK.search(page)
    if found is None:
        raise SystemExit(f"{PAGE}: the order of modules is gone. Put back its two marks.")
    order = []
    for word in found[2].split():
        if word.endswith("/"):
            room = word.replace("/", ".")
        elif word.startswith("/"):
            room, word = "", word[1:]
            order.append(word)
        else:
            order.append(room + word)
    return order


def sorted_modules(before: list[str], needed: dict[str, set[str]]) -> list[str]:
    """All modules, each after what it needs; as `before` says wherever there is a choice."""
    place = {name: float(number) for number, name in enumerate(before)}
    users: dict[str, set[str]] = {name: set() for name in needed}
    for name, others in needed.items():
        for other in others:
            users[other].add(name)
    for name in needed:
        if name not in place:
            same = [place[each] for each in place if each.split(".")[0] == name.split(".")[0]]
            place[name] = (
                min([place[each] for each in users[name] if each in place], default=max(same, default=-1)) - 0.5
            )
    waiting = {name: len(others) for name, others in needed.items()}
    ready = [(place[name], name) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    found = []
    while ready:
        _, name = heapq.heappop(ready)
        found.append(name)
        for user in users[name]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (place[user], user))
    if len(found) < len(needed):
        raise SystemExit(f"these import one another in a circle: {', '.join(sorted(set(needed) - set(found)))}")
    return found


def rooms(order: list[str]) -> list[str]:
    """The rooms, and the files beside them, in the order of their first modules."""
    return list(dict.fromkeys(name.split(".")[0] for name in order))


def text(order: list[str], in_order: list[str]) -> str:
    """The block of the page."""
    lines = []
    for room in in_order:
        inside = [name for name in order if name.split(".")[0] == room]
        if inside == [room]:
            lines.append(f"/{room}")
            continue
        line = f"{room}/"
        for name in inside:
            word = name.removeprefix(room + ".")
            if len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = "   "
            line += " " + word
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Rewrite the order in the page."""
    page = PAGE.read_text("utf-8")
    needed = needs(modules())
    before = [name for name in stated(page) if name in needed]
    in_order = [*rooms(before), *(room for room in rooms(list(needed)) if room not in rooms(before))]
    rank = {room: number for number, room in enumerate(in_order)}
    up = [f"{a} → {b}" for a in needed for b in needed[a] if rank[b.split(".")[0]] > rank[a.split(".")[0]]]
    if up:
        sys.exit("these imports go up: " + ", ".join(sorted(up)))
    order = sorted_modules(sorted(before, key=lambda name: rank[name.split(".")[0]]), needed)
    order.sort(key=lambda name: rank[name.split(".")[0]])
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + text(order, in_order) + found[3], page), "utf-8")


if __name__ == "__main__":
    main()
