"""JUDGMENT: what came of a flip."""

from pathlib import Path
from typing import Any

import neardup
from flips.form import Form, UnreadableError

SAME, REFUSED, ANOTHER, DOUBTED = "same", "refused by name", "another valid file", "found by a check"
RIGHT = (SAME, REFUSED, ANOTHER)
CHANGED, NAMELESS, RAISED, TAKEN = "changed silently", "refused without its name", "raised", "taken, though unreadable"
CRASHED, HUNG = "crashed", "hung"
FINDS = (CHANGED, NAMELESS, RAISED, TAKEN, CRASHED, HUNG)


def judge(form: Form, target: str, expected: Any) -> tuple[str, str]:
    """The outcome of using flipped files, and what was said."""
    try:
        found = form.use()
    except neardup.NeardupError as refusal:
        names = {Path(target).name, *form.named}
        return (
            REFUSED if any(name in str(refusal) for name in names) else NAMELESS
        ), f"{type(refusal).__name__}: {refusal}"
    except Exception as problem:
        return RAISED, f"{type(problem).__name__}: {problem}"
    if found == expected:
        return SAME, ""
    if form.doubts is not None:
        try:
            return (DOUBTED if form.doubts() else CHANGED), ""
        except neardup.NeardupError as refusal:
            return DOUBTED, str(refusal)
    if form.reread is None:
        return CHANGED, f"{str(found)[:200]}"
    try:
        true = form.reread()
    except UnreadableError as problem:
        return TAKEN, str(problem)[:300]
    return (ANOTHER, "") if true == found else (CHANGED, f"{_difference(found, true)}")


def _difference(found: Any, true: Any) -> str:
    return f"{str(found)[:300]} | not | {str(true)[:300]}"
