"""Texts of strangers in a page: escaped, with what cannot be seen, or would turn text around, shown by its number."""

import re
from typing import Any

UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f\ufdd0-\ufdef\ufffe\uffff]|\r(?!\n)"
)
"""Control characters, marks of direction, half surrogates, tags, no characters; the joiners that scripts need are none of them."""

_KANA, _HAN, _HANGUL = (re.compile(f"[{found}]") for found in ("\u3041-\u30ff", "\u3400-\u9fff", "\uac00-\ud7a3"))


def _number(found: re.Match[str]) -> str:
    return f"\u27e8U+{ord(found[0]):04X}\u27e9"


def plainly(text: str) -> str:
    r"""The text with unseen characters as ⟨U+202E⟩, which is not yet escaped.

    >>> plainly("a\x00b")
    'a⟨U+0000⟩b'
    """
    return UNSEEN.sub(_number, text)


def clipped(text: str, characters: int) -> str:
    """Its beginning, with a mark that says how long it is if that is not all."""
    return text if len(text) <= characters else f"{text[:characters]}… ({len(text):,} characters)"


def name_of(value: Any, characters: int = 120) -> str:
    """An id or the name of a file, to be shown."""
    return plainly(clipped(str(value), characters))


def language(text: str) -> str:
    """`ja`, `zh`, `ko` or nothing: which forms of Han characters a reader expects."""
    some = text[:2000]
    if _HANGUL.search(some):
        return "ko"
    if len(_KANA.findall(some)) * 20 > len(_HAN.findall(some)):
        return "ja" if _KANA.search(some) else ""
    return "zh" if _HAN.search(some) else ""
