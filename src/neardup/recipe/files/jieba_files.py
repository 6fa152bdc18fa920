"""The files of the installed package jieba: where they are, and the digest of those that decide tokens. Imports nothing heavy."""

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from neardup.errors import DataError
from neardup.recipe.stored_parts import check_installed, is_installed

JIEBA, EXTRA = "jieba", "zh"
"""The package, and the extra of neardup that installs it."""
DICTIONARY = "dict.txt"
IDF = "analyse/idf.txt"
"""Inverse document frequencies."""
TAG_MODEL = tuple(f"posseg/{name}.py" for name in ("prob_start", "prob_trans", "prob_emit", "char_state_tab"))
MODEL = ("finalseg/prob_start.py", "finalseg/prob_trans.py", "finalseg/prob_emit.py")


def path_in_jieba(name: str) -> Path:
    """Where a file of the package jieba is, which must be installed. It is not imported: that takes a second."""
    found = importlib.util.find_spec(JIEBA)
    return Path(str(found.origin if found else "")).parent / name


def read_jieba_file(name: str, what: str = "`segmenter='jieba'`") -> bytes:
    """The content of a file of the package jieba.

    Raises:
        MissingExtra: jieba is not installed; the message says that `what` needs it.
        DataError: the file cannot be read.
    """
    check_installed(what, (JIEBA,), EXTRA)
    try:
        return path_in_jieba(name).read_bytes()
    except OSError as problem:
        raise DataError(
            f"The file {name} of the package jieba cannot be read ({problem}). Install jieba again."
        ) from None


@cache
def tags_digest() -> str:
    """The digest of the dictionary with its tags and of the model of tags, 16 hexadecimal digits; jieba must be installed.

    Raises:
        DataError: a file cannot be read.
    """
    return _digest_of((DICTIONARY, *TAG_MODEL))


def words_digest() -> str | None:
    """The digest of the dictionary and the model of jieba, 16 hexadecimal digits; None if jieba is not installed.

    Raises:
        DataError: a file cannot be read.
    """
    return _words_digest() if is_installed(JIEBA) else None


@cache
def _words_digest() -> str:
    return _digest_of((DICTIONARY, *MODEL))


def _digest_of(names: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in names:
        content = read_jieba_file(name)
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
