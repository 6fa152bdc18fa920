"""Files of words that a recipe needs: user dictionaries and stop lists. Their contents decide bits, not their paths."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from neardup.errors import InputError
from neardup.recipe.tables.spellings import meant

StopListName = Literal["zh", "ja", "en"]
STOP_LISTS = {
    "zh": "Chinese function words",
    "ja": "Japanese particles, auxiliaries and pronouns",
    "en": "English function words",
}
"""Stop lists that come with the package; `docs/segmenters.md` names their sources."""

DictionaryName = Literal["gojieba"]
USER_DICTIONARIES = {"gojieba": "the user dictionary that gojieba loads by default: three words"}
"""User dictionaries that come with the package, for the segmenters cppjieba and jieba."""


@dataclass(frozen=True)
class WordList:
    """The words of a file. Two lists are equal if their digests are.

    Attributes:
        digest: the digest of the words, 16 hexadecimal digits; line ends and blank lines do not count.
        name: a name in STOP_LISTS or USER_DICTIONARIES, or the file's path as given.
        lines: the lines that are not blank, without surrounding white space.
        numbers: the number of each of these lines in the file, from 1.
    """

    digest: str
    name: str = field(compare=False)
    lines: tuple[str, ...] = field(compare=False, repr=False)
    numbers: tuple[int, ...] = field(compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The values that enter a recipe's digest."""
        return {"words": self.digest}


def word_list(name: str, content: bytes, what: str) -> WordList:
    """The entries of a UTF-8 file with one per line; `what` is its kind in messages.

    Raises:
        InputError: the file is empty or not UTF-8.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = content[: problem.start].count(b"\n")
        raise InputError(f"{what} {name!r}, line {before + 1}: this is not UTF-8. Store the file as UTF-8") from None
    numbered = [(at, entry.strip()) for at, entry in enumerate(text.splitlines(), 1) if entry.strip()]
    if not numbered:
        raise InputError(f"{what} {name!r} is empty, line 1 on. Give a file with one word a line")
    for at, line in numbered:
        if "\0" in line:
            raise InputError(f"{what} {name!r}, line {at}: a zero byte is part of no word. Is this a text file?")
    numbers, lines = tuple(at for at, _ in numbered), tuple(line for _, line in numbered)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return WordList(digest, name, lines, numbers)


def read_word_list(path: str | Path, what: str) -> WordList:
    """Read a UTF-8 file with one entry per line; `what` is its kind in messages.

    Raises:
        InputError: the file is missing, empty or not UTF-8.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: no file can have this name
        why = problem.strerror if isinstance(problem, OSError) else "this is not a name of a file"
        raise InputError(f"{what} {str(path)!r} cannot be read: {why}. Give an existing file") from None
    return word_list(str(path), content, what)


def user_dictionary(name: str | Path) -> WordList:
    """The user dictionary of a name in USER_DICTIONARIES, or of a file with one entry per line.

    Raises:
        InputError: the file is missing, empty or not UTF-8.
    """
    if name in USER_DICTIONARIES:
        file = Path(__file__).with_name("user_dictionaries") / f"{name}.txt"
        return word_list(str(name), file.read_bytes(), "dictionary")
    return read_word_list(name, "dictionary")


def stop_list(name: str | Path) -> WordList:
    """The stop list of a name in STOP_LISTS, or of a file with one word per line.

    Raises:
        InputError: the list does not exist, or the file is empty or not UTF-8.
    """
    if name in STOP_LISTS:
        file = Path(__file__).with_name("stop_words") / f"{name}.txt"
        return word_list(str(name), file.read_bytes(), "stop list")
    if not Path(name).exists():
        question = meant(name, STOP_LISTS)
        raise InputError(f"stop list {str(name)!r}: give one of {', '.join(STOP_LISTS)}, or an existing file{question}")
    return read_word_list(name, "stop list")
