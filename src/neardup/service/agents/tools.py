"""TOOLS: what agents may call, as questions to one store. The answers are those of `neardup.Store`.

Stored texts are what strangers have written, and an agent reads what it gets. So tools return ids and numbers, and texts only if
the server was started with `texts`.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.display import similarity_text
from neardup.service.agents.tool_messages import (
    Checked,
    Explanation,
    Near,
    NearListed,
    ShownText,
    TextGiven,
    ToExplain,
)
from neardup.service.limits import COMPARED_CHARACTERS
from neardup.service.messages import messages
from neardup.service.messages.messages import Answer, Document, GivenDocument, Ids, Question, Removed, TwoTexts, encode
from neardup.service.problems import Problem
from neardup.service.requests.bodies import decode, decoded
from neardup.service.requests.handlers import Service
from neardup.service.stores.worker import Worker
from neardup.service.tokens import Caller, Role
from neardup.store.answers import StoreMatch
from neardup.store.session.prepared import PreparedTexts
from neardup.store.store import Store

LISTED_MATCHES = 20
"""Matches that an answer lists, at most."""
SHOWN_CHARACTERS = 2_000
"""Characters of a stored text that are shown, at most."""


class Tools:
    """The tools of one store."""

    def __init__(self, service: Service, *, write: bool = False, texts: bool = False) -> None:
        """`write`: whether documents can be added and removed; `texts`: whether stored texts are shown."""
        (self._worker,) = service.workers.values()
        self._service, self._texts = service, texts
        self.rows = {row.name: row for row in TOOLS if write or not row.is_change}

    @property
    def worker(self) -> Worker:
        """What asks the store."""
        return self._worker

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Any:
        """The answer of a tool.

        Raises:
            Problem: there is no such tool, the caller may not call it, or the arguments are wrong; and what stores raise.
        """
        row = self.rows.get(name)
        if row is None:
            is_known = any(each.name == name for each in TOOLS)
            raise Problem(
                "forbidden" if is_known else "not_found",
                f"`{name}` changes the store, and this server only reads it. Start it with `neardup mcp --write`."
                if is_known
                else f"There is no tool {name!r}. There are: {', '.join(self.rows)}.",
            )
        admission = self._service.admission
        admission.demand_role(caller, row.role)
        body = _written(arguments)
        if len(body) > self._service.limits.max_body:
            most = self._service.limits.max_body
            raise Problem(
                "too_large", f"The arguments have {len(body):,} bytes; at most {most:,} are taken (--max-body {most})."
            )
        given = await decoded([body], lambda: decode(body, row.decoded_as, f"call of {name}"))
        admission.demand_rate(caller, len(given.ids) if isinstance(given, Ids) else 1)
        return await row.call(self, given)

    async def check(self, given: TextGiven) -> Checked:
        """Ask whether a text is new to the store, or which kept documents it duplicates. Nothing is stored."""
        (answer,) = await self._service.checked(self._worker, [Question(given.text)], 0)
        return await self._shown(answer)

    async def remember(self, given: GivenDocument) -> Checked:
        """Add a document if it is new, or update the one of its id. The answer says what it duplicates or replaces."""
        result = await self._service.added(self._worker, [given], None, "one", encode)
        (answer,) = msgspec.json.decode(result.body, type=list[Answer])
        return await self._shown(answer)

    async def forget(self, given: Ids) -> Removed:
        """Remove documents by their ids, with what the store remembers of their duplicates. This cannot be taken back."""
        return await self._service.removed(self._worker, list(dict.fromkeys(given.ids)))

    async def neighbors(self, given: Near) -> NearListed:
        """List the kept documents that are similar to a text, or to a kept document."""
        asked = messages.NeighborsOf(given.text, given.id, given.min_similarity)
        found = await self._service.near(self._worker, asked)
        listed = [messages.match_of(each) for each in found[: given.limit]]
        return NearListed(listed, len(found) - len(listed), await self._texts_of([each.id for each in listed]))

    async def explain(self, given: ToExplain) -> Explanation:
        """Explain why a text is new or a duplicate: the nearest kept document, their similarity, and the threshold."""

        def found(store: Store, text: str | PreparedTexts) -> tuple[Explanation, str | None]:
            return _explained(store, text, given.id)

        explained: Explanation
        explained, kept = await self._service.call(self._worker, found, given.text)
        if kept is None or max(len(kept), len(given.text)) > COMPARED_CHARACTERS:
            return explained
        both, comparing = TwoTexts(given.text, kept), self._service.comparing
        compared = await comparing.compared(both, self._worker.recipe)
        explained.common_shingles, explained.all_shingles = compared.common_shingles, compared.all_shingles
        if self._texts:
            rows = (await comparing.side_by_side(both, self._worker.recipe)).rows
            explained.only_in_text = [each.text for row in rows for each in row.left if each.kind == "only"]
            explained.only_in_document = [each.text for row in rows for each in row.right if each.kind == "only"]
        return explained

    async def _shown(self, answer: Answer) -> Checked:
        """An answer as an agent gets it."""
        listed = answer.matches[:LISTED_MATCHES]
        texts, more = await self._texts_of([each.id for each in listed]), len(answer.matches) - len(listed)
        told = {name: getattr(answer, name) for name in Answer.__struct_fields__ if name not in ("id", "matches")}
        return Checked(**told, matches=listed, more=more, texts=texts)

    async def _texts_of(self, ids: Sequence[int | str]) -> list[ShownText]:
        """The stored texts of documents, if they are shown at all."""
        if not self._texts or not ids:
            return []

        def stored(store: Store) -> list[ShownText]:
            kept = [each for each in map(store.get, ids) if each is not None]
            return [
                ShownText(each.id, each.text[:SHOWN_CHARACTERS], len(each.text))
                for each in kept
                if each.text is not None
            ]

        texts: list[ShownText] = await self._service.call(self._worker, stored)
        return texts


def _written(arguments: Mapping[str, Any]) -> bytes:
    try:
        return encode(arguments)
    except (ValueError, OverflowError, TypeError, RecursionError) as problem:
        raise Problem("invalid_value", f"The arguments cannot be taken: {problem}.") from None


def _explained(store: Store, text: str | PreparedTexts, wanted: int | str | None) -> tuple[Explanation, str | None]:
    """Why a text is new or a duplicate, and the text of the document that it was held against; of one call of a store."""
    options, name = store.options, json.dumps(wanted, ensure_ascii=False)
    kept = None if wanted is None else store.get(wanted)
    if wanted is not None and kept is None:
        raise Problem("unknown_document", f"There is no document with the id {name}.")
    (answer,) = store.check_many([text] if isinstance(text, str) else text)
    least = options.min_similarity
    near: list[StoreMatch] = list(answer.matches)
    if least > 0:
        least = min(least, store.info().floor or least)
        near += store.neighbors(text, min_similarity=least)
    match = next((each for each in near if wanted in (None, each.id)), None)
    explained = Explanation("new" if answer.is_new else "duplicate", "", options.min_similarity)
    if match is None:
        what = "No kept document is" if wanted is None else f"The document {name} is not"
        by = (
            f"within {options.max_distance} bits"
            if least == 0
            else f"as similar as {least:g}, the lowest that the store can tell"
        )
        explained.because = f"{what} {by}."
    else:
        explained.id, explained.similarity, explained.distance = match.id, match.similarity, match.distance
        explained.because = _because(store, match, is_equal=answer.exact and match.id == answer.duplicate_of)
        kept = store.get(match.id)
    return explained, None if kept is None else kept.text


def _because(store: Store, match: StoreMatch, *, is_equal: bool) -> str:
    options, name = store.options, json.dumps(match.id, ensure_ascii=False)
    if is_equal:
        return f"The text equals that of {name} after normalization."
    if match.similarity is None:
        return f"The fingerprint is {match.distance} bits from that of {name}; up to {options.max_distance} match."
    side = "at or above" if match.similarity >= options.min_similarity else "below"
    return (
        f"The {options.compared_by} similarity to {name} is {similarity_text(match.similarity)}, {side} the threshold of "
        f"{options.min_similarity:g}."
    )


@dataclass(frozen=True, kw_only=True)
class ToolRow:
    """A tool.

    Attributes:
        name, role: of the tool, and that a caller with a token needs.
        call: answers; its docstring is what agents read.
        given, answer: the types of its arguments and of its answer, in the schema.
        decoded_as: the type that arguments are decoded as.
        is_change, is_lasting: whether it changes the store, and whether what it removes is gone.
    """

    name: str
    role: Role
    call: Callable[[Tools, Any], Awaitable[Any]]
    given: Any
    answer: Any
    is_change: bool = False
    is_lasting: bool = False
    as_type: Any = None

    @property
    def decoded_as(self) -> Any:
        return self.as_type or self.given


TOOLS = (
    ToolRow(name="check", role="read", call=Tools.check, given=TextGiven, answer=Checked),
    ToolRow(name="neighbors", role="read", call=Tools.neighbors, given=Near, answer=NearListed),
    ToolRow(name="explain", role="read", call=Tools.explain, given=ToExplain, answer=Explanation),
    ToolRow(
        name="remember", role="write", call=Tools.remember, given=Document, answer=Checked, is_change=True,
        as_type=GivenDocument,
    ),
    ToolRow(
        name="forget", role="admin", call=Tools.forget, given=Ids, answer=Removed, is_change=True, is_lasting=True
    ),
)  # fmt: skip
"""All tools."""
