"""LAZY rows, whose errors come when they are asked for: a class whose methods tell them in our words."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import wraps
from typing import Any

Told = Callable[[], contextlib.AbstractContextManager[None]]


def telling(kind: type[Any], names: tuple[str, ...], translated: Told) -> Any:
    """A class like another one, whose methods tell errors in other words, also while what they return is iterated.

    Args:
        kind: the class.
        names: of those methods, as far as it has them.
        translated: gives what translates errors.
    """
    made = _made.get(kind)
    if made is not None:
        return made
    found = {name: _telling(getattr(kind, name), translated) for name in names if hasattr(kind, name)}
    made = type(kind.__name__, (kind,), found | {"__module__": kind.__module__, "__doc__": kind.__doc__})
    _made.update({kind: made, made: made})
    return made


_made: dict[type, Any] = {}
"""The classes that were made, by those that they are like."""


def _telling(method: Callable[..., Any], translated: Told) -> Callable[..., Any]:
    @wraps(method)
    def told(*given: Any, **how: Any) -> Any:
        with translated():
            found = method(*given, **how)
        return _Rows(found, translated) if _is_read_later(found) else found

    return told


def _is_read_later(found: Any) -> bool:
    return isinstance(found, Iterable) and not isinstance(found, Sized)


class _Rows:
    """Rows that come while they are iterated."""

    def __init__(self, rows: Iterable[Any], translated: Told) -> None:
        self._rows, self._translated = rows, translated
        self._left: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        with self._translated():
            yield from self._rows

    def __next__(self) -> Any:
        if self._left is None:
            self._left = iter(self)
        return next(self._left)
