"""Pairs that people look at: duplicates that came lately, pairs to judge, and judgements."""

from dataclasses import dataclass
from typing import Any, Literal

PairKind = Literal["removed", "kept"]
"""Of a pair: a remembered duplicate and its survivor, or two kept documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentDuplicate:
    """A remembered duplicate.

    Attributes:
        position: where it is in the list: the value for `before`, and for `judge`. It stays valid when others are added.
        id: of the document that came first with this text; None if the store keeps no texts.
        duplicate_of: the id of the kept document that it duplicates.
        similarity: of the two texts; None if the store decides by distance alone.
        distance: the Hamming distance of the two fingerprints.
        exact: whether the two texts are equal after normalization: False, since such copies are not remembered one by one.
        seen: when it was remembered, in seconds since 1970.
        text, survivor_text: as they were given; None if the store keeps no texts, or a repair has lost one.
    """

    position: str
    id: Any
    duplicate_of: Any
    similarity: float | None
    distance: int
    exact: bool
    seen: float
    text: str | None
    survivor_text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairText:
    """One side of a pair.

    Attributes:
        id: of the document; None for a remembered duplicate of a store that keeps no texts.
        position: of a remembered duplicate that is to be judged, as in `RecentDuplicate`; otherwise None.
        digest: 32 hexadecimal digits, equal for equal normalized texts.
        text: as it was given; None if the store keeps no texts.
    """

    id: Any
    position: str | None = None
    digest: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPair:
    """A pair to judge.

    Attributes:
        kind: "removed" if the left text is a remembered duplicate of the right one; "kept" if both documents are kept.
        left, right: the two texts; of kept documents, the left one was added earlier.
        similarity, distance: as in `RecentDuplicate`.
    """

    kind: PairKind
    left: PairText
    right: PairText
    similarity: float | None
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What somebody has said of a pair.

    Attributes:
        number: larger for a later judgement.
        kind, left, right, similarity, distance: as in `ReviewPair`, at the time of the judgement.
        same: whether the two are duplicates.
        judged: when, in seconds since 1970.
    """

    number: int
    kind: PairKind
    left: PairText
    right: PairText
    similarity: float | None
    distance: int
    same: bool
    judged: float
