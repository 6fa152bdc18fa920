"""Print the lowest versions that pyproject.toml allows, as requirements of pip: `make test-lowest` installs them.

With arguments, those of these extras are printed, too: `python tools/lowest_dependencies.py html zh`. This needs nothing
but Python, for it runs before anything is installed.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<lowest>[\w.]+))?")


def lowest(project: dict[str, Any], extras: list[str]) -> Iterator[str]:
    """Yield `name==version` of every dependency of `project` and of its `extras`, as each states it."""
    of_extras = project.get("optional-dependencies", {})
    for requirement in [*project["dependencies"], *(each for extra in extras for each in of_extras[extra])]:
        parts = REQUIREMENT.match(requirement)
        if parts is None:
            raise ValueError(f"{requirement!r} is no requirement")
        if parts["name"] == project["name"]:  # an extra that is made of others
            yield from lowest({**project, "dependencies": []}, parts["extras"].split(","))
        elif parts["lowest"] is None:
            raise ValueError(f"{requirement!r} has no lower bound: write it as NAME>=VERSION")
        else:
            yield f"{parts['name']}=={parts['lowest']}"


if __name__ == "__main__":
    with PROJECT.open("rb") as file:
        print("\n".join(sorted(set(lowest(tomllib.load(file)["project"], sys.argv[1:])))))
