"""NAMED STORES: the names by which a service has its stores."""

import re
from collections.abc import Sequence

from neardup.errors import OptionError
from neardup.store.back_ends import shown_place

DEFAULT = "default"
"""The name of a store that is given without one."""
_NAMED = re.compile(r"([a-z0-9][a-z0-9._-]{0,63})=(.+)", re.DOTALL)


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
