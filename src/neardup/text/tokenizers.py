"""TOKENIZE, readably: the tokens and windows of one text as strings, for display. The kernels do the same on bytes."""

from neardup.recipe.tables.parts import VERSION
from neardup.text.normalizers import normalize
from neardup.text.unicode_tables import fold_tables

SEPARATOR, WORD, CJK = range(3)


def token_class(character: str, version: int = VERSION) -> int:
    """SEPARATOR, WORD or CJK, for a character of normalized text, by a version of a recipe."""
    tables, code = fold_tables(version), ord(character)
    entry = int(tables.fold_blocks[int(tables.fold_index[code >> 7]) << 7 | code & 127])
    return entry >> 23 & 3


def tokens(text: str, version: int = VERSION) -> list[str]:
    """Maximal runs of letters, marks and numbers; each Han or Kana character, and what else a version has so, is a token.

    >>> tokens("SimHash は、文書の指紋")
    ['simhash', 'は', '文', '書', 'の', '指', '紋']
    >>> tokens("ไทย 😀", 2)
    ['ไ', 'ท', 'ย', '😀']
    """
    found: list[str] = []
    inside = False
    for character in normalize(text):
        kind = token_class(character, version)
        if kind == WORD and inside:
            found[-1] += character
        elif kind != SEPARATOR:
            found.append(character)
        inside = kind == WORD
    return found


def windows(found: list[str], word_size: int, cjk_size: int, version: int = VERSION) -> list[tuple[str, ...]]:
    """The window that starts at each token: `word_size` tokens from a word, `cjk_size` from a Han or Kana character.

    Windows that would run past the end are left out; if none remains, the whole text is one window.
    """
    sizes = [cjk_size if token_class(token[0], version) == CJK else word_size for token in found]
    whole = [tuple(found[i : i + size]) for i, size in enumerate(sizes) if i + size <= len(found)]
    return whole or ([tuple(found)] if found else [])
