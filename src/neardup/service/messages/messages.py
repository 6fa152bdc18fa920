"""MESSAGES: what travels, as types. Names are those of the library; fingerprints and hashes are hexadecimal strings."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from neardup.judging.comparison import Comparison, FingerprintSteps
from neardup.store import answers as store_answers
from neardup.store.answers import DocumentStatus, StoreAnswer, StoredDocument, StoreMatch

Id = int | str
T = TypeVar("T")
NotBelowZero = Meta(extra_json_schema={"minimum": 0})
"""Said in the schema alone: the library refuses other values, in its own words."""
Share = Meta(extra_json_schema={"minimum": 0, "maximum": 1})
Duration = Meta(extra_json_schema={"pattern": r"^[0-9]{1,9}(\.[0-9]{1,9})? *[smhdw]?$"})
Hexadecimal = Annotated[str, Meta(pattern="^[0-9a-f]+$")]


class Question(Struct, forbid_unknown_fields=True):
    """A text to ask about. The answer repeats the id; without one, it has the place in the body, from 0 on."""

    text: str
    id: Id | None = None


class Document(Struct, forbid_unknown_fields=True):
    """A document to decide: its id and text; plain values to keep with it; when it expires, in seconds since 1970, or `ttl`, the
    seconds after which it does, or a duration such as 30d.
    """

    id: Id
    text: str
    metadata: Any = None
    expires: Annotated[float, NotBelowZero] | None = None
    ttl: Annotated[float, NotBelowZero] | Annotated[str, Duration] | UnsetType | None = UNSET


class GivenDocument(Struct, forbid_unknown_fields=True):
    """A `Document` as it came, whose metadata takes no more than its bytes."""

    id: Id
    text: str
    metadata: msgspec.Raw = msgspec.Raw()
    expires: float | None = None
    ttl: float | str | None = None


class NeighborsOf(Struct, forbid_unknown_fields=True):
    """Either a text, or the id of a kept document; and the least similarity, which is that of matches by default."""

    text: str | None = None
    id: Id | None = None
    min_similarity: Annotated[float, Share] | None = None


class Ids(Struct, forbid_unknown_fields=True):
    """Ids of documents: 17 and "17" are two."""

    ids: list[Id]


class Expire(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What to remove besides documents that have expired: those seen longer ago than this; all but the last so many. `limit`: how
    many go, at most; then the answer has their ids, and `more` says whether to ask again.
    """

    older_than: Annotated[float, NotBelowZero] | Annotated[str, Duration] | None = None
    newest: Annotated[int, NotBelowZero] | None = None
    by: Literal["first_seen", "last_seen"] = "last_seen"
    limit: Annotated[int, Meta(extra_json_schema={"minimum": 1})] | None = None


class Compact(Struct, forbid_unknown_fields=True):
    """Nothing needs to be said: `{}`."""


class TwoTexts(Struct, forbid_unknown_fields=True):
    """Two texts to compare."""

    left: str
    right: str


class Match(Struct):
    """A kept document that matches. The similarity is null if the store decides by distance alone."""

    id: Id
    similarity: float | None
    distance: int


class Orphans(Struct):
    """How many skipped documents no kept document matches any more; how many of them could not be compared, as the store keeps no
    texts; the ids, if there are at most 1,000; and the value of `after` with which `orphans` lists them.
    """

    count: int
    not_compared: int
    ids: list[Id]
    after: int


class Answer(Struct, omit_defaults=True):
    """What the store says of a document: whether it is new; else the first match, and all of them, best first.

    `exact`: the text equals that of the first match, after normalization. `replaces`: the documents that were removed for this one:
    first the earlier text of its own id, if it is an update; then those that it is better than, by the `keep` of the store.
    `is_update`: true if it is one; absent if it is none. `status`: what became of the document; of a question, new or duplicate.
    `orphans`: those that documents in `replaces` leave; absent if there are none.
    `only_digits`: whether a near duplicate differs from the first match in digits only; absent if that is not known.
    """

    id: Id
    is_new: bool
    duplicate_of: Id | None
    similarity: float | None
    distance: int | None
    exact: bool
    matches: list[Match]
    replaces: list[Match]
    is_update: bool = False
    status: DocumentStatus | UnsetType = UNSET  # which older services lack
    orphans: Orphans | UnsetType = UNSET
    only_digits: bool | None = None


class Neighbors(Struct):
    """Similar kept documents, best first."""

    neighbors: list[Match]


class Stored(Struct):
    """A kept document. `fingerprint`: hexadecimal; times are seconds since 1970; `text`: null if the store keeps no texts."""

    id: Id
    tokens: int
    fingerprint: Hexadecimal
    first_seen: float
    last_seen: float
    expires: float | None
    metadata: Any
    text: str | None


class Found(Struct):
    """The kept documents of some ids, and the ids that no kept document has."""

    documents: list[Stored]
    unknown: list[Id]


class Removed(Struct):
    """How many documents were removed, their ids, and the ids that no kept document had; and the orphans, if there are any."""

    removed: int
    unknown: list[Id]
    ids: list[Id] = []
    orphans: Orphans | UnsetType = UNSET


class Expired(Struct, omit_defaults=True):
    """How many documents were removed, and the orphans, if there are any; with a `limit`, the ids of those that were removed, and
    whether there may be more to remove.
    """

    removed: int
    ids: list[Id] = []
    more: bool = False
    orphans: Orphans | UnsetType = UNSET


class OrphansAfter(Struct, forbid_unknown_fields=True):
    """How many orphans to list, and after which number."""

    limit: Annotated[int, Meta(extra_json_schema={"minimum": 1})] = 200
    after: Annotated[int, NotBelowZero] = 0


class Orphan(Struct):
    """A skipped document that no kept document matched when its own went. `compared`: false if the store could not compare it with
    others; `orphaned`: when, in seconds since 1970.
    """

    number: int
    id: Id
    compared: bool
    orphaned: float


class OrphansListed(Struct):
    """Orphans, the oldest first. `next`: the number to give as `after` for later ones; null if there are none."""

    orphans: list[Orphan]
    next: int | None


class Compacted(Struct):
    """Whether there was room to give up."""

    compacted: bool


class Feature(Struct):
    """A feature that votes. `weight`: a decimal number; `hash`: hexadecimal."""

    name: str
    count: int
    weight: str
    hash: Hexadecimal


class Steps(Struct):
    """How a fingerprint was computed: features, heaviest first; the sum of the votes for each bit, most significant first."""

    tokens: list[str]
    features: list[Feature]
    sums: list[str]
    fingerprint: Hexadecimal


class Compared(Struct):
    """Two texts: the steps of both, the distance of the fingerprints, and the similarities of the texts."""

    left: Steps
    right: Steps
    distance: int
    estimated_cosine: float
    similarity: float | None
    common_shingles: int | None
    all_shingles: int | None
    similarities: dict[str, float] | None


class ShownSegment(Struct):
    """A piece of a text: in both texts, in this one alone, or `cut`: not shown. `characters`: its length."""

    kind: Annotated[str, Meta(extra_json_schema={"enum": ["common", "only", "cut"]})]
    text: str
    characters: int


class AlignedRow(Struct):
    """Segments of two texts that stand side by side; or `skipped`, the length of a common segment that is left out."""

    left: list[ShownSegment]
    right: list[ShownSegment]
    skipped: int


class AlignedRows(Struct):
    """Two texts side by side. Of long texts, some 6 kB of each are shown."""

    rows: list[AlignedRow]


class Stores(Struct):
    """The names of the stores that are served."""

    stores: list[str]


class Status(Struct):
    """Whether the service can do its work; for each store, what is wrong, or null."""

    ready: bool
    stores: dict[str, str | None]


class Problem(Struct):
    """Problem details (RFC 9457), with a code for programs."""

    type: str
    title: str
    status: int
    code: str
    detail: str


encode = msgspec.json.Encoder().encode


def converted(value: Any, kind: type[T]) -> T:
    """A value of the library as a message, or the other way round, by the names of their attributes."""
    return msgspec.convert(value, kind, from_attributes=True)


def match_of(match: StoreMatch) -> Match:
    """A match as it travels."""
    return Match(match.id, match.similarity, match.distance)


def orphans_of(found: store_answers.Orphans) -> Orphans | UnsetType:
    """Orphans as they travel; nothing if there are none."""
    return Orphans(found.count, found.not_compared, list(found.ids), found.after) if found.count else UNSET


def answer_of(id: Id, answer: StoreAnswer) -> Answer:  # noqa: A002
    """An answer as it travels, with the id of the document."""
    matches = [match_of(each) for each in answer.matches]
    first = matches[0] if matches else None
    return Answer(
        id,
        answer.is_new,
        None if first is None else first.id,
        None if first is None else first.similarity,
        None if first is None else first.distance,
        answer.exact,
        matches,
        [match_of(each) for each in answer.replaces],
        answer.is_update,
        answer.status,
        orphans_of(answer.orphans),
        answer.only_digits,
    )


def stored_of(document: StoredDocument) -> Stored:
    """A kept document as it travels. Its metadata is JSON already: decoded, that of many documents may take 24 times as much."""
    try:
        metadata: Any = msgspec.Raw(encode(document.metadata))
    except RecursionError:  # a program has kept it, and so deep that it may be told from another place only
        metadata = document.metadata
    return Stored(
        document.id,
        document.tokens,
        document.fingerprint.hex(),
        document.first_seen,
        document.last_seen,
        document.expires,
        metadata,
        document.text,
    )


def compared_of(found: Comparison) -> Compared:
    """A comparison as it travels."""
    return Compared(
        _steps(found.left),
        _steps(found.right),
        found.distance,
        found.estimated_cosine,
        found.similarity,
        found.common_shingles,
        found.all_shingles,
        found.similarities,
    )


def _steps(found: FingerprintSteps) -> Steps:
    features = [Feature(each.name, each.count, f"{each.weight:f}", _hexadecimal(each.hash)) for each in found.features]
    return Steps(list(found.tokens), features, [f"{each:f}" for each in found.sums], _hexadecimal(found.bits))


def _hexadecimal(bits: str) -> str:
    """A string of 0 and 1 as hexadecimal digits.

    >>> _hexadecimal("00011111")
    '1f'
    """
    return f"{int(bits, 2):0{-(-len(bits) // 4)}x}"
