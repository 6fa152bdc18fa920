"""HANDLERS: what each route does with a request, from its body to the body of its response."""

import asyncio
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

from starlette.responses import Response

from neardup.service.admission import Admission, Asked
from neardup.service.limits import COMPARED_CHARACTERS, SIDE_BY_SIDE_CHARACTERS, Limits
from neardup.service.messages import messages
from neardup.service.messages.messages import Answer, GivenDocument, Question, answer_of, encode
from neardup.service.metrics import CONTENT_TYPE, Metrics
from neardup.service.problems import Problem, later
from neardup.service.requests.bodies import JSON, LINES, decode, decoded, documents_of, media_type, read_whole
from neardup.service.requests.comparing import Comparing
from neardup.service.requests.request_keys import RequestKey, key_of
from neardup.service.requests.streams import LineStream, parts
from neardup.service.stores.waiting import Addition, Call, Check, Job, Result, digest_of
from neardup.service.stores.worker import Worker
from neardup.store.answers import StoreAnswer, StoreMatch
from neardup.store.session.prepared import PreparedTexts
from neardup.store.store import Store

REPEATED = "Idempotency-Replayed"
"""The header of an answer that was kept of an earlier request."""


class Service:
    """Named stores, and what all requests share."""

    def __init__(self, workers: dict[str, Worker], admission: Admission, metrics: Metrics) -> None:
        self.workers, self.admission, self.metrics = workers, admission, metrics
        self.comparing = Comparing(admission.limits)

    @property
    def limits(self) -> Limits:
        """What the service bears."""
        return self.admission.limits

    def worker(self, asked: Asked) -> Worker:
        """The worker of the store that the path names.

        Raises:
            Problem: there is none.
        """
        name = asked.request.path_params["store"]
        if name not in self.workers:
            raise Problem("unknown_store", f"There is no store {name!r}. There are: {', '.join(self.workers)}.")
        return self.workers[name]

    async def result(self, worker: Worker, job: Job) -> Any:
        """What becomes of a job.

        Raises:
            Problem: it cannot wait, or takes too long.
        """
        worker.put(job)
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await job.future
        except TimeoutError:
            if worker.withdraw(job):
                raise later(
                    "busy", f"The store {worker.name!r} did not get to it for {self.limits.timeout:g} s."
                ) from None
            raise Problem(
                "answer_timeout",
                f"The store {worker.name!r} has begun with it, but not answered for {self.limits.timeout:g} s. Documents may be "
                "added. Repeat the request: the same Idempotency-Key gets the answer of the first.",
            ) from None

    async def call(self, worker: Worker, function: Callable[..., Any], text: str | None = None) -> Any:
        """What a call of a store returns, with a text if one is given, which is prepared first if it is large."""
        return await self.result(worker, Call(asyncio.get_running_loop().create_future(), 1, function, text))

    # ------------------------------------------------------------------------------------------------------ documents

    async def check(self, asked: Asked) -> Response:
        """Ask about a text, an array of texts, or lines of texts."""
        worker = self.worker(asked)
        if media_type(asked.request) == LINES:
            return LineStream(parts(asked, self.admission, Question, functools.partial(self._checked_lines, worker)))
        body = await read_whole(asked.request, self.limits, asked.held)
        given: Question | list[Question] = await _decoded(body, Question | list[Question])
        is_one = isinstance(given, Question)
        questions = [given] if isinstance(given, Question) else given
        self._demand_few(asked, len(questions))
        answers = await self.checked(worker, questions, 0)
        return json_response(encode(answers[0] if is_one else answers))

    async def checked(self, worker: Worker, questions: list[Question], first: int) -> list[Answer]:
        """The answers to questions; `first`: the place of the first one in its request."""
        job = Check(asyncio.get_running_loop().create_future(), len(questions), [each.text for each in questions])
        found: list[StoreAnswer] = await self.result(worker, job)
        return [
            answer_of(first + place if each.id is None else each.id, answer)
            for place, (each, answer) in enumerate(zip(questions, found, strict=True))
        ]

    async def _checked_lines(self, worker: Worker, questions: list[Question], first: int, _: int) -> bytes:
        return encoded_lines(await self.checked(worker, questions, first))

    async def check_and_add(self, asked: Asked) -> Response:
        """Decide a document, an array of documents, or lines of documents; keep those that are new."""
        worker, key = self.worker(asked), key_of(asked.request.headers, asked.caller)
        if media_type(asked.request) == LINES:
            added = functools.partial(self._added_lines, worker, key)
            return LineStream(parts(asked, self.admission, GivenDocument, added, is_cut_by_number=key is not None))
        body = await read_whole(asked.request, self.limits, asked.held)
        given: GivenDocument | list[GivenDocument] = await _decoded(body, GivenDocument | list[GivenDocument])
        is_one = isinstance(given, GivenDocument)
        documents = [given] if isinstance(given, GivenDocument) else given
        self._demand_few(asked, len(documents))
        form = "one" if is_one else "array"
        of_all = None if key is None else key.whole
        found = await self.added(worker, documents, of_all, form, _encode_one if is_one else encode)
        return json_response(found.body, {REPEATED: "true"} if found.is_repeated else None)

    async def added(
        self,
        worker: Worker,
        given: list[GivenDocument],
        key: str | None,
        form: str,
        encoded: Callable[[list[Answer]], bytes],
        first: int = 0,
    ) -> Result:
        """The answers to documents that are decided, and added if they are new; see `Addition`."""
        documents = documents_of(given, first)
        digest = "" if key is None else digest_of(documents, form)
        future = asyncio.get_running_loop().create_future()
        job = Addition(future, len(documents), documents, key, digest, encoded)
        found: Result = await self.result(worker, job)
        return found

    async def _added_lines(
        self, worker: Worker, key: RequestKey | None, documents: list[GivenDocument], first: int, number: int
    ) -> bytes:
        of_part = None if key is None else key.part(number)
        return (await self.added(worker, documents, of_part, "lines", encoded_lines, first)).body

    def _demand_few(self, asked: Asked, documents: int) -> None:
        """Count the documents of a body.

        Raises:
            Problem: there are too many, or they come too fast.
        """
        most = self.limits.max_batch
        if documents > most:
            raise Problem(
                "too_many_documents",
                f"The body has {documents:,} values; at most {most:,} are taken (--max-batch {most}). Send several bodies, or "
                "lines.",
            )
        self.admission.demand_rate(asked.caller, max(1, documents))
        asked.documents = documents

    # ---------------------------------------------------------------------------------------------------- other calls

    async def neighbors(self, asked: Asked) -> Response:
        """List the kept documents that are similar to a text, or to a kept document."""
        found = await self.near(self.worker(asked), await self.given(asked, messages.NeighborsOf))
        return json_response(encode(messages.Neighbors([messages.match_of(each) for each in found])))

    async def near(self, worker: Worker, given: messages.NeighborsOf) -> list[StoreMatch]:
        """The similar documents of a question.

        Raises:
            Problem: there is no document of its id.
        """

        def neighbors(store: Store, text: str | PreparedTexts | None = None) -> list[StoreMatch]:
            if text is None and given.id is not None and store.get(given.id) is None:
                raise Problem("unknown_document", f"There is no document with the id {json.dumps(given.id)}.")
            return store.neighbors(text, id=given.id, min_similarity=given.min_similarity)

        found: list[StoreMatch] = await self.call(worker, neighbors, given.text)
        return found

    async def get(self, asked: Asked) -> Response:
        """Show what is known of kept documents."""
        given = await self._ids(asked)

        def stored(store: Store) -> list[messages.Stored | None]:
            documents, size, most = list[messages.Stored | None](), 0, self.limits.max_listed_bytes
            for each in given:
                kept = store.get(each)
                size += 0 if kept is None or kept.text is None else len(kept.text.encode())
                if size > most and len(given) > 1:
                    raise Problem("too_large", f"The texts have more than {most:,} bytes. Ask for fewer documents.")
                documents.append(None if kept is None else messages.stored_of(kept))
            return documents

        found = await self.call(self.worker(asked), stored)
        unknown = [each for each, document in zip(given, found, strict=True) if document is None]
        return json_response(encode(messages.Found([each for each in found if each is not None], unknown)))

    async def remove(self, asked: Asked) -> Response:
        """Forget documents, and their duplicates."""
        return json_response(encode(await self.removed(self.worker(asked), await self._ids(asked))))

    async def removed(self, worker: Worker, ids: Sequence[int | str]) -> messages.Removed:
        """What becomes of documents that are to be removed, each id given once."""

        def removed(store: Store) -> messages.Removed:
            unknown = [each for each in ids if store.get(each) is None]
            gone: list[int | str] = []
            found = store.remove(ids, report_ids=gone.extend)
            return messages.Removed(int(found), unknown, gone, messages.orphans_of(found.orphans))

        found: messages.Removed = await self.call(worker, removed)
        return found

    async def expire(self, asked: Asked) -> Response:
        """Remove documents that have expired, and others that are old."""
        given: messages.Expire = await self.given(asked, messages.Expire)
        most = None if given.limit is None else min(given.limit, self.limits.max_expired)

        def expired(store: Store) -> messages.Expired:
            ids: list[int | str] = []
            how: dict[str, Any] = {"limit": most, "report_ids": None if most is None else ids.extend}
            found = store.expire(older_than=given.older_than, newest=given.newest, by=given.by, **how)
            return messages.Expired(int(found), ids, found == most, messages.orphans_of(found.orphans))

        return json_response(encode(await self.call(self.worker(asked), expired)))

    async def compact(self, asked: Asked) -> Response:
        """Give up the room of removed documents. Other requests wait until that is done."""
        await self.given(asked, messages.Compact)
        done = await self.call(self.worker(asked), lambda store: store.compact())
        return json_response(encode(messages.Compacted(done)))

    async def compare(self, asked: Asked) -> Response:
        """Compare two texts step by step, with the recipe of the store."""
        given = await self._two_texts(asked, COMPARED_CHARACTERS, "step by step")
        return json_response(encode(await self.comparing.compared(given, self.worker(asked).recipe)))

    async def side_by_side(self, asked: Asked) -> Response:
        """Show two texts side by side: what they have in common, and what only one of them has."""
        given = await self._two_texts(asked, SIDE_BY_SIDE_CHARACTERS, "side by side")
        return json_response(encode(await self.comparing.side_by_side(given, self.worker(asked).recipe)))

    async def info(self, asked: Asked) -> Response:
        """Show what a store is, and what it takes."""
        found = await self.call(self.worker(asked), lambda store: store.info())
        return json_response(encode(found))

    async def stores(self, _: Asked) -> Response:
        """List the names of the stores."""
        return json_response(encode(messages.Stores(list(self.workers))))

    async def health(self, _: Asked) -> Response:
        """Answer, which says that the process is alive."""
        return json_response(encode(self._status()))

    async def ready(self, _: Asked) -> Response:
        """Say whether all stores can be used; 503 if not."""
        status = self._status()
        return json_response(encode(status), status=200 if status.ready else 503)

    def _status(self) -> messages.Status:
        found = {}
        for name, worker in self.workers.items():
            has_failed = worker.held.has_failed
            found[name] = "the service is ending" if worker.is_ending else "unavailable" if has_failed else None
        return messages.Status(not any(found.values()), found)

    async def metrics_text(self, _: Asked) -> Response:
        """Show the metrics in the text format of Prometheus."""
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    # ------------------------------------------------------------------------------------------------------ the bodies

    async def given(self, asked: Asked, kind: type) -> Any:
        """The body of a request, which is one value of a type.

        Raises:
            Problem: it is not.
        """
        if media_type(asked.request) != JSON:
            raise Problem("unsupported_media_type", f"This takes one value. Give it as {JSON}.")
        body = await read_whole(asked.request, self.limits, asked.held)
        found = await _decoded(body, kind)
        self._demand_few(asked, len(found.ids) if isinstance(found, messages.Ids) else 1)
        return found

    async def _two_texts(self, asked: Asked, most: int, way: str) -> messages.TwoTexts:
        given: messages.TwoTexts = await self.given(asked, messages.TwoTexts)
        for name, text in (("left", given.left), ("right", given.right)):
            if len(text) > most:
                raise Problem(
                    "too_large", f"`{name}` has {len(text):,} characters; texts of at most {most:,} are shown {way}."
                )
        return given

    async def _ids(self, asked: Asked) -> Sequence[int | str]:
        """The ids of a body, each once."""
        given: messages.Ids = await self.given(asked, messages.Ids)
        return list(dict.fromkeys(given.ids))


async def _decoded(body: bytes, kind: Any) -> Any:
    """The value of a body; see `decode`."""
    return await decoded([body], functools.partial(decode, body, kind))


def encoded_lines(answers: list[Answer]) -> bytes:
    return b"".join(encode(each) + b"\n" for each in answers)


def _encode_one(answers: list[Answer]) -> bytes:
    return encode(answers[0])


def json_response(body: bytes, headers: dict[str, str] | None = None, *, status: int = 200) -> Response:
    return Response(body, status, headers, media_type=JSON)
