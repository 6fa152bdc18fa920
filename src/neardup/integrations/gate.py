"""A GATE in front of an index: which documents to index, by the store of those that were indexed before.

    gate = Gate("seen.store", min_similarity=0.8)
    found = gate.decide(ids, texts)           # every run, the same ids
    index.add([documents[place] for place in found.passed])
    index.delete(found.removed)

Each call opens the store, and closes it when its decisions are on disk, so another process may have the next call. Documents that
are kept with an equal text pass again: who indexes what passes, and deletes the rest, changes nothing on the second day.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from neardup.errors import OptionError
from neardup.options import MatchingOptions
from neardup.recipe.presets import RecipeLike
from neardup.store.answers import StoreAnswer
from neardup.store.arguments import id_as_json
from neardup.store.store import Store

WAIT_SECONDS = 60.0
"""Seconds for which a call waits until another process has ended its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A document that does not pass.

    Attributes:
        place: in the call, from 0 on; id: its id.
        duplicate_of: the id of the kept document that it matches; its own, if a later text of the same id took its place.
        similarity, distance: to that one; None for its own.
        exact: whether the texts are equal after normalization.
    """

    place: int
    id: Any
    duplicate_of: Any
    similarity: float | None
    distance: int | None
    exact: bool

    @property
    def reason(self) -> str:
        """Why it does not pass, in words."""
        if self.duplicate_of == self.id:
            return f"a later text of {self.id!r} took its place"
        if self.exact:
            return f"the same text as {self.duplicate_of!r}"
        far = f"{self.distance} bits" if self.similarity is None else f"similarity {self.similarity:.4f}"
        return f"a near-duplicate of {self.duplicate_of!r} ({far})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a gate has decided.

    Attributes:
        passed: the places of the documents to index, new and unchanged ones, in their order.
        dropped: the others, each with the reason.
        removed: ids that were kept before the call, and are no more: delete them from the index.
        orphans: ids of documents that were dropped in an earlier call, and that no kept document matches any more: load them, and
            give them to the gate again.
    """

    passed: tuple[int, ...]
    dropped: tuple[Dropped, ...]
    removed: tuple[Any, ...]
    orphans: tuple[Any, ...]


class Gate:
    """Decides documents by a store, which is made if it does not exist."""

    def __init__(
        self,
        store: str,
        *,
        wait: float = WAIT_SECONDS,
        recipe: RecipeLike | None = None,
        keep: str | None = None,
        texts: bool | None = None,
        **options: Unpack[MatchingOptions],
    ) -> None:
        """See `Store`.

        Args:
            store: its place.
            wait: seconds to wait until another process has ended its call.
            recipe, keep, texts, **options: of a new store. With texts, orphans are compared with all that is kept.
        """
        if keep == "always":
            raise OptionError("`keep='always'`: such a store drops nothing. Give another `keep`, or leave it out.")
        self.place = store
        self._how: dict[str, Any] = {"wait": wait, "recipe": recipe, "keep": keep, "texts": texts, **options}

    def decide(self, ids: Sequence[Any], texts: Sequence[str], *, gone: bool | Collection[Any] = False) -> Passage:
        """Decide documents in order, and remember them.

        Args:
            ids: strings or integers that name the same documents in every run.
            texts: their texts.
            gone: ids of documents that the source has no more; or True if these are all that it has. They are removed first, so
                duplicates of them pass.

        Raises:
            OptionError: an id or a text is none, or there are not as many. Nothing is decided.
            InputError: another process had the store for too long.
        """
        with self._opened() as store:
            given = store.prepare(list(texts))  # refuses what is no text, before anything is changed
            if len(ids) != len(given):
                raise OptionError(f"{len(ids)} ids, {len(given)} texts. Give a text for each id.")
            for each in ids:
                id_as_json(each)
            last = {each: place for place, each in enumerate(ids)}
            replaced: list[Any] = []
            lost = [each for each in store.ids() if each not in last] if gone is True else list(gone or ())
            if lost:
                store.remove(lost, report_ids=replaced.extend)
            found = store.check_and_add_many(list(ids), given)
            answers, every = dict(enumerate(found)), list(found)
            while again := [
                last[each.id] for each in store.orphans() if each.id in last
            ]:  # they were dropped too early
                found = store.check_and_add_many([ids[at] for at in again], [texts[at] for at in again])
                answers.update(zip(again, found, strict=True))
                every += found
            replaced += [match.id for answer in every for match in answer.replaces]
            absent = {each for each in replaced if store.get(each) is None}
            orphans = tuple(each.id for each in store.orphans())
            passed, dropped = list[int](), list[Dropped]()
            for place, answer in answers.items():
                is_last = last[ids[place]] == place
                if is_last and answer.status != "duplicate" and ids[place] not in absent:
                    passed.append(place)
                else:
                    dropped.append(_dropped(store, place, ids[place], texts[place], answer, is_last=is_last))
        first = dict(reversed([(each, answer) for each, answer in zip(ids, every, strict=False)]))
        removed = tuple(each for each in sorted(absent, key=str) if each not in first or not _is_first(first[each]))
        return Passage(passed=tuple(passed), dropped=tuple(dropped), removed=removed, orphans=orphans)

    def forget(self, ids: Collection[Any]) -> Passage:
        """Forget documents that the source has no more. `orphans` names those to index in their place."""
        return self.decide([], [], gone=ids)

    def kept(self) -> list[Any]:
        """The ids of all documents that passed, and were not removed since."""
        with self._opened() as store:
            return store.ids()

    def _opened(self) -> Store:
        store = Store(self.place, create=True, **self._how)
        if store.keep == "always":
            store.close()
            raise OptionError(f"{self.place}: a store with `keep='always'` drops nothing. Give another store.")
        return store


def _dropped(store: Store, place: int, name: Any, text: str, answer: StoreAnswer, *, is_last: bool) -> Dropped:
    """Why a document does not pass. One that a better or a later one has replaced since is asked for again."""
    if not is_last:
        return Dropped(place=place, id=name, duplicate_of=name, similarity=None, distance=None, exact=False)
    if answer.status != "duplicate":
        answer = store.check(text)
    match = answer.matches[0]
    given = {"duplicate_of": match.id, "similarity": match.similarity, "distance": match.distance}
    return Dropped(place=place, id=name, exact=answer.exact, **given)


def _is_first(answer: StoreAnswer) -> bool:
    """Whether no document of its id was kept."""
    return answer.status == "new" or (answer.status == "duplicate" and not answer.is_update)
