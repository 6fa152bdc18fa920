"""WHAT WAITS for a store: jobs, each with a future for its result, and answers that were kept of earlier requests."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from neardup.service.messages.messages import Answer, Document, encode
from neardup.service.problems import Problem
from neardup.store.session.prepared import PreparedTexts
from neardup.store.store import Store

T = TypeVar("T", bound="Job")


@dataclass(eq=False, slots=True)
class Job:
    """What a request waits for.

    Attributes:
        future, size: of the result; and how many documents it counts as.
        prepared: its texts with their features, if they are large and these are made.
        begun: the store may have it already, whatever becomes of the request.
        is_withdrawn: nobody waits for it any more.
    """

    future: "asyncio.Future[Any]"
    size: int
    prepared: PreparedTexts | None = field(default=None, init=False)
    begun: bool = field(default=False, init=False)
    is_withdrawn: bool = field(default=False, init=False)

    def given(self) -> list[str]:
        """The texts whose features the store needs."""
        raise NotImplementedError

    def asked(self) -> list[str]:
        """The same, prepared if they are."""
        return self.given() if self.prepared is None else self.prepared


@dataclass(eq=False, slots=True)
class Check(Job):
    """Texts to ask about. The result: one answer each."""

    texts: list[str]

    def given(self) -> list[str]:
        return self.texts


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

    def given(self) -> list[str]:
        return [each.text for each in self.documents]


@dataclass(eq=False, slots=True)
class Call(Job):
    """Any other call of the store, with a text if it has one. The result: what it returns."""

    function: Callable[..., Any]
    text: str | None = None

    def given(self) -> list[str]:
        return [] if self.text is None else [self.text]

    def call(self, store: Store) -> Any:
        """Call it."""
        return self.function(store) if self.text is None else self.function(store, self.prepared or self.text)


def together(jobs: Sequence[T]) -> list[list[T]]:
    """Jobs whose texts a call of the store has together: all that are small, first; and each that was large."""
    small = [job for job in jobs if job.prepared is None]
    return [*([small] if small else []), *([job] for job in jobs if job.prepared is not None)]


def texts_of(jobs: Sequence[Job]) -> list[str]:
    """The texts of jobs that `together` has put together."""
    return jobs[0].asked() if len(jobs) == 1 else [text for job in jobs for text in job.given()]


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
