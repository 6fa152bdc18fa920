"""Files of words that a recipe needs: user dictionaries and stop lists. What they hold decides bits, not where they lie."""

import difflib
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.errors import InputError

STOP_LISTS = {
    "zh": "Chinese function words",
    "ja": "Japanese particles, auxiliaries and pronouns",
    "en": "English function words",
}
"""Stop lists that come with the package; `docs/segmenters.md` says where they are from."""


@dataclass(frozen=True)
class WordList:
    """What a file of words holds. Two are equal when their digests are.

    Attributes:
        digest: 16 hexadecimal digits, of the words alone: line ends and blank lines do not count.
        name: a name of STOP_LISTS, or the file's path as given.
        lines: those that are not blank, without white space around them.
        numbers: the number of each in the file, from 1.
    """

    digest: str
    name: str = field(compare=False)
    lines: tuple[str, ...] = field(compare=False, repr=False)
    numbers: tuple[int, ...] = field(compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """What a recipe's digest knows of it."""
        return {"words": self.digest}


def _word_list(name: str, content: bytes, what: str) -> WordList:
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
    """Read a UTF-8 file of one entry a line; `what` is what to call it.

    Raises:
        InputError: the file is missing, empty or not UTF-8.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise InputError(f"{what} {str(path)!r} cannot be read: {problem.strerror}. Give an existing file") from None
    return _word_list(str(path), content, what)


def stop_list(name: str | Path) -> WordList:
    """The stop list of that name, of STOP_LISTS, or in that file, one word a line.

    Raises:
        InputError: there is no such list, or the file is empty or not UTF-8.
    """
    if name in STOP_LISTS:
        file = Path(__file__).with_name("stop_words") / f"{name}.txt"
        return _word_list(str(name), file.read_bytes(), "stop list")
    if not Path(name).exists():
        near = difflib.get_close_matches(str(name), STOP_LISTS, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"stop list {str(name)!r}: give one of {', '.join(STOP_LISTS)}, or an existing file{meant}")
    return read_word_list(name, "stop list")
