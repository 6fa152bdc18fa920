"""RESPONSES of a service: the bodies of its answers as the values that a store gives."""

from decimal import Decimal
from typing import Any

import msgspec

from neardup.errors import OptionError, ServiceError
from neardup.judging.comparison import Comparison, Feature, FingerprintSteps
from neardup.service.messages import messages, review_messages
from neardup.store.answers import Judgement, RecentDuplicate, ReviewPair, StoreAnswer, StoredDocument, StoreMatch
from neardup.store.upkeep.info import StoreInfo

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
    """The answers about documents."""
    return [
        StoreAnswer(each.is_new, _matches(each.matches), each.exact, _matches(each.replaces), each.is_update)
        for each in decoded(body, type=list[messages.Answer])
    ]


def document(body: bytes) -> StoredDocument | None:
    """The document, if it is known."""
    found = decoded(body, type=messages.Found).documents
    if not found:
        return None
    values = msgspec.structs.asdict(found[0])
    return StoredDocument(**values | {"fingerprint": bytes.fromhex(found[0].fingerprint)})


def neighbors(body: bytes) -> list[StoreMatch]:
    """Similar documents."""
    return list(_matches(decoded(body, type=messages.Neighbors).neighbors))


def removed(body: bytes) -> int:
    """How many documents were removed."""
    return decoded(body, type=messages.Removed).removed


def expired(body: bytes) -> int:
    """How many old documents were removed."""
    return decoded(body, type=messages.Expired).removed


def compacted(body: bytes) -> bool:
    """Whether there was room to give up."""
    return decoded(body, type=messages.Compacted).compacted


def info(body: bytes) -> StoreInfo:
    """What a store is."""
    return decoded(body, type=StoreInfo)


def duplicates(body: bytes) -> tuple[list[RecentDuplicate], str | None]:
    """Some duplicates, and where the next ones begin; None if these are the last."""
    found = decoded(body, type=review_messages.Duplicates)
    return [RecentDuplicate(**msgspec.structs.asdict(each)) for each in found.duplicates], found.next


def pairs(body: bytes) -> list[ReviewPair]:
    """Pairs to judge."""
    return [ReviewPair(**_with_texts(each)) for each in decoded(body, type=review_messages.Pairs).pairs]


def judged(body: bytes) -> int:
    """How many pairs are judged."""
    return decoded(body, type=review_messages.Judged).judged


def judgements(body: bytes) -> tuple[list[Judgement], int | None]:
    """Some judgements, and where the next ones begin; None if these are the last."""
    found = decoded(body, type=review_messages.JudgedPairs)
    return [Judgement(**_with_texts(each)) for each in found.judgements], found.next


def comparison(body: bytes) -> Comparison:
    """Two texts compared step by step."""
    found = decoded(body, type=messages.Compared)
    return Comparison(
        _steps(found.left),
        _steps(found.right),
        found.distance,
        found.estimated_cosine,
        found.similarity,
        found.common_shingles,
        found.all_shingles,
        found.similarities,
    )


def _matches(found: list[messages.Match]) -> tuple[StoreMatch, ...]:
    return tuple(StoreMatch(each.id, each.similarity, each.distance) for each in found)


def _with_texts(found: review_messages.Pair | review_messages.JudgedPair) -> dict[str, Any]:
    sides = {"left": review_messages.text_from(found.left), "right": review_messages.text_from(found.right)}
    return msgspec.structs.asdict(found) | sides


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
