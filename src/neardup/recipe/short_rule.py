"""The RULE OF SHORT TEXTS: which texts are `short`, and match only equal ones. What keeps texts records its version.

By version 2, a text in which no feature votes counts as one without tokens, and so is short. By version 1, it counted with its
tokens; all such texts have one fingerprint, and matched one another by distance.
"""

from collections.abc import Mapping
from typing import Any

SHORT_RULE = 2
"""The version of the rule."""
NAME = "short_rule"
"""The fact that records it; what was made before has none."""


def short_rule_of(facts: Mapping[str, Any]) -> int:
    """The version of the rule that facts record."""
    return int(facts.get(NAME, 1))


def told_of_short_rule(version: int, remedy: str = "") -> str:
    """What is said of something that was made by an earlier version of the rule; empty for one of this version."""
    if version >= SHORT_RULE:
        return ""
    return (
        f"begun by version {version} of the rule of short texts, and keeps to it: texts in which no feature votes can match one "
        f"another by distance{remedy}"
    )
