"""WHAT WAITS for a store: jobs, each with a future for its result, and answers that were kept of earlier requests."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from neardup.service.messages.messages import Answer, Document, encode
from neardup.service.problems import Problem
from neardup.store.store import Store


@dataclass(eq=False, slots=True)
class Job:
    """What a request waits for. `begun`: the store may have it already, whatever becomes of the request."""

    future: "asyncio.Future[Any]"
    size: int
    begun: bool = field(default=False, init=False)


@dataclass(eq=False, slots=True)
class Check(Job):
    """Texts to ask about. The result: one answer each."""

    texts: list[str]


@dataclass(eq=False, slots=True)
class Addition(Job):
    """Documents to decide. The result: the answers, encoded by `encoded`, and the number of new documents; see `Result`.

    Attributes:
        key: of the request, by which its answer is kept; None if it has none.
        digest: what the key stands for: the same key with another digest is refused.
        encoded: makes the body of the response.
    """

    documents: list[Document]
    key: str | None
    digest: str
    encoded: Callable[[list[Answer]], bytes]


@dataclass(eq=False, slots=True)
class Call(Job):
    """Any other call of the store. The result: what it returns."""

    function: Callable[[Store], Any]


@dataclass(frozen=True, slots=True)
class Result:
    """The body of the response to an addition, and whether it is the one that was kept of an earlier request."""

    body: bytes
    is_repeated: bool = False


def kept_result(job: Addition, kept: Any) -> Result | Problem:
    """The answer that was kept, if it is one to the same request."""
    if kept["request"] != job.digest:
        return Problem(
            "key_reused",
            f"The Idempotency-Key {_key_shown(job.key)} was given before with other documents. Give each request a key of its own.",
        )
    return Result(kept["answer"].encode(), is_repeated=True)


def _key_shown(key: str | None) -> str:
    """The key as the caller gave it: what stands before the first line end is whose it is, and where."""
    return repr((key or "").rpartition("\n")[2])


def digest_of(documents: list[Document], form: str) -> str:
    """What is equal for equal documents in bodies of the same form."""
    return hashlib.sha256(form.encode() + b"\0" + encode(documents)).hexdigest()
