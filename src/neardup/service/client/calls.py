"""CALLS of a service: requests with what their responses mean, for clients that wait and for those that do not."""

import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import msgspec

from neardup.errors import OptionError, ServiceError
from neardup.judging.comparison import Comparison, Feature, FingerprintSteps
from neardup.service.client.call_parts import Parts, encoded
from neardup.service.messages import messages
from neardup.store.answers import StoreAnswer, StoredDocument, StoreMatch
from neardup.store.arguments import several
from neardup.store.upkeep.info import StoreInfo

T = TypeVar("T")
JSON = {"Content-Type": "application/json"}
AGAIN = (408, 429, 502, 503, 504)
"""Statuses of what may succeed later."""
LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class CallOf(Generic[T]):
    """A request.

    Attributes:
        method, path, body, headers: what is sent. The same is sent again after a failure.
        read: the result that the body of the response means.
    """

    method: Literal["GET", "POST"]
    path: str
    body: bytes | None
    headers: dict[str, str]
    read: Callable[[bytes], T]


class Calls:
    """The calls of one store of a service."""

    def __init__(self, store: str) -> None:
        self._at = f"/v1/stores/{quote(store, safe='')}"

    def check_many(self, texts: Sequence[str]) -> Parts[CallOf[list[StoreAnswer]]]:
        """The requests that ask about texts."""
        given = [messages.Question(_text(each)) for each in several("texts", texts)]
        return Parts(given, lambda array, *_: self._post_body("check", array, read_answers))

    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        metadata: Sequence[Any] | None,
        expires: float | Sequence[float | None] | None,
        key: str | None,
    ) -> Parts[CallOf[list[StoreAnswer]]]:
        """The requests that decide documents, in order. Each has a key of its own: `key`, or one that is drawn, with its places."""
        ids, texts = several("ids", ids), several("texts", texts)
        some = {"ids": ids, "metadata": metadata, "values of `expires`": expires}
        for what, values in some.items():
            if isinstance(values, list | tuple) and len(values) != len(texts):
                raise OptionError(f"{len(values)} {what} for {len(texts)} texts: give one each.")
        given = [
            messages.Document(
                name,
                _text(text),
                None if metadata is None else metadata[place],
                expires[place] if isinstance(expires, list | tuple) else expires,  # type: ignore[arg-type]
            )
            for place, (name, text) in enumerate(zip(ids, texts, strict=True))
        ]
        drawn = uuid.uuid4().hex if key is None else key

        def made(array: bytes, first: int, end: int) -> CallOf[list[StoreAnswer]]:
            headers = {"Idempotency-Key": f'"{drawn}/{first}-{end}"'}
            return self._post_body("check-and-add", array, read_answers, headers)

        return Parts(given, made)

    def get(self, id: int | str) -> CallOf[StoredDocument | None]:  # noqa: A002
        """The request for what is known of a document."""

        def read(body: bytes) -> StoredDocument | None:
            found = msgspec.json.decode(body, type=messages.Found).documents
            return _stored(found[0]) if found else None

        return self.post("get", messages.Ids([id]), read)

    def neighbors(
        self,
        text: str | None,
        id: int | str | None,  # noqa: A002
        min_similarity: float | None,
    ) -> CallOf[list[StoreMatch]]:
        """The request for similar documents."""

        def read(body: bytes) -> list[StoreMatch]:
            return [_match(each) for each in msgspec.json.decode(body, type=messages.Neighbors).neighbors]

        return self.post("neighbors", messages.NeighborsOf(text, id, min_similarity), read)

    def remove(self, ids: Sequence[int | str]) -> Parts[CallOf[int]]:
        """The requests that remove documents."""

        def made(array: bytes, *_: int) -> CallOf[int]:
            body = b'{"ids":' + array + b"}"
            return self._post_body(
                "remove", body, lambda found: msgspec.json.decode(found, type=messages.Removed).removed
            )

        return Parts(several("ids", ids), made)

    def expire(
        self, older_than: float | str | None, newest: int | None, by: Literal["first_seen", "last_seen"]
    ) -> CallOf[int]:
        """The request that removes old documents."""
        given = messages.Expire(older_than, newest, by)
        return self.post("expire", given, lambda body: msgspec.json.decode(body, type=messages.Expired).removed)

    def compact(self) -> CallOf[bool]:
        """The request that gives up room."""
        return self.post(
            "compact", messages.Compact(), lambda body: msgspec.json.decode(body, type=messages.Compacted).compacted
        )

    def compare(self, left: str, right: str) -> CallOf[Comparison]:
        """The request that compares two texts."""
        return self.post("compare", messages.TwoTexts(_text(left), _text(right)), _read_comparison)

    def info(self) -> CallOf[StoreInfo]:
        """The request for what the store is."""
        return CallOf("GET", f"{self._at}/info", None, {}, lambda body: msgspec.json.decode(body, type=StoreInfo))

    def post(self, name: str, value: Any, read: Callable[[bytes], T]) -> CallOf[T]:
        """A request with one value."""
        return self._post_body(name, encoded(value), read)

    def _post_body(
        self, name: str, body: bytes, read: Callable[[bytes], T], headers: dict[str, str] | None = None
    ) -> CallOf[T]:
        return CallOf("POST", f"{self._at}/{name}", body, JSON | (headers or {}), read)


def failure_of(status: int, body: bytes) -> ServiceError | OptionError:
    """The exception for a response that is no answer."""
    try:
        problem = msgspec.json.decode(body, type=messages.Problem)
    except msgspec.DecodeError:
        return ServiceError(status, "none", f"The service answered with status {status}, and without a problem.")
    if problem.code in ("invalid_value", "unknown_document"):  # as a store of this machine does
        return OptionError(problem.detail)
    return ServiceError(status, problem.code, problem.detail)


def pause_before(attempt: int, retry_after: str | None) -> float:
    """Seconds to wait after an attempt, counted from 1: what the service said, or twice as long as before, by chance less."""
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), LONGEST_PAUSE)
    return min(0.1 * 2.0**attempt, LONGEST_PAUSE) * random.uniform(0.5, 1.0)


def checked_url(url: str) -> str:
    """The address of a service.

    Raises:
        OptionError: it is none.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise OptionError(f"`url={url!r}`: give the address of a service, such as http://127.0.0.1:8080.")
    return url.rstrip("/")


def checked_headers(token: str | None) -> dict[str, str]:
    """The headers of every request.

    Raises:
        OptionError: the token is none. The message does not quote it.
    """
    if token is None:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise OptionError("`token`: give the token that the service knows, of ASCII characters.")
    return {"Authorization": f"Bearer {token}"}


def checked_retries(retries: int) -> int:
    """How many times a request is sent again.

    Raises:
        OptionError: it is no number.
    """
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise OptionError(f"`retries={retries!r}`: give a number, 0 or more.")
    return retries


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise OptionError(f"A text is a {type(text).__name__}; give a string.")
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise OptionError(f"A text is not valid Unicode: {problem.reason} (character {problem.start}).") from None
    return text


def _match(found: messages.Match) -> StoreMatch:
    return StoreMatch(found.id, found.similarity, found.distance)


def read_answers(body: bytes) -> list[StoreAnswer]:
    return list(map(_answer, msgspec.json.decode(body, type=list[messages.Answer])))


def _answer(found: messages.Answer) -> StoreAnswer:
    matches, replaces = (tuple(map(_match, some)) for some in (found.matches, found.replaces))
    return StoreAnswer(found.is_new, matches, found.exact, replaces, found.is_update)


def _stored(found: messages.Stored) -> StoredDocument:
    return StoredDocument(
        id=found.id,
        tokens=found.tokens,
        fingerprint=bytes.fromhex(found.fingerprint),
        first_seen=found.first_seen,
        last_seen=found.last_seen,
        expires=found.expires,
        metadata=found.metadata,
        text=found.text,
    )


def _read_comparison(body: bytes) -> Comparison:
    found = msgspec.json.decode(body, type=messages.Compared)
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
