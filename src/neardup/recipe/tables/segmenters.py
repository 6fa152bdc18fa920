"""The names and options of the segmenters, and segmenters of the caller. Imports no compiled code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from neardup.errors import OptionError
from neardup.recipe.stored_parts import StoredPart

SegmenterName = Literal["words", "characters", "whitespace", "jieba", "rjieba", "cppjieba", "sudachi", "icu"]
SegmenterMode = Literal["search", "A", "B", "C"]
SEGMENTERS = {
    "words": "runs of letters and numbers; each Han or Kana character by itself",
    "characters": "each letter, mark or number by itself",
    "whitespace": "runs between white space, with attached punctuation",
    "jieba": "Chinese words as the package jieba cuts them, with its dictionary: the extra [zh]",
    "rjieba": "Chinese words by the package rjieba: slower than jieba, and in rare places different; the extra [rjieba]",
    "cppjieba": "Chinese words as cppjieba, gojieba and nodejieba cut them: slower than jieba; the extra [zh]",
    "sudachi": "Japanese words, by SudachiPy and its core dictionary: the extra [ja]",
    "icu": "Thai, Lao, Khmer, Burmese and other words, by the dictionaries of ICU: the extra [icu]",
}
MODES = {"jieba": ("search",), "rjieba": ("search",), "sudachi": ("A", "B", "C")}
"""The allowed values of `mode` for each segmenter."""
GUESSING = ("jieba", "rjieba", "cppjieba")
"""The segmenters that guess words with a hidden Markov model."""
READING = (*GUESSING, "sudachi")
"""The segmenters with user dictionaries."""
PACKAGES = {
    "jieba": ("jieba",),
    "rjieba": ("rjieba",),
    "cppjieba": ("jieba",),
    "sudachi": ("sudachipy", "sudachidict_core"),
    "icu": ("icu4py",),
}
"""The distributions that decide the tokens of a segmenter; `neardup.recipe.files.identities` has what a digest holds
of them.
"""
EXTRAS = {"jieba": "zh", "rjieba": "rjieba", "cppjieba": "zh", "sudachi": "ja", "icu": "icu"}
"""The extra that installs each segmenter: `pip install 'neardup[…]'`."""


@dataclass(frozen=True)
class Segmenter:
    """A segmenter of the caller: any function from a text to its tokens.

    Functions cannot be compared, so two segmenters are equal if name and version are, and so are the digests of recipes that use
    them. If the tokens change, change the version. Several threads of this process call the function at the same time, with
    normalized texts that hold no zero byte.

    Attributes:
        function: takes a text and returns a list or tuple of strings. Strings without a letter, mark or number are dropped.
        name: a name that is not in SEGMENTERS.
        version: the version of the function.

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
                f"`function={self.function!r}`: give a function that takes a string and gives a list of strings"
            )
        for what in ("name", "version"):
            given = getattr(self, what)
            if not isinstance(given, str) or not given.strip():
                problems.append(f"`{what}={given!r}`: give a string that is not empty")
        if self.name in tuple(SEGMENTERS):
            problems.append(f"`name={self.name!r}`: this is a segmenter of the package; give another name")
        if problems:
            raise OptionError("This segmenter is not possible. " + "; ".join(problems) + ".")

    def as_dict(self) -> dict[str, Any]:
        """The values that enter a recipe's digest."""
        return {"name": self.name, "version": self.version}


def option_problems(segmenter: Any, mode: Any, hmm: Any, dictionary: Any) -> list[str]:
    """The problems of the options of a segmenter."""
    if isinstance(segmenter, StoredPart):
        return []
    name = segmenter.name if isinstance(segmenter, Segmenter) else str(segmenter)
    found = [] if isinstance(hmm, bool) else [f"`hmm={hmm!r}`: give true or false"]
    if not isinstance(segmenter, Segmenter) and name not in SEGMENTERS:
        return found  # refused elsewhere; its options are unknown
    modes = MODES.get(name, ())
    if mode is not None and mode not in modes:
        has = (
            f"{name} has {', '.join(modes)}"
            if modes
            else f"{name} has no modes; {', '.join([*MODES][:-1])} and {[*MODES][-1]} have"
        )
        found.append(f"`mode={mode!r}` with `segmenter={name!r}`: {has}. Leave it out for the default")
    if hmm is False and name not in GUESSING:
        have = ", ".join(GUESSING[:-1]) + f" and {GUESSING[-1]}"
        found.append(f"`hmm=False` with `segmenter={name!r}`: only {have} have a hidden Markov model. Leave it out")
    if dictionary is not None and name not in READING:
        have = ", ".join(READING[:-1]) + f" and {READING[-1]}"
        found.append(f"`dictionary` with `segmenter={name!r}`: only {have} have dictionaries. Leave it out")
    return found
