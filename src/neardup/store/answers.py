"""The ANSWERS of a store, the pairs that people look at, which came lately, are to be judged or were, and what a check finds."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class StoreMatch:
    """A kept document that matches.

    Attributes:
        id: its id.
        similarity: of the two texts; None if the store decides by distance alone.
        distance: the Hamming distance of the two fingerprints.
        first_seen: of an earlier text of the same id, when it was added, in seconds since 1970; None elsewhere.
    """

    id: Any
    similarity: float | None
    distance: int
    first_seen: float | None = field(default=None, compare=False, repr=False)


MAX_LISTED_ORPHANS = 1000
"""Orphans whose ids are listed in an answer. If there are more, none is: `Store.orphans` has them all."""


@dataclass(frozen=True, slots=True)
class Orphans:
    """How many skipped documents no kept document matches any more, since some went: of an update, a removal, an expiry or a better
    document.

    Attributes:
        count: how many.
        not_compared: how many of them could not be compared with the documents that are kept: near-duplicates whose texts the
            store does not keep. Some of them may match one.
        ids: of all of them; empty if there are more than 1,000.
        after: `Store.orphans(after=...)` lists them.
    """

    count: int = 0
    not_compared: int = 0
    ids: tuple[Any, ...] = ()
    after: int = 0

    def __add__(self, other: "Orphans") -> "Orphans":
        """Both together, in their order."""
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        ids = self.ids + other.ids if count <= MAX_LISTED_ORPHANS else ()
        return Orphans(count, self.not_compared + other.not_compared, ids, self.after)


NO_ORPHANS = Orphans()


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """A skipped document that no kept document matched when its own went.

    Attributes:
        number: larger for a later orphan.
        id: its id.
        compared: whether its text was compared with all documents that were kept then; if not, one of them may match.
        orphaned: when, in seconds since 1970.
    """

    number: int
    id: Any
    compared: bool
    orphaned: float


class Removal(int):
    """How many documents a call has removed.

    Attributes:
        orphans: the skipped documents that no kept document matches any more.
    """

    orphans: Orphans

    def __new__(cls, documents: int, orphans: Orphans = NO_ORPHANS) -> "Removal":
        found = super().__new__(cls, documents)
        found.orphans = orphans
        return found

    def __getnewargs__(self) -> tuple[int, Orphans]:  # type: ignore[override]  # of int, it is one
        return int(self), self.orphans


DocumentStatus = Literal["new", "unchanged", "updated", "duplicate"]
"""What became of a document; see `StoreAnswer`."""


@dataclass(frozen=True, slots=True)
class StoreAnswer:
    """What a store says about a document.

    Attributes:
        is_new: whether no kept document matches.
        matches: the kept documents that match: equal texts first, then the most similar ones, and of equally similar ones the
            one that was added first. For a text that was not kept before, the survivor that it had then, alone.
        exact: whether the text equals that of the first match, after normalization.
        replaces: the documents that were removed for this one: the earlier text of its own id, if it is an update; and those that
            it is better than, by the `keep` of the store.
        is_update: whether the store kept another text of the same id. That text is removed, and is the first in `replaces`, with
            its similarity to the new one. The new text may be a duplicate of another document: then no text of this id is kept.
        only_digits: for a duplicate whose text is not equal, whether it differs from the first match in digits only, after
            normalization; None if that is not known, because the store keeps no texts.
        status: "new"; "unchanged" if a document of this id is kept with an equal text; "updated" if it was kept with another text,
            and now is with this one; "duplicate" of another document, also if it is an update. With `keep="always"`, duplicates
            are kept. `check`, which has no ids, only knows "new" and "duplicate".
        orphans: the documents that were skipped as duplicates of those in `replaces`, and that no kept document matches any more.
    """

    is_new: bool
    matches: tuple[StoreMatch, ...] = ()
    exact: bool = False
    replaces: tuple[StoreMatch, ...] = ()
    is_update: bool = False
    status: DocumentStatus = "new"
    orphans: Orphans = NO_ORPHANS
    only_digits: bool | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """What matches a kept document, and is not said to be something else, is a duplicate."""
        if not self.is_new and self.status == "new":
            object.__setattr__(self, "status", "duplicate")

    @property
    def duplicate_of(self) -> Any:
        """The id of the first match; None for a new document."""
        return self.matches[0].id if self.matches else None


NEW = StoreAnswer(True)
"""The answer to a document that no kept one matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A kept document.

    Attributes:
        id: its id.
        tokens: how many it has.
        fingerprint: big-endian bytes.
        first_seen, last_seen: when it was added, and when it or a document that matches it came last; seconds since 1970.
        expires: when it expires, by the same clock; None if never.
        metadata: the plain values that were given with it.
        text: as it was given; None if the store keeps no texts, or a repair has lost it.
    """

    id: Any
    tokens: int
    fingerprint: bytes
    first_seen: float
    last_seen: float
    expires: float | None
    metadata: Any
    text: str | None = None


@dataclass(frozen=True, slots=True)
class StorePair:
    """Two kept documents that are similar.

    Attributes:
        a, b: their ids, the document that was added earlier first.
        similarity: of the two texts; None if the store decides by distance alone.
        distance: the Hamming distance of the two fingerprints.
    """

    a: Any
    b: Any
    similarity: float | None
    distance: int


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


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What a check of all bytes has found.

    Attributes:
        documents: how many kept documents were checked.
        damaged: the ids of those whose contents are not what was written; a repair removes them.
        problems: whatever else is wrong, in words; a repair makes derived files anew.
    """

    documents: int
    damaged: tuple[Any, ...]
    problems: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damaged and not self.problems
