"""RESPONSES of a service: the bodies of its answers as the values that a store gives."""

from decimal import Decimal

import msgspec
from msgspec import UNSET, UnsetType

from neardup.errors import OptionError, ServiceError
from neardup.judging.comparison import Comparison, Feature, FingerprintSteps
from neardup.service.messages import messages, review_messages
from neardup.service.messages.messages import converted
from neardup.store.answers import (
    NO_ORPHANS,
    Judgement,
    Orphan,
    Orphans,
    RecentDuplicate,
    ReviewPair,
    StoreAnswer,
    StoredDocument,
    StoreMatch,
)

decoded = msgspec.json.decode


def failure(status: int, body: bytes) -> ServiceError | OptionError:
    """The exception for a response that is no answer."""
    try:
        problem = decoded(body, type=messages.Problem)
    except msgspec.DecodeError:
        return ServiceError(status, "none", f"The service answered with status {status}, and without a problem.")
    if problem.code in ("invalid_value", "unknown_document"):  # as a store of this machine does
        return OptionError(problem.detail)
    return ServiceError(status, problem.code, problem.detail)


def answers(body: bytes) -> list[StoreAnswer]:
    return [
        StoreAnswer(
            each.is_new,
            _matches(each.matches),
            each.exact,
            _matches(each.replaces),
            each.is_update,
            "new" if each.status is UNSET else each.status,
            orphans(each.orphans),
            each.only_digits,
        )
        for each in decoded(body, type=list[messages.Answer])
    ]


def orphans(found: messages.Orphans | UnsetType) -> Orphans:
    """Orphans as a store tells them."""
    if found is UNSET or isinstance(found, UnsetType):
        return NO_ORPHANS
    return Orphans(found.count, found.not_compared, tuple(found.ids), found.after)


def listed_orphans(body: bytes) -> tuple[list[Orphan], int | None]:
    """Some orphans, and where the next ones begin; None if these are the last."""
    found = decoded(body, type=messages.OrphansListed)
    return converted(found.orphans, list[Orphan]), found.next


def document(body: bytes) -> StoredDocument | None:
    found = decoded(body, type=messages.Found).documents
    if not found:
        return None
    values = msgspec.structs.asdict(found[0])
    return StoredDocument(**values | {"fingerprint": bytes.fromhex(found[0].fingerprint)})


def neighbors(body: bytes) -> list[StoreMatch]:
    return list(_matches(decoded(body, type=messages.Neighbors).neighbors))


def duplicates(body: bytes) -> tuple[list[RecentDuplicate], str | None]:
    """Some duplicates, and where the next ones begin; None if these are the last."""
    found = decoded(body, type=review_messages.Duplicates)
    return converted(found.duplicates, list[RecentDuplicate]), found.next


def pairs(body: bytes) -> list[ReviewPair]:
    return converted(decoded(body, type=review_messages.Pairs).pairs, list[ReviewPair])


def judgements(body: bytes) -> tuple[list[Judgement], int | None]:
    """Some judgements, and where the next ones begin; None if these are the last."""
    found = decoded(body, type=review_messages.JudgedPairs)
    return converted(found.judgements, list[Judgement]), found.next


def comparison(body: bytes) -> Comparison:
    found = decoded(body, type=messages.Compared)
    steps = {"left": _steps(found.left), "right": _steps(found.right)}
    return Comparison(**msgspec.structs.asdict(found) | steps)


def _matches(found: list[messages.Match]) -> tuple[StoreMatch, ...]:
    return tuple(StoreMatch(each.id, each.similarity, each.distance) for each in found)


def _steps(found: messages.Steps) -> FingerprintSteps:
    bits = len(found.sums)
    features = tuple(
        Feature(each.name, each.count, Decimal(each.weight), _bits(each.hash, bits)) for each in found.features
    )
    return FingerprintSteps(
        tuple(found.tokens), features, tuple(map(Decimal, found.sums)), _bits(found.fingerprint, bits)
    )


def _bits(hexadecimal: str, bits: int) -> str:
    return f"{int(hexadecimal, 16):0{bits}b}"
