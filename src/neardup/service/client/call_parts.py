"""PARTS of a call: the requests that its values take, and smaller ones after one that was too large for the service."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from neardup.errors import OptionError, ServiceError
from neardup.service.messages import messages

C = TypeVar("C")
DOCUMENTS_PER_REQUEST, BYTES_PER_REQUEST = 500, 4 << 20
"""Of a request with several values; a call makes several of them if there is more."""


class Parts(Generic[C]):
    """The requests of a call, in order; at least one, which may have no values.

    Where requests are cut follows from the values and from what was refused. So a repeated call makes the same requests, as long as
    the limits of the service are the same.
    """

    def __init__(self, values: Sequence[Any], made: Callable[[bytes, int, int], C]) -> None:
        """Take the values. `made`: the request for an array in JSON, of the values from one place up to another."""
        self._values, self._made = values, made
        self._first = self._end = self._size = 0
        self._most, self._bytes = DOCUMENTS_PER_REQUEST, BYTES_PER_REQUEST

    def __iter__(self) -> Iterator[C]:
        while True:
            array = self._cut()
            yield self._made(array, self._first, self._end)
            self._first = self._end
            if self._end == len(self._values):
                return

    def refused(self, problem: ServiceError) -> None:
        """Go on with the values of the last request, in requests of half as many values or bytes.

        Raises:
            ServiceError: it was not too large, or had one value only.
        """
        count = self._end - self._first
        if problem.status != 413 or count < 2:
            raise problem
        if problem.code == "too_many_documents":
            self._most = count // 2
        else:
            self._bytes = self._size // 2
        self._end = self._first

    def _cut(self) -> bytes:
        """The next values as an array."""
        some: list[bytes] = []
        size = 2
        for place in range(self._first, min(self._first + self._most, len(self._values))):
            one = encoded(self._values[place])
            if some and size + len(one) + 1 > self._bytes:
                break
            some.append(one)
            size += len(one) + 1
        self._end, self._size = self._first + len(some), size
        return b"[" + b",".join(some) + b"]"


def encoded(value: Any) -> bytes:
    """A value as JSON.

    Raises:
        OptionError: it has none.
    """
    try:
        return messages.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as problem:
        raise OptionError(f"What was given is no plain value, as JSON has them: {problem}.") from None
