"""OPEN STORES: the one place that knows which kinds of stores there are; and the names by which a service has them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, cast

from neardup.errors import OptionError
from neardup.jobs.store_places import opened_store
from neardup.recipe.recipe import Recipe
from neardup.store.answers import Judgement, RecentDuplicate, ReviewPair, StoreAnswer, StoredDocument, StoreMatch
from neardup.store.back_ends import back_end_of, shown_place
from neardup.store.upkeep.info import StoreInfo

DEFAULT = "default"
"""The name of a store that is given without one."""
LOOKS_EVERY = 2.0
_NAMED = re.compile(r"([a-z0-9][a-z0-9._-]{0,63})=(.+)", re.DOTALL)
Notes = Callable[[list[StoreAnswer]], Mapping[str, tuple[Any, float]]]


class ServedStore(Protocol):
    """What a service needs of a store: methods of `neardup.Store`, which one thread calls.

    What `check_and_add_many` has answered is durable, with the notes that it was given; `notes` reads these. `unless` there is one
    of some notes already: then nothing is added, whichever service wrote it.
    """

    @property
    def recipe(self) -> Recipe:
        """How fingerprints are made."""

    def __len__(self) -> int: ...

    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """See `neardup.Store`, as for all others."""

    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        *,
        metadata: Sequence[Any] | None = None,
        expires: Sequence[float | None] | None = None,
        notes: Notes | None = None,
        unless: Sequence[str] = (),
    ) -> list[StoreAnswer]: ...

    def notes(self, keys: Sequence[str]) -> dict[str, Any]: ...

    def get(self, id: int | str) -> StoredDocument | None: ...  # noqa: A002

    def neighbors(
        self,
        text: str | None = None,
        *,
        id: int | str | None = None,  # noqa: A002
        min_similarity: float | None = None,
    ) -> list[StoreMatch]: ...

    def recent(
        self, *, limit: int = 50, before: str | None = None, max_bytes: int | None = None
    ) -> list[RecentDuplicate]: ...

    def review(self, *, limit: int = 20, max_bytes: int | None = None) -> list[ReviewPair]: ...

    def judge(self, pair: ReviewPair, *, same: bool) -> int: ...

    def judgements(
        self, *, limit: int | None = None, after: int = 0, max_bytes: int | None = None
    ) -> list[Judgement]: ...

    def remove(self, ids: Sequence[int | str]) -> int: ...

    def expire(
        self,
        *,
        older_than: float | str | None = None,
        newest: int | None = None,
        by: Literal["first_seen", "last_seen"] = "last_seen",
    ) -> int: ...

    def compact(self) -> bool: ...

    def info(self) -> StoreInfo: ...

    def ping(self) -> None: ...

    def close(self) -> None: ...


def open_store(place: str, *, wait: float = 0.0) -> ServedStore:
    """Open a store that is there, to write.

    Args:
        place: the folder of a store; or `postgresql://HOST/DATABASE`, to which other services may write, too.
        wait: seconds to wait until another process that writes has ended, or for which a database is tried again.

    Raises:
        InputError: there is no store, or another process writes to it.
        DataError: the store is damaged.
        TransferError: the database cannot be reached.
    """
    return cast(ServedStore, opened_store(place, wait=wait))


def looks_every(place: str) -> float | None:
    """Seconds after which a service that nobody asks looks what others have written; None if nobody else may write."""
    return LOOKS_EVERY if back_end_of(place).is_shared else None


def named_stores(given: Sequence[str]) -> dict[str, str]:
    """The places of stores by their names, of `STORE` and `NAME=STORE`.

    Raises:
        OptionError: there is none, or a name stands there twice.

    >>> named_stores(["pages.store", "news=news.store"])
    {'default': 'pages.store', 'news': 'news.store'}
    """
    if not given:
        raise OptionError("Give a store: `store='seen.store'`.")
    found: dict[str, str] = {}
    for each in given:
        named = _NAMED.fullmatch(each)
        name, place = (named[1], named[2]) if named else (DEFAULT, each)
        if name in found:
            raise OptionError(
                f"`store={_shown(each, place)!r}`: there is another store with the name {name!r}. Give each a name of its own: "
                "`store='news=news.store'`."
            )
        if place in found.values():
            raise OptionError(f"`store={_shown(each, place)!r}`: this store has another name already. Give it once.")
        found[name] = place
    return found


def _shown(given: str, place: str) -> str:
    """What was given, without a password."""
    return given.removesuffix(place) + shown_place(place)
