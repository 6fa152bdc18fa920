"""Variants of Han characters as OpenCC has them: its conversions as tables for a kernel, read from the package that is installed.

OpenCC replaces the longest of its phrases at each place, else the character. What each character becomes is asked of OpenCC
itself. The phrases are those of the dictionaries that a conversion's configuration names, listed by the program that comes with the
package; what each becomes is asked of OpenCC again. So nothing of its tables is copied, and every installed version gives its own
result.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.kernels.text.variants import BEGINS_PHRASE, GROUP, VALUE_BITS, Variants

CODES = 0x110000
HAN = ((0x2E80, 0x2FE0), (0x3000, 0xA000), (0xF900, 0xFB00), (0x20000, 0x33480))
"""Where characters lie that a conversion may change; phrases are of such characters, too."""
Convert = Callable[[str], str]


class Conversion(NamedTuple):
    """A conversion of OpenCC.

    Attributes:
        convert: what OpenCC does with one text.
        variants: the same for a kernel; None if the dictionaries cannot be listed.
        growth: no text becomes more than so many times as many bytes.
    """

    convert: Convert
    variants: Variants | None
    growth: float


@cache
def conversion(config: str) -> Conversion:
    """A conversion by its name in OpenCC, such as `t2s`. The package must be installed."""
    import opencc

    convert: Convert = opencc.OpenCC(config).convert
    try:
        phrases = sorted(_phrases(Path(opencc.__file__).parent / "clib", config))
        replaced = {key: convert(key) for key in phrases} | characters_changed(convert)
        return Conversion(convert, variants_of(replaced), growth_of(replaced))
    except (OSError, ValueError, subprocess.SubprocessError):
        return Conversion(convert, None, 0.0)


def _phrases(package: Path, config: str) -> Iterator[str]:
    """The keys of more than one character in the dictionaries that a conversion names."""
    folder = package / "share" / "opencc"
    named = json.loads((folder / f"{config}.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="neardup-") as temporary:
        for name in sorted(set(_files(named))):
            listed = Path(temporary) / "words.txt"
            subprocess.run(
                [package / "bin" / "opencc_dict", "-i", folder / name, "-f", "ocd2", "-o", listed, "-t", "text"],
                check=True,
                capture_output=True,
                timeout=60,
            )
            for line in listed.read_text(encoding="utf-8").splitlines():
                key = line.partition("\t")[0]
                if len(key) > 1:
                    yield key


def _files(named: Any) -> Iterator[str]:
    """The dictionary files in a part of a configuration; all must be of the kind that can be listed."""
    if isinstance(named, dict) and "file" in named:
        if named.get("type") != "ocd2":
            raise ValueError(named)
        yield named["file"]
    for part in named.values() if isinstance(named, dict) else named if isinstance(named, list) else ():
        yield from _files(part)


def characters_changed(convert: Convert) -> dict[str, str]:
    """What each Han character that a conversion changes becomes by itself."""
    asked = [chr(code) for first, end in HAN for code in range(first, end)]
    answers = convert("\n".join(asked)).split("\n")
    return {given: found for given, found in zip(asked, answers, strict=True) if given != found}


def growth_of(replaced: Mapping[str, str]) -> float:
    """No text becomes more than so many times as many bytes."""
    return max((len(value.encode()) / len(key.encode()) for key, value in replaced.items()), default=1.0)


def variants_of(replaced: Mapping[str, str]) -> Variants:
    """The tables of a kernel that replaces each key by its value, the longest key at each place.

    Raises:
        ValueError: a character becomes several or none, or phrases begin with too many characters.
    """
    characters = np.arange(CODES, dtype=np.uint32)
    begun: dict[str, list[str]] = {}
    for key, value in replaced.items():
        if len(key) > 1:
            begun.setdefault(key[0], []).append(key)
        else:
            characters[ord(key)] = ord_of(value)
    if len(begun) > GROUP:
        raise ValueError(f"phrases begin with {len(begun):,} characters")
    groups, seconds, keys = [0], list[int](), list[str]()
    for number, (first, phrases) in enumerate(sorted(begun.items())):
        keys += sorted(phrases, key=len, reverse=True)
        groups.append(len(keys))
        seconds.append(sum({1 << (ord(phrase[1]) & 63) for phrase in phrases}))
        characters[ord(first)] |= BEGINS_PHRASE | number << VALUE_BITS
    return Variants(
        _read_only(characters),
        _read_only(np.array(groups, np.int64)),
        _read_only(np.array(seconds, np.uint64)),
        *_joined(keys),
        *_joined([replaced[key] for key in keys]),
    )


def ord_of(text: str) -> int:
    """The code point of a text of one character."""
    if len(text) != 1:
        raise ValueError(f"a character becomes {text!r}")
    return ord(text)


def _joined(texts: Sequence[str]) -> tuple[Any, Any]:
    """The code points of all texts, and where each begins."""
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    codes = np.array([ord(character) for text in texts for character in text], np.uint32)
    return _read_only(codes), _read_only(starts)


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
