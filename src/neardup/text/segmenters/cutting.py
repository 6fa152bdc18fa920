"""Cut texts into joined tokens with a function that cuts one text; runs in this process and in a worker, which has no numpy."""

import importlib
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from neardup.errors import CallableError, OptionError

Cut = Callable[[str], Sequence[str]]
"""Maps a text to its tokens."""
ZERO = "\0"
"""Separates tokens; the texts to cut never contain it."""


class CutterSettings(NamedTuple):
    """The settings of a segmenter from a package.

    Attributes:
        segmenter: its name; `neardup.text.segmenters.NAME` implements it.
        mode, hmm: as in `neardup.recipe.recipe.Recipe`.
        dictionary: words, normalized, and their counts.
        source: the source of a dictionary that has yet to be built.
        source_name: the file that the source comes from.
    """

    segmenter: str
    mode: str | None
    hmm: bool
    dictionary: tuple[tuple[str, int | None], ...]
    source: str
    source_name: str = ""


def cutter_of(settings: CutterSettings) -> Cut:
    """The function of a segmenter from a package."""
    found: Cut = importlib.import_module(f"neardup.text.segmenters.{settings.segmenter}").cutter(settings)
    return found


def cut_texts(data: bytes, offsets: "array[int]", cut: Cut, name: str, *, foreign: bool = False) -> tuple[bytes, bytes]:
    """The tokens of the texts `data[offsets[d]:offsets[d + 1]]`, valid UTF-8, joined by zero bytes; and their counts, int64[n].

    Zero bytes in texts become spaces. So do those in tokens; they are looked for only if `foreign`, because no package makes any.

    Raises:
        CallableError: `cut`, which is `foreign`, raises.
        OptionError: `cut` returns something other than a list or tuple of strings; `name` is its name in the message.
    """
    if b"\0" in data:
        data = data.replace(b"\0", b" ")
    joined, counts = [], array("q")
    for d in range(len(offsets) - 1):
        text = data[offsets[d] : offsets[d + 1]].decode()
        try:
            tokens = cut(text)
        except Exception as problem:
            if not foreign:
                raise
            raise CallableError(f"The segmenter {name!r}", text, problem) from problem
        if foreign and not isinstance(tokens, (list, tuple)):
            raise OptionError(f"The segmenter {name!r} gave {type(tokens).__name__}: it must give a list of strings.")
        counts.append(len(tokens))
        if tokens:
            joined.append(_join(tokens, name) if foreign else ZERO.join(tokens).encode())
    return b"\0".join(joined), counts.tobytes()


def _join(tokens: Sequence[str], name: str) -> bytes:
    try:
        text = ZERO.join(tokens)
        if text.count(ZERO) >= len(tokens):
            text = ZERO.join(token.replace(ZERO, " ") for token in tokens)
        return text.encode()
    except (TypeError, UnicodeEncodeError) as problem:
        raise OptionError(
            f"The segmenter {name!r} gave what is no token: {problem}. It must give a list of strings."
        ) from None
