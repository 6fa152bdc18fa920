"""Texts for the command line, and files made of them."""

import json
from pathlib import Path

FERRY = (
    "The night ferry to the islands leaves at ten past nine from the old customs pier, and dogs travel free in winter."
)
FERRY_EDITED = FERRY.replace("winter", "summer")
FERRY_SHOUTED = FERRY.upper()
BREAD = "To bake the plain loaf, mix five hundred grams of flour with ten grams of salt and stir in some warm water."
CLOCK = "The station clock was built to run for eight days on one winding, and its pendulum is a rod of seasoned pine."
BRIDGE = "河上的老石桥建于明代，全长八十六米，共有七个拱。桥面用青石板铺成，石板上留着深深的车辙。"

WORDS = [f"word{i}" for i in range(60)]
CHAIN = [" ".join(WORDS[shift : shift + 40]) for shift in (0, 4, 8, 12, 16)]
"""Each is like the next; the first and the last are not."""

ROWS = [
    {"id": "ferry", "text": FERRY},
    {"id": "edited", "text": FERRY_EDITED},
    {"id": "bread", "text": BREAD},
    {"id": "shouted", "text": FERRY_SHOUTED},
    {"id": "bridge", "text": BRIDGE},
]
"""The second and the fourth are duplicates of the first."""


def lines(rows):
    """JSON lines, as bytes."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def write_lines(name, rows):
    """Write JSON lines to a file, with the folders that it needs."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(rows))
    return path


def read_lines(name):
    """The rows of a JSON-lines file."""
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def survivors(name):
    """The ids in a JSON-lines file."""
    return [row["id"] for row in read_lines(name)]


def files():
    """All files below the current folder."""
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())
