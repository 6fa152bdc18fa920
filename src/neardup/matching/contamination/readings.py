"""READINGS of a text: as it stands, and without what markup and pages put into it, with the places of both.

In this order: character references become their characters; tags of HTML and comments go, those of blocks and breaks becoming line
breaks; numbers at the beginnings of lines go, if another line is numbered in the same way by the number before or after; words
that a hyphen divides at the end of a line are joined, if `joins` says so.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow.compute as pc

from neardup.text.html import is_block

RULES = 1
"""The version of these rules; summaries have it."""

Joins = Callable[[str, str], bool]
"""Whether the parts of a word before and after a hyphen at the end of a line are one word."""

_NUMBERED_LINE = r"(?:^|\n)[^0-9A-Za-z\x{ff10}-\x{ff19}\n]*[0-9\x{ff10}-\x{ff19}]"
_MAY_DIFFER = (
    r"&[#A-Za-z]|</?[A-Za-z!]|[0-9A-Za-z\x{80}-\x{10ffff}][-\x{2010}\x{ac}\x{ad}][^0-9A-Za-z\n]*\n|"
    rf"(?s:{_NUMBERED_LINE}.*{_NUMBERED_LINE}[.0-9\x{{ff10}}-\x{{ff19}}]*(?:$|[^.0-9A-Za-z_]))"
)
"""For RE2: every text that another reading changes matches. Most texts do not, and are read once."""
_REFERENCE = re.compile(r"&(?:amp;)*(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[a-zA-Z][a-zA-Z0-9]{1,31};|nbsp\b)")
_TAG = re.compile(r"<!--.{0,1000}?-->|</?([a-zA-Z][a-zA-Z0-9]{0,15})(?:[\s/][^<>]{0,1000})?>", re.DOTALL)
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code em font i ins del kbd mark q s samp small span strike strong sub sup tt u var wbr".split()  # noqa: SIM905
)
_NUMBER = re.compile(
    r"\n[^\S\n]*(?:[>|#*][^\S\n]*)*(?P<mark>(?P<open>[\[(（]?)(?P<above>(?:[0-9]{1,3}\.){0,3})(?P<last>[0-9０-９]{1,4})"
    r"(?P<close>[、．）]|[\])}.:]{0,2}(?=\s|\Z)))"
)
"""A number at the beginning of a line, with the end of the line before."""
_HYPHEN = re.compile(r"[-\u2010\u00ac\u00ad][^\S\n]*\n[\s>|]*")
_WORD, _LONGEST_WORD = re.compile(r"[^\W_]+"), 40


class _Piece(NamedTuple):
    """A part [first, end) of a text that was replaced, and its new text."""

    first: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """Where the replaced pieces are, in order: in the new text [begins, ends), in the old one [firsts, lasts)."""

    begins: list[int]
    ends: list[int]
    firsts: list[int]
    lasts: list[int]

    def place(self, at: int, *, is_end: bool) -> int:
        """The place in the old text of a place in the new one; `is_end`: of the end of the character before it."""
        if is_end:
            at -= 1
        number = bisect_right(self.begins, at) - 1
        if number < 0:
            return at + is_end
        if at < self.ends[number]:
            return self.lasts[number] if is_end else self.firsts[number]
        return self.lasts[number] + at - self.ends[number] + is_end


@dataclass(frozen=True, slots=True)
class Reading:
    """A text without what markup put into it.

    Attributes:
        text: the text.
        layers: what was replaced, one after another.
    """

    text: str
    layers: tuple[_Layer, ...] = ()

    def original(self, first: int, end: int) -> tuple[int, int]:
        r"""Where the characters [first, end) of it are in the original text; there must be some.

        >>> original = "Salt&nbsp;and <b>pepp-\ner</b>."
        >>> read = reading_of(original, lambda left, right: True)
        >>> read.text
        'Salt\xa0and pepper.'
        >>> original[slice(*read.original(9, 15))]
        'pepp-\ner'
        """
        for layer in reversed(self.layers):
            first, end = layer.place(first, is_end=False), layer.place(end, is_end=True)
        return first, end


def readings_of(texts: Any, joins: Joins) -> Iterator[tuple[int, Reading]]:
    """The other readings of the texts (an Arrow `large_string` array) that have one, each with the number of the text."""
    for i in pc.indices_nonzero(pc.match_substring_regex(texts, _MAY_DIFFER)).to_pylist():
        read = reading_of(texts[i].as_py(), joins)
        if read.layers:
            yield i, read


def reading_of(text: str, joins: Joins) -> Reading:
    """A text without what markup put into it."""
    read = Reading(text)
    for pieces in (_characters, _without_tags, _without_numbers, lambda given: _joined(given, joins)):
        read = _replaced(read, pieces(read.text))
    return read


def is_one_word(left: str, right: str) -> bool:
    """Whether a hyphen may have divided a word into these parts, where nothing else is known."""
    return left[-1:].islower() and right[:1].islower()


def word_of(left: str, right: str) -> str:
    """The token that two parts of a word are."""
    return unicodedata.normalize("NFKC", left + right).casefold()


def _replaced(read: Reading, pieces: Iterator[_Piece]) -> Reading:
    made, layer, at, length = list[str](), _Layer([], [], [], []), 0, 0
    for first, end, text in pieces:
        made += [read.text[at:first], text]
        length += first - at
        for column, value in zip(
            (layer.begins, layer.ends, layer.firsts, layer.lasts), (length, length + len(text), first, end), strict=True
        ):
            column.append(value)
        at, length = end, length + len(text)
    return Reading("".join([*made, read.text[at:]]), (*read.layers, layer)) if made else read


def _characters(text: str) -> Iterator[_Piece]:
    for found in _REFERENCE.finditer(text):
        name = found[1] if found[1].endswith(";") else f"{found[1]};"
        character = html.unescape(f"&{name}")
        if character != f"&{name}":
            yield _Piece(found.start(), found.end(), character)


def _without_tags(text: str) -> Iterator[_Piece]:
    for found in _TAG.finditer(text):
        name = (found[1] or "").lower()
        if not name or name in _INLINE:
            yield _Piece(found.start(), found.end(), "")
        elif is_block(name):
            yield _Piece(found.start(), found.end(), "\n")


def _without_numbers(text: str) -> Iterator[_Piece]:
    last, numbered = dict[tuple[str, ...], tuple[int, re.Match[str]]](), dict[int, int]()
    for found in _NUMBER.finditer(f"\n{text}"):
        form, number = (found["open"], found["above"], found["close"]), int(found["last"])
        before = last.get(form)
        if before is not None and abs(number - before[0]) == 1:
            for each in (before[1], found):
                numbered[each.start("mark")] = each.end("mark")
        last[form] = number, found
    for first in sorted(numbered):
        yield _Piece(first - 1, numbered[first] - 1, "")


def _joined(text: str, joins: Joins) -> Iterator[_Piece]:
    for found in _HYPHEN.finditer(text):
        left = _WORD.findall(text[max(0, found.start() - _LONGEST_WORD) : found.start()])
        right = _WORD.match(text, found.end())
        if left and right and text.endswith(left[-1], 0, found.start()) and joins(left[-1], right[0]):
            yield _Piece(found.start(), found.end(), "")
