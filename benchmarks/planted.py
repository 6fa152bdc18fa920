"""Planted near-copies: texts with a known number of edited words, so that recall has a truth that no program was asked for.

At an edit rate r, (1 - r)^3 of the shingles of three words survive an edit of either side, and the similarity is about
s / (2 - s) of that share s: 0.97 at 0.5 %, 0.94, 0.89, 0.84, 0.75 at 5 %.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

RATES = (0.005, 0.01, 0.02, 0.03, 0.05)
"""Edited words, of all words of the origin."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Copy:
    """A near-copy: its id names its origin."""

    origin: str
    rate: float
    origin_text: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.origin}~{self.rate:g}"


def with_edits(text: str, rate: float, vocabulary: Sequence[str], chance: random.Random) -> str:
    """That share of the words edited, at least one: substituted, deleted or preceded by another, with equal chances."""
    spans = [found.span() for found in WORD.finditer(text)]
    if not spans:
        return text
    edits = max(1, round(rate * len(spans)))
    parts, end = [], 0
    for at in sorted(chance.sample(range(len(spans)), min(edits, len(spans)))):
        start, stop = spans[at]
        edit = chance.randrange(3)
        parts.append(text[end:start])
        if edit != 0:
            parts.append(chance.choice(vocabulary))
        if edit == 2:
            parts.append(" " + text[start:stop])
        end = stop
    return "".join(parts) + text[end:]


def near_copies(documents: Sequence[tuple[str, str]], share: float, chance: random.Random) -> list[Copy]:
    """Copies of that share of (id, text) documents; the rates take turns, the edits' words are those of all the origins."""
    origins = chance.sample(documents, round(share * len(documents)))
    vocabulary = sorted({word for _, text in origins for word in WORD.findall(text)})
    return [
        Copy(origin, rate, text, with_edits(text, rate, vocabulary, chance))
        for (origin, text), rate in zip(origins, (RATES[i % len(RATES)] for i in range(len(origins))), strict=True)
    ]
