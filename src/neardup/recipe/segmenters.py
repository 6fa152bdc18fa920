"""The names of the segmenters, what each may be told, and segmenters that a caller brings; loads no compiled code."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.errors import OptionError
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.word_lists import WordList

SEGMENTERS = {
    "words": "runs of letters and numbers; each Han or Kana character by itself",
    "characters": "each letter, mark or number by itself",
    "whitespace": "what stands between white space, with the punctuation that sticks to it",
    "jieba": "Chinese words, by rjieba: the extra [zh]",
    "sudachi": "Japanese words, by SudachiPy and its core dictionary: the extra [ja]",
}
MODES = {"jieba": ("search",), "sudachi": ("A", "B", "C")}
"""What `mode` may be."""
PACKAGES = {"jieba": ("rjieba",), "sudachi": ("sudachipy", "sudachidict_core")}
"""The distributions that decide what a segmenter gives: their versions are part of a recipe's digest."""
EXTRAS = {"jieba": "zh", "sudachi": "ja"}
"""What `pip install 'neardup[…]'` has to name."""


@dataclass(frozen=True)
class Segmenter:
    """A segmenter that the caller brings: any function from a text to its tokens.

    Two are equal, and so are the digests of recipes that use them, when name and version are: the function itself cannot be
    compared. So give another version with a function that gives other tokens. It is called in this process, by several threads
    at once, with normalized texts that hold no zero byte.

    Attributes:
        function: takes a text, gives a list or tuple of strings; those that hold no letter, mark or number are dropped.
        name: what it is called: none of SEGMENTERS.
        version: which one of that name it is.

    Raises:
        OptionError: a name or version is missing, or the name is taken.

    >>> Segmenter(str.split, name="split", version="1").as_dict()
    {'name': 'split', 'version': '1'}
    """

    function: Callable[[str], Sequence[str]] = field(compare=False, repr=False)
    name: str = field(kw_only=True)
    version: str = field(kw_only=True)

    def __post_init__(self) -> None:
        problems = []
        if not callable(self.function):
            problems.append(
                f"function={self.function!r}: give a function that takes a string and gives a list of strings"
            )
        for what in ("name", "version"):
            given = getattr(self, what)
            if not isinstance(given, str) or not given.strip():
                problems.append(f"{what}={given!r}: give a string that is not empty")
        if self.name in SEGMENTERS:
            problems.append(f"name={self.name!r}: this is a segmenter of the package; give another name")
        if problems:
            raise OptionError("This segmenter is not possible. " + "; ".join(problems) + ".")

    def as_dict(self) -> dict[str, Any]:
        """What a recipe's digest knows of it."""
        return {"name": self.name, "version": self.version}


def option_problems(segmenter: Any, mode: Any, hmm: Any, dictionary: Any) -> list[str]:
    """What is wrong with the options of a segmenter, if anything is."""
    if isinstance(segmenter, StoredPart):
        return []
    name = segmenter.name if isinstance(segmenter, Segmenter) else str(segmenter)
    found = [] if isinstance(hmm, bool) else [f"hmm={hmm!r}: give true or false"]
    if not isinstance(segmenter, Segmenter) and name not in SEGMENTERS:
        return found  # it has been refused; what its other options may be nobody knows
    modes = MODES.get(name, ())
    if mode is not None and mode not in modes:
        has = f"{name} has {', '.join(modes)}" if modes else f"{name} has no modes; {' and '.join(MODES)} have"
        found.append(f"mode={mode!r} with segmenter={name!r}: {has}. Leave it out for the default")
    if hmm is False and name != "jieba":
        found.append(f"hmm=False with segmenter={name!r}: only jieba has a hidden Markov model. Leave it out")
    if dictionary is not None and name not in PACKAGES:
        found.append(
            f"dictionary with segmenter={name!r}: only {' and '.join(PACKAGES)} have dictionaries. Leave it out"
        )
    return found


def dictionary_problems(segmenter: Any, dictionary: WordList) -> list[str]:
    """What is wrong with the lines of a user dictionary, if anything is."""
    if not isinstance(segmenter, str) or segmenter not in PACKAGES:
        return []
    found: list[str] = importlib.import_module(f"neardup.text.segmenters.{segmenter}").entry_problems(dictionary)
    return found
