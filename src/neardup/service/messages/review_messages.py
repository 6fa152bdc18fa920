"""MESSAGES of review: what was removed lately, pairs to judge, and judgements, as they travel."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from neardup.service.messages.messages import Id
from neardup.store.answers import PairText

Limit = Annotated[int, Meta(extra_json_schema={"minimum": 1})]
Kind = Literal["removed", "kept"]


class Recent(Struct, forbid_unknown_fields=True):
    """How many duplicates to list, and after which position."""

    limit: Limit = 50
    before: str | None = None


class Duplicate(Struct):
    """A remembered duplicate. `id`, `text` and `survivor_text` are null if the store keeps no texts; `seen`: seconds since 1970.

    `exact` is false: copies that are equal after normalization are not remembered one by one.
    """

    position: str
    id: Id | None
    duplicate_of: Id
    similarity: float | None
    distance: int
    exact: bool
    seen: float
    text: str | None
    survivor_text: str | None


class Duplicates(Struct):
    """Duplicates, newest first. `next`: the position to give as `before` for those that came earlier; null if there are none."""

    duplicates: list[Duplicate]
    next: str | None


class Review(Struct, forbid_unknown_fields=True):
    """How many pairs to list."""

    limit: Limit = 20


class Side(Struct, forbid_unknown_fields=True):
    """One text of a pair: the id of its document; and the position, if it is a remembered duplicate that is to be judged."""

    id: Id | None = None
    position: str | None = None
    digest: str | None = None
    text: str | None = None


class Pair(Struct):
    """A pair that nobody has judged: a remembered duplicate and its survivor (removed), or two kept documents (kept)."""

    kind: Kind
    left: Side
    right: Side
    similarity: float | None
    distance: int


class Pairs(Struct):
    """Pairs, the nearest to the threshold first."""

    pairs: list[Pair]


class Judge(Struct, forbid_unknown_fields=True):
    """A pair as `review` gave it, or two ids of kept documents; and whether the two are duplicates. Texts may be left out.

    With a digest that was listed, a document that has another text by now is refused.
    """

    left: Side
    right: Side
    same: bool


class Judged(Struct):
    """How many judgements there are."""

    judged: int


class Judgements(Struct, forbid_unknown_fields=True):
    """How many judgements to list, and after which number."""

    limit: Limit = 200
    after: Annotated[int, Meta(extra_json_schema={"minimum": 0})] = 0


class JudgedPair(Struct):
    """A judgement. `judged`: seconds since 1970."""

    number: int
    kind: Kind
    left: Side
    right: Side
    similarity: float | None
    distance: int
    same: bool
    judged: float


class JudgedPairs(Struct):
    """Judgements, the oldest first. `next`: the number to give as `after` for later ones; null if there are none."""

    judgements: list[JudgedPair]
    next: int | None


def text_from(side: Side) -> PairText:
    """A side that came as a store takes it."""
    return PairText(id=side.id, position=side.position, digest=side.digest or "", text=side.text)
