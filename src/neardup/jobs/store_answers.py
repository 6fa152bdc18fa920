"""The answers of a store as JSON lines."""

import json
from collections.abc import Sequence
from typing import Any

from neardup.store.answers import StoreAnswer, StoreMatch


def answer_line(
    id: int | str,  # noqa: A002
    answer: StoreAnswer,
    *,
    all_matches: bool = False,
    with_replaced: bool = False,
) -> bytes:
    """One line: the outcome of a document and its first match.

    Args:
        id: of the document.
        answer: what the store says of it.
        all_matches: whether to tell all matches, best first.
        with_replaced: whether to tell the ids of the documents that it has replaced.
    """
    first = answer.matches[0] if answer.matches else None
    line: dict[str, Any] = {
        "id": id,
        "is_new": answer.is_new,
        "duplicate_of": answer.duplicate_of,
        "similarity": None if first is None else first.similarity,
        "distance": None if first is None else first.distance,
        "exact": answer.exact,
    }
    if all_matches:
        line["matches"] = [_match(each) for each in answer.matches]
    if with_replaced:
        line["replaces"] = [each.id for each in answer.replaces]
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _match(match: StoreMatch) -> dict[str, Any]:
    return {"id": match.id, "similarity": match.similarity, "distance": match.distance}


def meant_ids(given: Sequence[str]) -> list[list[int | str]]:
    """For each id in a command line, the ids that it may mean: the string, and the integer of these digits."""
    return [[text, int(text)] if _is_integer(text) else [text] for text in given]


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text
