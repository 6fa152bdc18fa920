"""TOKENS of a text with their places, as its similarity counts them, and their shingles."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.recipe.tables.similarities import CJK_SHINGLE, WORD_SHINGLE
from neardup.text.normalizers import normalize
from neardup.text.tokenizers import CJK, SEPARATOR, WORD, token_class


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its place in the text, its folded form, and its class."""

    start: int
    end: int
    folded: str
    kind: int


@lru_cache(maxsize=1 << 16)
def _fold(character: str, steps: tuple[Any, ...], version: int) -> tuple[str, int]:
    """Fold a single character and give its class; class -1: it leaves nothing and separates nothing."""
    if character.isspace():
        return "", SEPARATOR
    folded = normalize(character, steps) if not "\ud800" <= character <= "\udfff" else ""
    if not folded:
        return "", -1
    kinds = [token_class(each, version) for each in folded]
    return folded, next((kind for kind in kinds if kind != SEPARATOR), SEPARATOR)


def tokens_of(text: str, steps: tuple[Any, ...] = FOLDING, version: int = VERSION) -> list[Token]:
    """Tokens with their places; characters are folded one by one, which is exact enough for display."""
    found: list[Token] = []
    start, parts = -1, list[str]()
    for place, character in enumerate(text):
        folded, kind = _fold(character, steps, version)
        if kind == WORD:
            start = place if start < 0 else start
            parts.append(folded)
            continue
        if kind == -1:
            continue
        if start >= 0:
            found.append(Token(start, place, "".join(parts), WORD))
            start, parts = -1, []
        if kind == CJK:
            found.append(Token(place, place + 1, folded, CJK))
    if start >= 0:
        found.append(Token(start, len(text), "".join(parts), WORD))
    return found


def shingle_spans(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """First token of each shingle, and one past its last."""
    sizes = (CJK_SHINGLE if token.kind == CJK else WORD_SHINGLE for token in tokens)
    whole = [(i, i + size) for i, size in enumerate(sizes) if i + size <= len(tokens)]
    return whole or ([(0, len(tokens))] if tokens else [])
