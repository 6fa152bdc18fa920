"""Japanese words by SudachiPy and its core dictionary; runs in worker processes, so it imports nothing heavy."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.errors import OptionError
from neardup.resources.unfinished import temporary_folder
from neardup.text.segmenters.cutting import Cut, CutterSettings

MAX_CHARACTERS = 8_000
"""Characters segmented at a time: SudachiPy takes at most 49,149 bytes, and it may expand a character to several."""
_SENTENCES = re.compile(rf"(?s).{{1,{MAX_CHARACTERS}}}(?<=[。！？!?.\n])|.{{1,{MAX_CHARACTERS}}}")


def pieces(text: str) -> Iterator[str]:
    """A text in pieces of at most MAX_CHARACTERS, cut at ends of sentences where possible; a shorter text is one piece."""
    if len(text) <= MAX_CHARACTERS:
        yield text
    else:
        yield from _SENTENCES.findall(text)


def cutter(settings: CutterSettings) -> Cut:
    """The function that cuts a text; two threads must not call it at once.

    Raises:
        OptionError: SudachiPy refuses the user dictionary.
    """
    import sudachipy

    mode = getattr(sudachipy.SplitMode, settings.mode or "C")
    surface = sudachipy.Morpheme.surface
    dictionary = _dictionary(sudachipy, settings)
    make = dictionary.tokenizer if hasattr(dictionary, "tokenizer") else dictionary.create  # before SudachiPy 0.7
    tokenize = make(mode, fields=set()).tokenize

    def cut(text: str) -> list[str]:
        return [token for piece in pieces(text) for token in map(surface, tokenize(piece))]

    return cut


def _dictionary(sudachipy: Any, settings: CutterSettings) -> Any:
    if not settings.source:
        return sudachipy.Dictionary(dict="core")
    import sudachidict_core

    system = Path(sudachidict_core.__file__).parent / "resources" / "system.dic"
    with temporary_folder() as folder:
        built = folder.path / "user.dic"
        try:
            sudachipy.sudachipy.build_user_dic(system, [settings.source.encode()], built)
            return sudachipy.Dictionary(config=sudachipy.Config(system="core", user=[str(built)]))
        except Exception as problem:  # its own exceptions vary between versions
            reason = _reason(problem, settings.source)
            raise OptionError(
                f"dictionary {settings.source_name!r}: SudachiPy cannot build it: {reason}. Mend the file."
            ) from None


def _reason(problem: Exception, source: str) -> str:
    """The message for an entry, with the entry; SudachiPy names the source by all its bytes, and the entry by its number."""
    found = re.search(r":(\d+)\t(.*)$", str(problem), re.DOTALL)
    lines = source.splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return str(problem)
    return f"{found[2].strip().rstrip('.')} in the entry {lines[int(found[1]) - 1]!r}"
