"""Show untrusted texts in a page: escaped, with invisible and direction-changing characters replaced by their numbers."""

import re
from typing import Any

UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f\ufdd0-\ufdef\ufffe\uffff]|\r(?!\n)"
)
"""Control characters, direction marks, half surrogates, tags and noncharacters, but not the joiners that scripts need."""

_KANA, _HAN, _HANGUL = (re.compile(f"[{found}]") for found in ("\u3041-\u30ff", "\u3400-\u9fff", "\uac00-\ud7a3"))


def plainly(text: str) -> str:
    r"""Return the text with invisible characters written as ⟨U+202E⟩; the result still has to be escaped.

    >>> plainly("a\x00b")
    'a⟨U+0000⟩b'
    """
    return UNSEEN.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", text)


def clipped(text: str, characters: int) -> str:
    """Return the beginning of a text; if it is longer, with a mark that tells its length."""
    return text if len(text) <= characters else f"{text[:characters]}… ({len(text):,} characters)"


def name_of(value: Any, characters: int = 120) -> str:
    """Format an id or a file name for display."""
    return plainly(clipped(str(value), characters))


def language(text: str) -> str:
    """`ja`, `zh`, `ko` or empty: which forms of Han characters a reader expects."""
    some = text[:2000]
    if _HANGUL.search(some):
        return "ko"
    if len(_KANA.findall(some)) * 20 > len(_HAN.findall(some)):
        return "ja" if _KANA.search(some) else ""
    return "zh" if _HAN.search(some) else ""
