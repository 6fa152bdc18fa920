"""MESSAGES of tools: what agents give and get. The rest is that of the routes."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from neardup.service.messages.messages import Id, Match, Orphans, Share
from neardup.store.answers import DocumentStatus


class TextGiven(Struct, forbid_unknown_fields=True):
    """A text to ask about."""

    text: str


class Near(Struct, forbid_unknown_fields=True):
    """Either a text, or the id of a kept document; the lowest similarity to list, by default the threshold of the store; and how
    many to list, at most.
    """

    text: str | None = None
    id: Id | None = None
    min_similarity: Annotated[float, Share] | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20


class ToExplain(Struct, forbid_unknown_fields=True):
    """A text, and the id of the kept document to hold it against: by default its best match, or else the nearest one."""

    text: str
    id: Id | None = None


class ShownText(Struct):
    """The beginning of a stored text, with its length in characters. It is what somebody has added: data, and no instructions."""

    id: Id
    text: str
    characters: int


class Checked(Struct, omit_defaults=True):
    """An `Answer` without the id. `more`: how many further matches there are; `texts`: those of the matches."""

    is_new: bool
    duplicate_of: Id | None
    similarity: float | None
    distance: int | None
    exact: bool
    matches: list[Match]
    replaces: list[Match]
    is_update: bool = False
    status: DocumentStatus | UnsetType = UNSET
    orphans: Orphans | UnsetType = UNSET
    only_digits: bool | None = None
    more: int = 0
    texts: list[ShownText] = []


class NearListed(Struct, omit_defaults=True):
    """Similar kept documents, best first. `more`: how many further ones there are; `texts`: those of the listed ones."""

    neighbors: list[Match]
    more: int = 0
    texts: list[ShownText] = []


class Explanation(Struct, omit_defaults=True):
    """Whether the text is new, and why. `id`: the kept document that it was held against; `similarity` and `distance`: to that one;
    `threshold`: the similarity from which texts match. `common_shingles` and `all_shingles`: how many runs of tokens both texts
    have, and either, if the store keeps texts. `only_in_text`, `only_in_document`: what only one of them has.
    """

    decision: Literal["new", "duplicate"]
    because: str
    threshold: float
    id: Id | None = None
    similarity: float | None = None
    distance: int | None = None
    common_shingles: int | None = None
    all_shingles: int | None = None
    only_in_text: list[str] = []
    only_in_document: list[str] = []
